import type { IDataObject } from 'n8n-workflow';

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
export const sources = ['items', 'columns'] as const;

export type Giving = (
	name: 'append' | 'write',
	given: object,
	rows: readonly IDataObject[],
) => Promise<IDataObject[]>;

/** Gives rows that were read to Append or Write. */
export function giveFrom(calls: SheetCalls, source: (typeof sources)[number] = 'items'): Giving {
	return async (name, given, rows) => {
		const members = rows.map((row, index) => {
			const params = {
				tab: 'Sheet1',
				valuesSource: 'columns',
				valueInputOption: 'AUTO',
				...given,
			};
			return source === 'items'
				? { params, item: testItem({ json: row, index }) }
				: {
						params: { ...params, columns: row },
						item: testItem({ json: { id: `sent ${index}` }, index }),
					};
		});
		return (await calls.together(name, members)) as IDataObject[];
	};
}
