// What Read gives, Write and Append take back: properties over random tables.
import type { IDataObject } from 'n8n-workflow';

import { roundsOf } from '../../../growth';
import { testItem } from '../../client';
import { isoForm, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const rounds = roundsOf(1000);

type Below = (limit: number) => number;

/** A small generator of random numbers (mulberry32): the same tables in every run. */
function randomOf(seed: number): Below {
	let state = seed;
	return (below) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
	};
}

const pickFrom = <T>(from: readonly T[], below: Below): T => from[below(from.length)] as T;

/** Where rows come from that go back: the items that Read gave, or Columns, filled from Read while another node replaced the items. */
const sources = ['items', 'columns'] as const;
type Source = (typeof sources)[number];

/** Gives rows that were read to Append or Write. */
async function give(
	name: 'append' | 'write',
	given: object,
	rows: readonly IDataObject[],
	source: Source = 'items',
): Promise<IDataObject[]> {
	const params = { valuesSource: 'columns', valueInputOption: 'AUTO', ...given };
	const members = rows.map((row, index) => {
		if (source === 'items') return { params, item: testItem({ json: row, index }) };
		const item = testItem({ json: { id: `sent ${index}` }, index });
		return { params: { ...params, columns: row }, item };
	});
	return (await calls.together(name, members)) as IDataObject[];
}

const read = async (spreadsheetId: string, rendering = {}): Promise<IDataObject[]> =>
	await calls.rows({ spreadsheetId, ...isoForm, ...rendering });
const formatted = { valueRenderOption: 'FORMATTED_VALUE' };

/** All that cells are: values, formulas and formats. */
const cellsOf = (spreadsheetId: string) => calls.cells(spreadsheetId, 'A:J');

/** A random table. */
interface Table {
	/** Makes a sheet with all of it, without its formulas, or with its header alone. */
	seed(part?: 'values' | 'header'): string;
}

/** A way back into a sheet. */
type Way = (table: Table, source?: Source) => Promise<void>;

const changesNothing =
	(matchColumns: string, rendering = {}): Way =>
	async (table, source) => {
		const spreadsheetId = table.seed();
		const before = cellsOf(spreadsheetId);
		const rows = await read(spreadsheetId, rendering);
		const told = await give('write', { spreadsheetId, matchColumns }, rows, source);
		expect(told.map(({ action }) => action)).toEqual(before.slice(1).map(() => 'unchanged'));
		expect(cellsOf(spreadsheetId)).toEqual(before);
	};

const changesOneCell: Way = async (table, source) => {
	const spreadsheetId = table.seed();
	const before = cellsOf(spreadsheetId);
	const rows = await read(spreadsheetId);
	const changed = rows.map((row, at) => (at === 0 ? { ...row, Key: 'changed' } : row));
	await give('write', { spreadsheetId, matchColumns: 'rowNumber' }, changed, source);
	const [header, [key, ...first] = [], ...others] = cellsOf(spreadsheetId);
	expect(key).toEqual({ value: 'changed' });
	expect([header, [before[1]?.[0], ...first], ...others]).toEqual(before);
};

const addsOneRow =
	(rendering = {}): Way =>
	async (table, source) => {
		const spreadsheetId = table.seed();
		const before = cellsOf(spreadsheetId);
		const rows = [...(await read(spreadsheetId, rendering)), { Key: '2024-01-05' }];
		const sent = calls.methods.length;
		await give('write', { spreadsheetId, matchColumns: 'Key' }, rows, source);
		expect(calls.methods.slice(sent).length).toBeLessThanOrEqual(5);
		const [key, ...others] = cellsOf(spreadsheetId).pop() ?? [];
		expect([key, ...others.filter(Boolean)]).toEqual([{ value: 45296, format: 'DATE' }]);
		expect(cellsOf(spreadsheetId).slice(0, -1)).toEqual(before);
	};

const isCopied: Way = async (table, source) => {
	const rows = await read(table.seed('values'));
	const copy = table.seed('header');
	await give('append', { spreadsheetId: copy }, rows, source);
	expect(await read(copy)).toEqual(rows);
};

