import { isNodeError } from '../../../../nodes/core/errors';
import type { Cell } from '../../../../nodes/Workspace/actions/spreadsheet/cells';
import { Spreadsheet } from '../../../../nodes/Workspace/actions/spreadsheet/spreadsheet';
import {
	isPlainNumber,
	type MatchPlanInput,
	MatchPlan,
	toStoredText,
} from '../../../../nodes/Workspace/actions/spreadsheet/write/matchPlan';
import {
	fetchTableBody,
	fetchValuesAndTexts,
} from '../../../../nodes/Workspace/actions/spreadsheet/write/tableBody';
import { testClients } from '../../client';
import { SheetCalls } from './sheetCalls';

const columnsByName = new Map(['Id', 'A', 'B'].map((name, at) => [name, at]));

const bodyOf = (rows: Cell[][]): MatchPlanInput['body'] => ({
	lastRow: rows.length - 1,
	getCell: (row, column) => rows[row]?.[column] ?? '',
});

function planFor(
	rows: Cell[][],
	{ shown, ...more }: Partial<Omit<MatchPlanInput, 'shownTexts'>> & { shown?: Cell[][] } = {},
) {
	const choices = { valueInputOption: 'AUTO', unmatched: 'append' } as const;
	const matching = { ...choices, matchColumns: ['Id'], headerRow: 1, columnsByName };
	return new MatchPlan({
		...matching,
		body: bodyOf(rows),
		...(shown && { shownTexts: bodyOf(shown) }),
		...more,
	});
}

const row = ({ rowNumber, ...cells }: Record<string, Cell>) => ({
	cellsByName: new Map(Object.entries(cells)),
	rowNumber,
});

/** The only step of an item, as action, rows and what changes in each. */
function step(plan: MatchPlan, given: Record<string, Cell>) {
	const refusal = plan.findRefusal([row(given)]);
	if (refusal) return refusal.message;
	const [{ action, rows, changes } = { action: 'none', rows: [], changes: [] }] = plan.planRows([
		row(given),
	]);
	return [action, rows, ...changes.map((change) => [change.row, ...change.cellsByColumn])];
}

const header = ['Id', 'A', 'B'];

test('new cells are in the order of the columns; null and what has no column is left out', () => {
	const plan = planFor([header, [1, 'a', 'b']]);
	expect(step(plan, { B: 'y', Z: 'no', A: 'x', Id: 2 })).toEqual([
		'appended',
		[2],
		[2, [0, 2], [1, 'x'], [2, 'y']],
	]);
	expect(step(plan, { Id: 3, A: null })).toEqual(['appended', [3], [3, [0, 3]]]);
});

test('later items see what earlier ones change', () => {
	const plan = planFor([header, [1, 'a']]);
	expect(step(plan, { Id: 1, A: 'x' })).toEqual(['updated', [1], [1, [1, 'x']]]);
	expect(step(plan, { Id: 1, A: 'x' })).toEqual(['unchanged', [1]]);
	expect(step(plan, { Id: 1, A: 'a' })).toEqual(['updated', [1], [1, [1, 'a']]]);
	expect(step(plan, { Id: 5, A: 'n' })).toEqual(['appended', [2], [2, [0, 5], [1, 'n']]]);
	expect(step(plan, { Id: 5, B: 'm' })).toEqual(['updated', [2], [2, [2, 'm']]]);
	expect(step(plan, { Id: 6 })).toEqual(['appended', [3], [3, [0, 6]]]);
});

test('the rows of a key are those below the header, each once, in whatever type', () => {
	const rows = [header, ['', 'a'], [7, 'a'], ['7', 'a'], ['Id', 'a']];
	const plan = planFor(rows, { shown: rows });
	expect(step(plan, { Id: '7', A: 'x' })).toEqual([
		'updated',
		[2, 3],
		[2, [1, 'x']],
		[3, [1, 'x']],
	]);
	expect(step(plan, { Id: 'Id', A: 'x' })).toEqual(['updated', [4], [4, [1, 'x']]]);
	expect(step(planFor([['Id']]), { Id: 'Id' })).toEqual(['appended', [1], [1, [0, 'Id']]]);
	expect(step(plan, { A: 'x' })).toBe("The item has no value for 'Id'");
	expect(step(plan, { Id: null })).toBe("The item has no value for 'Id'");
});

test('a key of several columns is empty only where all of them are', () => {
	const plan = planFor([header, [1, '', 'b']], { matchColumns: ['Id', 'A'] });
	expect(step(plan, { Id: 1, B: 'x' })).toEqual(['updated', [1], [1, [2, 'x']]]);
	expect(step(plan, { Id: 1, A: 1 })).toEqual(['appended', [2], [2, [0, 1], [1, 1]]]);
	expect(step(plan, { Id: '', A: '' })).toBe("The item has no value for 'Id', 'A'");
});

