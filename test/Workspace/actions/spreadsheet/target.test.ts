import { isNodeError } from '../../../../nodes/core/errors';
import { roundsOf } from '../../../growth';
import { testItem } from '../../client';
import { grid, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

/** Tabs whose titles read as cells; the first one is wide enough to have those cells. */
const book = () =>
	calls.book(
		[
			{ title: 'First', rows: [['first']], columnCount: 5000 },
			...['Q1', 'FY26', 'H1', 'R1C1'].map((title) => ({ title, rows: [[title]] })),
			{ title: "Jon's! A1", rows: [['quoted']] },
		],
		{ namedRanges: { Leads: "'Q1'!C3:D9", Total: "'FY26'!B2" } },
	);

const given = { read: {}, write: { values: [['new']] }, append: { values: [['new']] } } as const;

/** The ranges of the requests for values. */
const ranges = () => calls.sent.map(({ path }) => path.split('/values/')[1]);

describe.each(Object.keys(given) as Array<keyof typeof given>)('%s', (name) => {
	test.each([
		[{ range: "'Q1'" }, "'Q1'"],
		[{ tab: 'Q1' }, "'Q1'"],
		[{ tab: 'FY26', range: ' A:D ' }, "'FY26'!A:D"],
		[{ range: 'H1!A1:B2' }, "'H1'!A1:B2"],
		[{ tab: "Jon's! A1", range: 'A1:B2' }, "'Jon''s! A1'!A1:B2"],
	])('%j is %s', async (target, sent) => {
		await calls.one(name, { spreadsheetId: book(), ...target, ...given[name] });
		// Append opens the table by the rows of its tab.
		if (name !== 'append') expect(ranges()).toContain(sent);
	});

	test.each(['Q1', 'q1', 'FY26'])('%s may be a tab or a cell: nothing is done', async (range) => {
		const target = { spreadsheetId: book(), range, ...given[name] };
		const { message, description } = await calls.failure(name, target);
		const why = 'it is a cell, and the spreadsheet has a tab with this name';
		expect(message).toBe(`'range' ${range} is ambiguous: ${why}`);
		const tab = `'${range.toUpperCase()}' for the tab`;
		const cell = `'First'!${range} for the cell in the first tab`;
		expect(description).toBe(`Enter ${tab}, or ${cell}.`);
		expect(calls.methods).toEqual(['get']);
	});

	test('a cell that is no tab stays a cell', async () => {
		await calls.one(name, { spreadsheetId: book(), range: 'B7', ...given[name] });
		expect(calls.methods.slice(0, 1)).toEqual(['get']);
	});

	test.each([
		[{ tab: 'Q1', range: 'First!A1' }, "'range' contains a tab name, but 'tab' is also set"],
		[{ tab: 'Q1', range: 'no cells' }, "'range' is not a range: no cells"],
		[{ range: "'Q1'!no cells" }, "'range' is not a range: no cells"],
	])('%j is refused before anything is sent', async (target, message) => {
		const all = { spreadsheetId: 'x', ...target, ...given[name] };
		const failure = await calls.refusal(name, all);
		expect(failure.message).toBe(message);
	});
});

test('the cell that rows go to in the first tab is not taken for a tab of that name', async () => {
	const tabs = [{ title: 'First', rows: [['a', 'b']] }, { title: 'A2' }];
	const spreadsheetId = calls.book(tabs);
	await calls.one('write', { spreadsheetId, range: 'A:B', values: [{ b: 1, a: 2 }] });
	expect(calls.stored(spreadsheetId, 'First')).toEqual(grid(['a', 'b'], [2, 1]));
	expect(calls.methods).toEqual(['get', 'batchUpdate']);
});

test('without a tab and a range, reading takes the first tab', async () => {
	const read = await calls.one('read', { spreadsheetId: book() });
	expect(read).toMatchObject({ values: [['first']] });
	expect(calls.methods).toEqual(['values.get']);
});

test.each(['write', 'append'] as const)('without a tab and a range, %s asks', async (name) => {
	for (const blank of ['', ' ']) {
		const target = { spreadsheetId: 'x', tab: blank, range: blank };
		const failure = await calls.refusal(name, { ...target, ...given[name] });
		expect(failure.message).toBe("'tab' or 'range' is required");
	}
});

test.each(['read', 'write'] as const)('%s takes the name of a range', async (name) => {
	await calls.one(name, { spreadsheetId: book(), range: 'Leads', ...given[name] });
	expect(ranges()).toContain('Leads');
});

test('a table has no name of a range', async () => {
	const params = { spreadsheetId: book(), range: 'Leads', values: [['a', 'b']] };
	const failure = await calls.failure('append', params);
	expect(failure.message).toBe("Google Sheets: the spreadsheet has no tab 'Leads'");
});

test.each(["'", 'A', '1', '!', "''", 'A1:'])('many %s are no range', async (part) => {
	const range = part.repeat(roundsOf(1_000_000));
	expect(await calls.failure('read', { spreadsheetId: 'x', range })).toBeDefined();
});

describe('a tab that is not there', () => {
	/** A spreadsheet with two tabs, none of them of the name that is asked for. */
	const book = () => calls.book([{ title: 'Sheet1' }, { title: "Anna's Log" }]);

	const itsTabs = "The spreadsheet has the tabs 'Sheet1', 'Anna's Log'.";
	const advice = `${itsTabs} Choose one in 'tab', and leave 'range' empty to use all of it.`;

	test.each([
		['read', {}],
		['write', { values: [['a']] }],
		['append', { values: [['a']] }],
		['append', { valuesSource: 'columns' }],
	] as const)('%s of %j says which there are', async (name, rows) => {
		const target = { spreadsheetId: book(), range: 'Sheet 1!A1', ...rows };
		const failure = await calls.failure(name, target, testItem({ json: { a: 1 } }));
		expect(failure).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
		expect(failure.message).toBe("Google Sheets: the spreadsheet has no tab 'Sheet 1'");
		expect(failure.description).toBe(advice);
		expect(calls.methods.at(-1)).toBe('get');
	});

	test('where the tabs cannot be read, the failure stays what it is', async () => {
		calls.google.fault({ match: 'sheets.spreadsheets.get', status: 403 });
		const target = { spreadsheetId: book(), range: 'Nowhere!A1' };
		const failure = await calls.failure('read', target);
		expect(failure.code).toBe(400);
		expect(failure.message).toBe('Google Sheets: Unable to parse range: Nowhere!A1');
		expect(failure.description).not.toContain('The spreadsheet has');
	});

	test('the tabs are asked for once, however many items want to know', async () => {
		const spreadsheetId = book();
		const item = testItem();
		for (const range of ['Nowhere', 'Elsewhere!A1', 'Neverland']) {
			const failure = await calls.failure('read', { spreadsheetId, range }, item);
			expect(failure.description).toContain("'Sheet1'");
		}
		expect(calls.methods.filter((method) => method === 'get')).toHaveLength(1);
	});

	test('a refused look at the tabs is not repeated', async () => {
		calls.google.fault({ match: 'sheets.spreadsheets.get', status: 429, times: 99 });
		const item = testItem();
		for (const range of ['Nowhere', 'Elsewhere'])
			await calls.failure('read', { spreadsheetId: book(), range }, item);
		expect(calls.methods.filter((method) => method === 'get')).toHaveLength(2);
	});

	test('another refusal is not followed by a question', async () => {
		const spreadsheetId = book();
		const far = await calls.failure('read', { spreadsheetId, range: 'Sheet1!A5000' });
		const message = 'Unable to parse range: x';
		calls.google.fault({ match: 'sheets.spreadsheets.values.get', status: 404, message });
		const gone = await calls.failure('read', { spreadsheetId, range: 'Nowhere' });
		expect([far.code, gone.code]).toEqual([400, 404]);
		expect(calls.methods).toEqual(['values.get', 'values.get']);
	});

	test('a name that is unknown in a tab that is there', async () => {
		const target = { spreadsheetId: calls.sheet(), range: 'Sheet1!Nothing' };
		const failure = await calls.failure('read', target);
		expect(failure.message).toBe("Google Sheets: the spreadsheet has no tab 'Sheet1!Nothing'");
		expect(failure.description).toMatch(/^The spreadsheet has the tabs 'Sheet1'\. /);
	});
});

describe('odd titles and ranges', () => {
	/** Titles that look like cells, like ranges, like quotes. */
	const titles = [
	'Q1', 'FY26', 'R1C1', 'A', 'AAA', '1', '2026', '007', '-1', 'a!b', 'a!A1', "it's", "'", "''", "'Q1'", 'A1:B2', 'Tab 1', ' x', 'ü', '表', '😀',
	'a:b', 'A:A', '$A$1', 'R1C1:R2C2', 'TRUE', 'null', 'x'.repeat(100), 'a"b', 'a,b', 'a/b', 'a?b#c', '100%', '%41', '=1', '[x]', '{a}', 'Sheet1!', '!', '.', '..',
	'constructor', '__proto__', 'a\tb', 'Q1!Q1', "a'!'b", 'RC', 'R', 'C1', 'XFD1', 'ZZZ99',
]; // prettier-ignore

	const untouched = grid(['name', 'age'], ['Ann', 30]);
	const added = [...untouched, ['Ben', 40]];
	const first = [['first', 'tab']];
	const quoted = (title: string) => `'${title.replaceAll("'", "''")}'`;

	/** What the tab and the first one hold after a row was put; a refusal before anything was written is as good as a row in its place. */
	async function after(title: string, name: 'append' | 'write', target: object) {
		const spreadsheetId = calls.book([
			{ title: 'First', rows: first },
			{ title, rows: untouched },
		]);
		const row = { valuesSource: 'json', values: [['Ben', 40]] };
		const failure = await calls.run(name, { spreadsheetId, ...target, ...row }).then(
			() => undefined,
			(error: unknown) => error,
		);
		const refused = failure !== undefined;
		if (refused) expect([isNodeError(failure), failure]).toMatchObject([true, { code: 400 }]);
		const stored = (tab: string) => calls.stored(spreadsheetId, quoted(tab));
		return { refused, first: stored('First'), own: stored(title) };
	}

	describe.each(titles)('a tab called %j', (title) => {
		test.each([{}, { range: 'A:B' }])('as tab with %j: below its table', async (cells) => {
			const { refused, ...held } = await after(title, 'append', { tab: title, ...cells });
			expect(held).toEqual({ first, own: refused ? untouched : added });
			expect(refused && title.trim() === title).toBe(false);
		});

		test('quoted in the range', async () => {
			const held = await after(title, 'append', { range: `${quoted(title)}!A:B` });
			expect(held).toEqual({ refused: false, first, own: added });
		});

		test('unquoted in the range: its own cells, or nothing', async () => {
			const target = { range: `${title}!A2:B2` };
			const { refused, ...held } = await after(title, 'write', target);
			const written = grid(['name', 'age'], ['Ben', 40]);
			expect(held).toEqual({ first, own: refused ? untouched : written });
		});

		test('alone and unquoted: its own cells, or nothing; several cells are those of the first tab, as Google reads them', async () => {
			const held = await after(title, 'append', { range: title });
			const isCells = ['A1:B2', 'a:b', 'A:A'].includes(title);
			expect(held.first).toEqual(isCells ? [...first, ['Ben', 40]] : first);
			expect([untouched, added]).toContainEqual(held.own);
		});
	});
});

test.each([
	['append', {}],
	['write', { writeMode: 'updateOrAdd', matchColumns: 'a' }],
	['write', { writeMode: 'overwrite' }],
] as const)('in an empty tab, %s with %j begins the table in the area', async (name, more) => {
	const given = { spreadsheetId: calls.sheet(), range: 'Sheet1!B5:D20' };
	await calls.give(name, { ...given, ...more }, { a: 1, b: 2 });
	expect(calls.stored(given.spreadsheetId).slice(4)).toEqual(grid(['', 'a', 'b'], ['', 1, 2]));
	expect(await calls.rows(given)).toMatchObject([{ a: '1', b: '2' }]);
});