const isReplaced =
	(writeMode: string): Way =>
	async (table, source) => {
		const spreadsheetId = table.seed('values');
		const rows = await read(spreadsheetId);
		await give('write', { spreadsheetId, writeMode }, rows, source);
		expect(await read(spreadsheetId)).toEqual(rows);
	};

/** The same by the cells themselves: a date that became text reads like the date that it was. */
const keepsValues =
	(writeMode: string): Way =>
	async (table, source) => {
		const valuesIn = (spreadsheetId: string) =>
			calls
				.cells(spreadsheetId, 'A:E')
				.map((row) => row.map((cell) => (cell as { value?: unknown } | null)?.value));
		const spreadsheetId = table.seed('values');
		const before = valuesIn(spreadsheetId);
		await give('write', { spreadsheetId, writeMode }, await read(spreadsheetId), source);
		// A date in a column whose first value is none gets the format of the locale.
		expect(valuesIn(spreadsheetId)).toEqual(before);
	};

/** Sends random tables through the ways back by turns, and from each source. */
async function sendRound(buildTable: () => Table, ways: readonly Way[]): Promise<void> {
	for (let at = 0; at < rounds; at++) {
		const table = buildTable();
		const [way, source] = [at % ways.length, sources[Math.floor(at / ways.length) % 2]];
		await ways[way]?.(table, source).catch((cause: unknown) => {
			throw new Error(`way ${way} from ${source} of ${JSON.stringify(table)}`, { cause });
		});
	}
}

describe('texts and values', () => {
	const headers = [
		'Name', 'Name', 'name', 'Name_2', '', '', 'error', 'error_2', 'rowNumber', 'rowNumber_2', '2024', '2023', 'A', 'C', 'Ä ö', "it's", '=x', '1/2', ' a ', '__proto__', 'constructor', 'Total %',
	]; // prettier-ignore

	/** Texts go in as text; what begins with `type:` is typed, as a person would. */
	const contents = [
		1, 0, -3.25, 1e21, 0.1, 2024, true, false, 'text', '00123', '+49 30 1', '1/2', '=1+1', "'s-Hertogenbosch", '12,5', '1e5', 'TRUE', '5%', '$5', '2024-13-01', '  padded ', 'Ünï 😀', 'a\nb', '',
		'type:=1+2', 'type:=2*3', 'type:1/5/2024', 'type:2024-01-05', 'type:2024-01-05 10:30', 'type:10:30', 'type:12%', 'type:$1,234.50', 'type:1,234',
	]; // prettier-ignore

	function toTyped(cell: unknown, part?: string): unknown {
		if (typeof cell !== 'string' || cell === '') return cell;
		if (part === 'values' && cell.startsWith('type:=')) return 3;
		return cell.startsWith('type:') ? cell.slice(5) : `'${cell}`;
	}

	function buildTable(below: Below) {
		const width = 1 + below(6);
		const header = Array.from({ length: width }, () => pickFrom(headers, below));
		if (header.join('') === '') header[0] = 'Only';
		const rows = Array.from({ length: 1 + below(5) }, (_, at) => [
			`key ${at}`,
			...Array.from({ length: width }, () => pickFrom<unknown>(contents, below)),
		]);
		const seed: Table['seed'] = (part) => {
			const spreadsheetId = calls.sheet([['Key', ...header]]);
			const typed = rows.map((row) => row.map((cell) => toTyped(cell, part)));
			if (part !== 'header') calls.google.sheets.enter(spreadsheetId, 'Sheet1!A2', typed);
			return spreadsheetId;
		};
		return { header, rows, seed };
	}

	test(`of ${rounds} tables come back as they were, by every way`, async () => {
		const below = randomOf(20_260);
		await sendRound(
			() => buildTable(below),
			[
				...['rowNumber', 'Key'].flatMap((matchColumns) => [
					changesNothing(matchColumns),
					changesNothing(matchColumns, formatted),
				]),
				...[changesOneCell, addsOneRow(), addsOneRow(formatted)],
				...[isCopied, isReplaced('replace'), isReplaced('overwrite')],
			],
		);
	});
});