test('of rows of which one cannot be looked for, none is planned', () => {
	const plan = planFor([header]);
	expect(isNodeError(plan.findRefusal([row({ Id: 1 }), row({ A: 1 })]))).toBe(true);
	expect(step(plan, { Id: 1 })).toEqual(['appended', [1], [1, [0, 1]]]);
});

describe('by number', () => {
	const rows = [['title'], header, [1, 'a'], [2, 'b']];
	const given = { matchColumns: ['rowNumber'], headerRow: 2 };

	test.each([3, 4, '3'])('%j is a row', (rowNumber) => {
		const at = Number(rowNumber) - 1;
		expect(step(planFor(rows, given), { rowNumber, Id: 9 })).toEqual([
			'updated',
			[at],
			[at, [0, 9]],
		]);
	});

	test.each([2, 5, 3.5, ' ', 'x', true])('%j is none', (rowNumber) => {
		expect(step(planFor(rows, given), { rowNumber, Id: 9 })).toBe(
			`The table has no row ${JSON.stringify(rowNumber)}`,
		);
	});

	test.each([null, ''])('%j is no number', (rowNumber) => {
		expect(step(planFor(rows, given), { rowNumber, Id: 9 })).toContain(
			'The item has no value for',
		);
	});
});

describe('a text where the sheet has a value', () => {
	const rows = [header, [1, 7, 0.12]];

	test.each<[Record<string, Cell>, Cell[][] | undefined, boolean, string]>([
		[{ A: '7' }, undefined, true, 'updated'],
		[{ A: '7' }, [header, ['1', '7', '12%']], true, 'unchanged'],
		[{ B: '12%' }, [header, ['1', '7', '12%']], true, 'unchanged'],
		[{ A: 8 }, undefined, false, 'updated'],
		[{ A: 7 }, undefined, false, 'unchanged'],
	])('%j', (cells, shown, isUnsure, action) => {
		const plan = planFor(rows, { shown });
		expect(step(plan, { Id: 1, ...cells })[0]).toBe(action);
		expect(plan.needsShownTexts).toBe(isUnsure);
	});

	test.each<[Cell, string, boolean]>([
		['007', 'unchanged', false],
		["'7", 'updated', false],
		['9', 'updated', false],
		['12%', 'updated', true],
		['7', 'unchanged', false],
	])('%j as typed', (cell, action, isUnsure) => {
		const plan = planFor(rows, { valueInputOption: 'USER_ENTERED' });
		expect(step(plan, { Id: 1, A: cell })[0]).toBe(action);
		expect(plan.needsShownTexts).toBe(isUnsure);
	});

	test('is not what it seems where texts stand', () => {
		const plan = planFor([header, ['a', 'b']]);
		expect(step(plan, { Id: 'a', A: 'c' })[0]).toBe('updated');
		expect(step(plan, { Id: 'x' })[0]).toBe('appended');
		expect(plan.needsShownTexts).toBe(false);
	});

	test.each<[Cell, Partial<MatchPlanInput>, boolean]>([
		['12%', {}, true],
		[8, {}, false],
		['1', {}, false],
		['12%', { valueInputOption: 'USER_ENTERED' }, false],
	])('as the key %j', (Id, more, isUnsure) => {
		const plan = planFor(rows, { ...more, shown: undefined });
		step(plan, { Id });
		expect(plan.needsShownTexts).toBe(isUnsure);
	});

	test.each<[Cell[], Pick<Partial<MatchPlanInput>, 'valueInputOption'>, number[] | 'appended']>([
		[[5], {}, [3]],
		[[5], { valueInputOption: 'USER_ENTERED' }, [3]],
		[['5'], {}, [3]],
		[['5'], { valueInputOption: 'USER_ENTERED' }, [3]],
		[["'5"], { valueInputOption: 'USER_ENTERED' }, [3]],
		[['6'], {}, [4]],
		[[6], {}, 'appended'],
		[['6'], { valueInputOption: 'USER_ENTERED' }, 'appended'],
		[['12%'], {}, [2]],
		[[0.12], {}, [2]],
		[[true], {}, [5]],
		[[5, '2024-01-05'], {}, [3]],
		[[5.3, '2024-01-05'], {}, [1]],
		[['5', '2024-01-05'], {}, [3]],
		[['6', '2024-01-05'], {}, [4]],
		[[6, '2024-01-05'], {}, 'appended'],
	])('the key %j with %j is found by its value where it is a number', (key, more, rows) => {
		const values = [header, ...[5.3, 0.12, 5, 6.4, true].map((Id) => [Id, 45296])];
		const shown = [
			header,
			...['5', '12%', '5,00 €', '6', 'TRUE'].map((Id) => [Id, '2024-01-05']),
		];
		const names = ['Id', 'A'].slice(0, key.length);
		const plan = planFor(values, { matchColumns: names, shown, ...more });
		const given = Object.fromEntries(names.map((name, at) => [name, key[at] ?? null]));
		const [action, found] = step(plan, { ...given, B: 'new' });
		expect(action === 'appended' ? action : found).toEqual(rows);
		// The row that was appended, too, is found by both.
		expect(step(plan, { ...given, B: 'newer' })[0]).toBe('updated');
	});

	test('a row that is appended by value comes before one that only shows the text', () => {
		const plan = planFor([header, [6.4]], { shown: [header, ['6']] });
		expect(step(plan, { Id: 6 })[0]).toBe('appended');
		expect(step(plan, { Id: '6', A: 'x' })).toEqual(['updated', [2], [2, [1, 'x']]]);
	});

	test.each(['007', 'TRUE', "'x", ' 7 '])('as a typed key %j', (Id) => {
		const plan = planFor([header, [7], [true], ['x']], { valueInputOption: 'USER_ENTERED' });
		expect(step(plan, { Id })[0]).toBe('unchanged');
	});
});

