import type { IDataObject } from 'n8n-workflow';

import { roundsOf } from '../../../growth';
import { testItem } from '../../client';
import type { SheetCalls } from './sheetCalls';

/** A small generator of random numbers (mulberry32): the same tables in every run. */
export function randomOf(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
	};
}

/** Where rows come from that go back: the items that Read gave, or Columns, filled from Read while another node replaced the items. */
const sources = ['items', 'columns'] as const;

export type Giving = (
	name: 'append' | 'write',
	given: object,
	rows: readonly IDataObject[],
) => Promise<IDataObject[]>;

/** Gives rows that were read to Append or Write. */
export function giveFrom(calls: SheetCalls, source: (typeof sources)[number] = 'items'): Giving {
	return async (name, given, rows) => {
		const params = { valuesSource: 'columns', valueInputOption: 'AUTO', ...given };
		const members = rows.map((row, index) => {
			if (source === 'items') return { params, item: testItem({ json: row, index }) };
			const item = testItem({ json: { id: `sent ${index}` }, index });
			return { params: { ...params, columns: row }, item };
		});
		return (await calls.together(name, members)) as IDataObject[];
	};
}

/** How many random tables a test has. */
export const rounds = roundsOf(1000);

/** Sends random tables through several ways back by turns, and from each source. */
export async function sendRound<T>(
	calls: SheetCalls,
	buildTable: () => T,
	ways: ReadonlyArray<(table: T, give: Giving) => Promise<void>>,
): Promise<void> {
	for (let at = 0; at < rounds; at++) {
		const table = buildTable();
		const [way, source] = [at % ways.length, sources[Math.floor(at / ways.length) % 2]];
		await ways[way]?.(table, giveFrom(calls, source)).catch((error: unknown) => {
			throw new Error(`way ${way} from ${source} of ${JSON.stringify(table)}`, {
				cause: error,
			});
		});
	}
}
