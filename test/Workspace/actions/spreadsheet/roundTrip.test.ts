// What Read gives, Write and Append take back: a property over random tables.
import type { IDataObject } from 'n8n-workflow';

import { type Giving, randomOf, rounds, sendRound } from './rowsGiven';
import { isoForm, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const headers = [
	'Name', 'Name', 'name', 'Name_2', '', '', 'error', 'error_2', 'rowNumber', 'rowNumber_2', '2024', '2023', 'A', 'C', 'Ä ö', "it's", '=x', '1/2', ' a ', '__proto__', 'constructor', 'Total %',
]; // prettier-ignore

/** Texts go in as text; what begins with `type:` is typed, as a person would. */
const contents = [
	1, 0, -3.25, 1e21, 0.1, 2024, true, false, 'text', '00123', '+49 30 1', '1/2', '=1+1', "'s-Hertogenbosch", '12,5', '1e5', 'TRUE', '5%', '$5', '2024-13-01', '  padded ', 'Ünï 😀', 'a\nb', '',
	'type:=1+2', 'type:=2*3', 'type:1/5/2024', 'type:2024-01-05', 'type:2024-01-05 10:30', 'type:10:30', 'type:12%', 'type:$1,234.50', 'type:1,234',
]; // prettier-ignore

interface Table {
	readonly header: readonly string[];
	readonly rows: ReadonlyArray<ReadonlyArray<string | number | boolean>>;
}

function tableOf(below: (limit: number) => number): Table {
	const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
	const width = 1 + below(6);
	const header: string[] = Array.from({ length: width }, () => pick<string>(headers));
	if (header.join('') === '') header[0] = 'Only';
	const rows = Array.from({ length: 1 + below(5) }, (_, at) => [
		`key ${at}`,
		...Array.from({ length: width }, () => pick(contents)),
	]);
	return { header: ['Key', ...header], rows };
}

/** Seeds a table, typed cell by cell, and returns the spreadsheet. */
function seeded({ header, rows }: Table): string {
	const spreadsheetId = calls.sheet([[...header]]);
	const values = rows.map((row) =>
		row.map((cell) => {
			if (typeof cell !== 'string' || cell === '') return cell;
			return cell.startsWith('type:') ? cell.slice(5) : `'${cell}`;
		}),
	);
	if (values.length > 0) calls.google.sheets.enter(spreadsheetId, 'Sheet1!A2', values);
	return spreadsheetId;
}

const read = async (spreadsheetId: string, rendering = {}): Promise<IDataObject[]> =>
	await calls.rows({ spreadsheetId, ...isoForm, ...rendering });
const renderings = [{}, { valueRenderOption: 'FORMATTED_VALUE' }];

/** All that cells are: values, formulas and formats. */
const cellsOf = (spreadsheetId: string) => calls.cells(spreadsheetId, 'A:J');

const isFormula = (cell: unknown) => typeof cell === 'string' && cell.startsWith('type:=');
const withoutFormulas = ({ header, rows }: Table): Table => ({
	header,
	rows: rows.map((row) => row.map((cell) => (isFormula(cell) ? 3 : cell))),
});

/** The ways back, one after another by turns. */
const ways: ReadonlyArray<(table: Table, give: Giving) => Promise<void>> = [
	...['rowNumber', 'Key'].flatMap((matchColumns) =>
		renderings.map((rendering) => async (table: Table, give: Giving) => {
			const spreadsheetId = seeded(table);
			const before = cellsOf(spreadsheetId);
			const given = { spreadsheetId, matchColumns };
			const written = await give('write', given, await read(spreadsheetId, rendering));
			expect(written.map(({ action }) => action)).toEqual(table.rows.map(() => 'unchanged'));
			expect(cellsOf(spreadsheetId)).toEqual(before);
		}),
	),
	async (table, give) => {
		const spreadsheetId = seeded(table);
		const before = cellsOf(spreadsheetId);
		const rows = await read(spreadsheetId);
		const changed = rows.map((row, at) => (at === 0 ? { ...row, Key: 'changed' } : row));
		await give('write', { spreadsheetId, matchColumns: 'rowNumber' }, changed);
		const [header, [key, ...first] = [], ...others] = cellsOf(spreadsheetId);
		expect(key).toEqual({ value: 'changed' });
		expect([header, [before[1]?.[0], ...first], ...others]).toEqual(before);
	},
	...renderings.map((rendering) => async (table: Table, give: Giving) => {
		const spreadsheetId = seeded(table);
		const before = cellsOf(spreadsheetId);
		const rows = [...(await read(spreadsheetId, rendering)), { Key: '2024-01-05' }];
		const sent = calls.methods.length;
		await give('write', { spreadsheetId, matchColumns: 'Key' }, rows);
		expect(calls.methods.slice(sent).length).toBeLessThanOrEqual(5);
		const [key, ...others] = cellsOf(spreadsheetId).pop() ?? [];
		expect([key, ...others.filter(Boolean)]).toEqual([{ value: 45296, format: 'DATE' }]);
		expect(cellsOf(spreadsheetId).slice(0, -1)).toEqual(before);
	}),
	async (table, give) => {
		const plain = withoutFormulas(table);
		const rows = await read(seeded(plain));
		const copy = seeded({ ...plain, rows: [] });
		await give('append', { spreadsheetId: copy }, rows);
		expect(await read(copy)).toEqual(rows);
	},
	...['replace', 'overwrite'].map((writeMode) => async (table: Table, give: Giving) => {
		const spreadsheetId = seeded(withoutFormulas(table));
		const rows = await read(spreadsheetId);
		await give('write', { spreadsheetId, writeMode }, rows);
		expect(await read(spreadsheetId)).toEqual(rows);
	}),
];

test(`${rounds} tables come back as they were, by every way`, async () => {
	const below = randomOf(20_260);
	await sendRound(calls, () => tableOf(below), ways);
});