describe('dates, date-times, times and durations', () => {
	const locales = ['en_US', 'en_GB', 'de_DE', 'fr_FR', 'es_MX', 'da_DK', 'fi_FI', 'nl_NL', 'ar_EG', 'ja_JP', 'ko_KR', 'zh_TW']; // prettier-ignore
	const zones = ['Etc/GMT', 'Europe/Berlin', 'America/New_York', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Auckland', 'GMT-07:00']; // prettier-ignore

	/** The hours in which clocks change, in Berlin, New York, Newfoundland, Lord Howe and Auckland, and others. */
	const days = ['2024-03-31', '2024-10-27', '2024-03-10', '2024-11-03', '2024-10-06', '2024-04-07', '2024-09-29', '1931-05-01', '2024-02-29', '2026-12-31']; // prettier-ignore
	const daySerial = (day: string) => (Date.parse(day) - Date.UTC(1899, 11, 30)) / 86_400_000;

	const formats = {
		day: ['DATE', 'yyyy-mm-dd', 'dd.mm.yyyy', 'm/d'],
		dayAndTime: ['DATE_TIME', 'dd/mm/yyyy', 'yyyy-mm-dd h:mm:ss'],
		time: ['TIME', 'h:mm:ss'],
		duration: ['[hh]:mm:ss', '[h]:mm:ss', '[h]:mm', '[mm]:ss', 'h:mm:ss'],
		none: [''],
	};
	const valuesOf: Record<keyof typeof formats, (below: Below) => unknown> = {
		day: (below) => daySerial(pickFrom(days, below)),
		dayAndTime: (below) => daySerial(pickFrom(days, below)) + below(4 * 3_600_000) / 86_400_000,
		time: (below) => below(86_400_000) / 86_400_000,
		duration: (below) => (below(1_000_000) - 100_000) / 86_400,
		none: (below) =>
			pickFrom([1, 45296, 0.5, 'text', '00123', '1/2', '5.1.24', 'v 2024', true], below),
	};

	function buildCell(below: Below) {
		const kinds = ['day', 'dayAndTime', 'time', 'duration', 'none'] as const;
		const kind = pickFrom(kinds, below);
		return { value: valuesOf[kind](below), format: pickFrom(formats[kind], below) };
	}

	type DatedCell = ReturnType<typeof buildCell>;

	function seedSheet(settings: object, rows: ReadonlyArray<readonly DatedCell[]>): string {
		const values = rows.map((row, at) => [`k${at}`, ...row.map(({ value }) => value)]);
		const tabs = [{ title: 'Sheet1', rows: [['Key', 'A', 'B', 'C', 'D'], ...values] }];
		const spreadsheetId = calls.book(tabs, settings);
		for (const [at, row] of rows.entries())
			for (const [column, { format }] of row.entries())
				if (format) calls.format(spreadsheetId, `${'BCDE'[column]}${at + 2}`, format);
		return spreadsheetId;
	}

	function buildTable(below: Below) {
		const rows = Array.from({ length: 1 + below(4) }, () =>
			Array.from({ length: 4 }, () => buildCell(below)),
		);
		const settings = { locale: pickFrom(locales, below), timeZone: pickFrom(zones, below) };
		const seed: Table['seed'] = (part) => seedSheet(settings, part === 'header' ? [] : rows);
		return { settings, rows, seed };
	}

	test(`of ${rounds} tables come back as they were, by every way`, async () => {
		const below = randomOf(39);
		await sendRound(
			() => buildTable(below),
			[
				...[changesNothing('Key'), changesNothing('rowNumber')],
				...[keepsValues('replace'), keepsValues('overwrite'), isCopied],
			],
		);
	});

	test(`${rounds} instants come back as the same instants, but for the hour that clocks show twice`, async () => {
		const below = randomOf(41);
		const rows = Array.from({ length: rounds }, (_, at) => ({
			Key: `k${at}`,
			A: new Date(Date.UTC(1990, 0, 1) + below(2 ** 31) * 600 + below(600)).toISOString(),
		}));
		for (const timeZone of zones) {
			const spreadsheetId = seedSheet({ locale: 'nl_NL', timeZone }, []);
			await give('append', { spreadsheetId }, rows);
			const again = await read(spreadsheetId);
			const moved = again.filter(
				({ A }, at) => Date.parse(A as string) !== Date.parse(rows[at]?.A ?? ''),
			);
			expect(again).toHaveLength(rows.length);
			expect(moved.length).toBeLessThan(rounds / 1000 + 2);
		}
	});
});
