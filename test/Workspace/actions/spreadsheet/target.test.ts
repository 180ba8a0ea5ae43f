import { testItem } from '../../client';
import { failing } from '../../failure';
import { SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

/** Tabs whose titles read as cells; the first one is wide enough to have those cells. */
const book = () =>
	calls.google.sheets.seed({
		title: 'Book',
		tabs: [
			{ title: 'First', rows: [['first']], columnCount: 5000 },
			...['Q1', 'FY26', 'H1', 'R1C1'].map((title) => ({ title, rows: [[title]] })),
			{ title: "Jon's! A1", rows: [['quoted']] },
		],
		namedRanges: { Leads: "'Q1'!C3:D9", Total: "'FY26'!B2" },
	});

const given = {
	read: {},
	write: { values: [['new']] },
	append: { values: [['new']] },
} as const;

describe.each(Object.keys(given) as Array<keyof typeof given>)('%s', (name) => {
	test.each([
		[{ range: "'Q1'" }, "'Q1'"],
		[{ tab: 'Q1' }, "'Q1'"],
		[{ tab: 'FY26', range: 'A:D' }, "'FY26'!A:D"],
		[{ range: 'H1!A1:B2' }, "'H1'!A1:B2"],
		[{ tab: "Jon's! A1", range: 'A1:B2' }, "'Jon''s! A1'!A1:B2"],
		[{ range: "'Q1'!Leads" }, "'Q1'!Leads"],
		[{ range: 'Leads' }, 'Leads'],
	])('%j is %s', async (target, sent) => {
		await calls.one(name, { spreadsheetId: book(), ...target, ...given[name] });
		const paths = calls.sent.map(({ path }) => path.split('/values/')[1]?.replace(':append', ''));
		expect(paths).toContain(sent);
	});

	test.each(['Q1', 'q1', 'FY26', 'R1C1'])('%s may be a tab or a cell: nothing is done', async (range) => {
		const spreadsheetId = book();
		const failure = await failing(calls.run(name, { spreadsheetId, range, ...given[name] }));
		expect(failure.message).toBe(
			`'range' ${range} is ambiguous: it is a cell, and the spreadsheet has a tab with this name`,
		);
		expect(failure.description).toBe(
			`Enter '${range.toUpperCase()}' for the tab, or 'First'!${range} for the cell in the first tab.`,
		);
		expect(calls.methods).toEqual(['get']);
	});

	test('a cell that is no tab stays a cell', async () => {
		await calls.one(name, { spreadsheetId: book(), range: 'B7', ...given[name] });
		expect(calls.methods.slice(0, 1)).toEqual(['get']);
	});

	test.each([
		[{ tab: 'Q1', range: 'First!A1' }, "'range' contains a tab name, but 'tab' is also set"],
		[{ tab: 'Q1', range: 'no cells' }, "'range' is not a range: no cells"],
		[{ range: "'Q1'!no cells" }, "'range' is not a range: 'Q1'!no cells"],
	])('%j is refused before anything is sent', async (target, message) => {
		const failure = await failing(calls.run(name, { spreadsheetId: 'x', ...target, ...given[name] }));
		expect(failure.message).toBe(message);
		expect(calls.sent).toEqual([]);
	});
});

test('neither tab nor range: reading takes the first tab, writing asks for one', async () => {
	const spreadsheetId = book();
	expect(await calls.one('read', { spreadsheetId })).toMatchObject({ values: [['first']] });
	for (const name of ['write', 'append'] as const) {
		const failure = await failing(calls.run(name, { spreadsheetId, ...given[name] }));
		expect(failure.message).toBe("'tab' or 'range' is required");
	}
	expect(calls.methods).toEqual(['values.get']);
});

describe('a named range', () => {
	test.each(['INSERT_ROWS', 'OVERWRITE'])(
		'rows are appended in its columns: %s',
		async (insertDataOption) => {
			const spreadsheetId = book();
			for (const range of ['Leads', "'Q1'!Leads"]) {
				const params = { spreadsheetId, range, values: [['a', 'b']], insertDataOption };
				expect(await calls.one('append', params)).toMatchObject({
					updatedRange: expect.stringMatching(/^'Q1'!C\d+:D\d+$/) as string,
				});
			}
			const rows = calls.stored(spreadsheetId, "'Q1'!C1:D20").filter((row) => row.length > 0);
			expect(rows).toEqual([
				['a', 'b'],
				['a', 'b'],
			]);
		},
	);

	test('its columns have names', async () => {
		const spreadsheetId = calls.google.sheets.seed({
			title: 'Book',
			tabs: [{ title: 'Sheet1', rows: [['x'], [], ['', 'Name', 'Age'], ['', 'Anna', 31]] }],
			namedRanges: { People: 'Sheet1!B3:C4' },
		});
		const item = testItem({ json: { Age: 42, Name: 'Ben' } });
		const params = { spreadsheetId, range: 'People', valuesSource: 'items', headerRow: 3 };
		expect(await calls.one('append', params, item)).toMatchObject({ updatedRange: 'Sheet1!B5:C5' });
		expect(calls.stored(spreadsheetId, 'Sheet1!B5:C5')).toEqual([['Ben', 42]]);
	});
});

test('a long text is no range, and is not searched for one', async () => {
	for (const range of ["'", 'A', '1', '!', "''", 'A1:'].map((text) => text.repeat(1_000_000))) {
		await failing(calls.run('read', { spreadsheetId: 'x', range }));
	}
});
