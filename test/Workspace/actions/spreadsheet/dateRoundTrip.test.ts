// Dates, date-times, times and durations come back as the same cells: a property over random tables in twelve locales and eight zones.
import type { IDataObject } from 'n8n-workflow';

import { type Giving, giveFrom, randomOf, rounds, sendRound } from './rowsGiven';
import { isoForm, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const locales = ['en_US', 'en_GB', 'de_DE', 'fr_FR', 'es_MX', 'da_DK', 'fi_FI', 'nl_NL', 'ar_EG', 'ja_JP', 'ko_KR', 'zh_TW']; // prettier-ignore
const zones = ['Etc/GMT', 'Europe/Berlin', 'America/New_York', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Auckland', 'GMT-07:00']; // prettier-ignore

/** The hours in which clocks change, in Berlin, New York, Newfoundland, Lord Howe and Auckland, and others. */
const days = ['2024-03-31', '2024-10-27', '2024-03-10', '2024-11-03', '2024-10-06', '2024-04-07', '2024-09-29', '1931-05-01', '2024-02-29', '2026-12-31']; // prettier-ignore
const daySerial = (day: string) => (Date.parse(day) - Date.UTC(1899, 11, 30)) / 86_400_000;

type Pick = <T>(from: readonly T[]) => T;
type DatedCell = readonly [value: unknown, format?: string];

const kinds: ReadonlyArray<(below: (limit: number) => number, pick: Pick) => DatedCell> = [
	(_, pick) => [daySerial(pick(days)), pick(['DATE', 'yyyy-mm-dd', 'dd.mm.yyyy', 'm/d'])],
	(below, pick) => [
		daySerial(pick(days)) + below(4 * 3_600_000) / 86_400_000,
		pick(['DATE_TIME', 'dd/mm/yyyy', 'yyyy-mm-dd h:mm:ss']),
	],
	(below, pick) => [below(86_400_000) / 86_400_000, pick(['TIME', 'h:mm:ss'])],
	(below, pick) => [
		(below(1_000_000) - 100_000) / 86_400,
		pick(['[hh]:mm:ss', '[h]:mm:ss', '[h]:mm', '[mm]:ss', 'h:mm:ss']),
	],
	(_, pick) => [pick([1, 45296, 0.5, 'text', '00123', '1/2', '5.1.24', 'v 2024', true])],
];

const read = async (spreadsheetId: string): Promise<IDataObject[]> =>
	await calls.rows({ spreadsheetId, ...isoForm });
const cellsOf = (spreadsheetId: string) => calls.cells(spreadsheetId, 'A:E');
const valuesOf = (spreadsheetId: string) =>
	cellsOf(spreadsheetId).map((row) => (row as IDataObject[]).map(({ value }) => value));

interface Book {
	readonly locale: string;
	readonly timeZone: string;
	readonly rows: ReadonlyArray<readonly DatedCell[]>;
}

function seed({ rows, ...settings }: Book): string {
	const values = rows.map((row, at) => [`k${at}`, ...row.map(([value]) => value)]);
	const tabs = [{ title: 'Sheet1', rows: [['Key', 'A', 'B', 'C', 'D'], ...values] }];
	const spreadsheetId = calls.book(tabs, { ...settings });
	for (const [at, row] of rows.entries())
		for (const [column, [, format]] of row.entries())
			if (format) calls.format(spreadsheetId, `${'BCDE'[column]}${at + 2}`, format);
	return spreadsheetId;
}

const ways: ReadonlyArray<(book: Book, give: Giving) => Promise<void>> = [
	...['Key', 'rowNumber'].map((matchColumns) => async (book: Book, give: Giving) => {
		const spreadsheetId = seed(book);
		const before = cellsOf(spreadsheetId);
		const given = { spreadsheetId, matchColumns };
		const written = await give('write', given, await read(spreadsheetId));
		expect(written.map(({ action }) => action)).toEqual(book.rows.map(() => 'unchanged'));
		expect(cellsOf(spreadsheetId)).toEqual(before);
	}),
	...['replace', 'overwrite'].map((writeMode) => async (book: Book, give: Giving) => {
		const spreadsheetId = seed(book);
		const before = valuesOf(spreadsheetId);
		await give('write', { spreadsheetId, writeMode }, await read(spreadsheetId));
		// A date in a column whose first value is none gets the format of the locale.
		expect(valuesOf(spreadsheetId)).toEqual(before);
	}),
	async (book, give) => {
		const rows = await read(seed(book));
		const copy = seed({ ...book, rows: [] });
		await give('append', { spreadsheetId: copy }, rows);
		const again = await read(copy);
		expect(again).toEqual(rows);
	},
];

test(`${rounds} tables with dates come back as they were, by every way`, async () => {
	const below = randomOf(39);
	const pick: Pick = (from) => from[below(from.length)] as (typeof from)[number];
	const buildBook = () => {
		const rows = Array.from({ length: 1 + below(4) }, () =>
			Array.from({ length: 4 }, () => pick(kinds)(below, pick)),
		);
		return { locale: pick(locales), timeZone: pick(zones), rows };
	};
	await sendRound(calls, buildBook, ways);
});

test(`${rounds} instants come back as the same instants, but for the hour that clocks show twice`, async () => {
	const below = randomOf(41);
	const give = giveFrom(calls);
	const rows = Array.from({ length: rounds }, (_, at) => ({
		Key: `k${at}`,
		A: new Date(Date.UTC(1990, 0, 1) + below(2 ** 31) * 600 + below(600)).toISOString(),
	}));
	for (const timeZone of zones) {
		const spreadsheetId = seed({ locale: 'nl_NL', timeZone, rows: [] });
		await give('append', { spreadsheetId }, rows);
		const again = await read(spreadsheetId);
		const moved = again.filter(
			({ A }, at) => Date.parse(A as string) !== Date.parse(rows[at]?.A ?? ''),
		);
		expect(again).toHaveLength(rows.length);
		expect(moved.length).toBeLessThan(rounds / 1000 + 2);
	}
});