test.each([
	["'007", '007'],
	['007', '7'],
	[' 1e3 ', '1000'],
	['-.5', '-0.5'],
	[' TRUE ', 'true'],
	['untrue', 'untrue'],
	[' a', ' a'],
])('%j typed is %j', (text, kept) => {
	expect(toStoredText(text)).toBe(kept);
});

test.each([
	...['1', '1.', '.5', '+1', '-1e5', ' 1 '].map((text) => [text, true] as const),
	...['', '.', '1,000', '1%', 'e5', '1e'].map((text) => [text, false] as const),
])('%j is a plain number: %s', (text, expected) => {
	expect(isPlainNumber(text)).toBe(expected);
});

describe('the columns that are read', () => {
	const calls = new SheetCalls();
	const given = [
		['title'],
		['Id', 'A', 'B', 'C'],
		[1, 'a', '', 0.5],
		['', '', 'b'],
		[],
		['', 'last', 'not read'],
	];
	const bookOf = (rows: unknown[][]) => {
		const { sheets } = testClients(calls.google.url, calls.google.tokens.issue());
		return new Spreadsheet(sheets, calls.sheet(rows));
	};
	const sent = () => calls.google.requests.at(-1)?.query.getAll('ranges');
	const table = { title: 'Sheet1', nativeTable: undefined, row: 1 };

	test.each([
		['readBody', fetchTableBody],
		[
			'readBoth',
			async (...all: Parameters<typeof fetchValuesAndTexts>) =>
				(await fetchValuesAndTexts(...all)).body,
		],
	] as const)('%s: those side by side are one range, from the header on', async (_, ask) => {
		const body = await ask(bookOf(given), table, [3, 1, 0, 1]);
		expect(sent()).toEqual(['Sheet1!A2:B', 'Sheet1!D2:D']);
		expect(body.lastRow).toBe(5);
		expect([0, 1, 2, 3].map((column) => body.getCell(2, column))).toEqual([1, 'a', '', 0.5]);
		expect([
			body.getCell(3, 0),
			body.getCell(3, 2),
			body.getCell(5, 1),
			body.getCell(9, 9),
		]).toEqual(['', '', 'last', '']);
	});

	test('as values and as shown', async () => {
		const book = bookOf([['Id', 'A', 'B'], [1, true, 'text'], []]);
		const { body, shownTexts: shown } = await fetchValuesAndTexts(
			book,
			{ ...table, row: 0 },
			[0, 1, 2],
		);
		expect([0, 1, 2].map((column) => body.getCell(1, column))).toEqual([1, true, 'text']);
		expect([0, 1, 2].map((column) => shown.getCell(1, column))).toEqual(['1', 'TRUE', 'text']);
		expect([body.lastRow, shown.lastRow]).toEqual([1, 1]);
	});

	test('end where the table of Google ends, above its footer', async () => {
		const range = {
			sheetId: 0,
			startRowIndex: 1,
			endRowIndex: 4,
			startColumnIndex: 0,
			endColumnIndex: 4,
		};
		const body = await fetchTableBody(
			bookOf(given),
			{ ...table, nativeTable: { tableId: 't', range, bodyEnd: 3 } },
			[0],
		);
		expect(sent()).toEqual(['Sheet1!A2:A3']);
		expect(body.lastRow).toBe(2);
	});

	test('fifty ranges are asked for one by one, more as one', async () => {
		const odd = (count: number) => Array.from({ length: count }, (_, at) => 2 * at);
		const book = bookOf([Array.from({ length: 110 }, (_, at) => at)]);
		await fetchTableBody(book, { ...table, row: 0 }, odd(50));
		expect(sent()).toHaveLength(50);
		const body = await fetchTableBody(book, { ...table, row: 0 }, odd(51));
		expect(sent()).toEqual(['Sheet1!A1:CW']);
		expect(body.getCell(0, 100)).toBe(100);
	});

	test('without a column nothing is asked', async () => {
		expect((await fetchTableBody(bookOf(given), table, [])).lastRow).toBe(1);
		expect(calls.sent).toEqual([]);
	});
});
