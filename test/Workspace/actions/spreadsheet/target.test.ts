import { testClients, testItem } from '../../client';
import { grid, SheetCalls, items } from './sheetCalls';
import { isNodeError, NodeError } from '../../../../nodes/core/errors';
import {
	isUnknownRangeError,
	Spreadsheet,
} from '../../../../nodes/Workspace/actions/spreadsheet/spreadsheet';
import { roundsOf } from '../../../growth';

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

describe.each(Object.keys(given) as Array<keyof typeof given>)('%s', (name) => {
	test.each([
		[{ range: "'Q1'" }, "'Q1'"],
		[{ tab: 'Q1' }, "'Q1'"],
		[{ tab: 'FY26', range: 'A:D' }, "'FY26'!A:D"],
		[{ range: 'H1!A1:B2' }, "'H1'!A1:B2"],
		[{ tab: "Jon's! A1", range: 'A1:B2' }, "'Jon''s! A1'!A1:B2"],
	])('%j is %s', async (target, sent) => {
		await calls.one(name, { spreadsheetId: book(), ...target, ...given[name] });
		// Append opens the table by the rows of its tab.
		if (name === 'append') return;
		expect(calls.sent.map(({ path }) => path.split('/values/')[1])).toContain(sent);
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

test('neither tab nor range: reading takes the first tab, writing asks for one', async () => {
	const spreadsheetId = book();
	expect(await calls.one('read', { spreadsheetId })).toMatchObject({ values: [['first']] });
	for (const name of ['write', 'append'] as const) {
		const failure = await calls.failure(name, { spreadsheetId, ...given[name] });
		expect(failure.message).toBe("'tab' or 'range' is required");
	}
	expect(calls.methods).toEqual(['values.get']);
});

test.each(['read', 'write'] as const)('%s takes the name of a range', async (name) => {
	await calls.one(name, { spreadsheetId: book(), range: 'Leads', ...given[name] });
	expect(calls.sent.map(({ path }) => path.split('/values/')[1])).toContain('Leads');
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
		const [first, second] = items({ a: 1 }, { a: 2 });
		for (const range of ['Nowhere', 'Elsewhere!A1', 'Neverland']) {
			const failure = await calls.failure('read', { spreadsheetId, range }, first);
			expect(failure.description).toContain("'Sheet1'");
		}
		expect(calls.methods.filter((method) => method === 'get')).toHaveLength(1);
		await calls.failure('read', { spreadsheetId, range: 'Nowhere' }, second);
	});

	test('a refused look at the tabs is not repeated', async () => {
		calls.google.fault({ match: 'sheets.spreadsheets.get', status: 429, times: 9 });
		const [item] = items({ a: 1 });
		for (const range of ['Nowhere', 'Elsewhere'])
			await calls.failure('read', { spreadsheetId: book(), range }, item);
		expect(calls.methods.filter((method) => method === 'get')).toHaveLength(2);
	});

	test('another refusal is not followed by a question', async () => {
		const target = { spreadsheetId: book(), range: 'Sheet1!A5000' };
		expect((await calls.failure('read', target)).code).toBe(400);
		expect(calls.methods).toEqual(['values.get']);
	});
});

describe('one spreadsheet', () => {
	test('without a tab, items go to the first one', async () => {
		const rows = [['a']];
		const spreadsheetId = calls.book([
			{ title: 'First', rows },
			{ title: 'Second', rows },
		]);
		const [appended] = await calls.give('append', { spreadsheetId, range: 'A:B' }, { a: 1 });
		expect(appended).toMatchObject({ updatedRange: 'First!A2' });
	});

	test('a name that is unknown in a tab that is there', async () => {
		const target = { spreadsheetId: calls.sheet(), range: 'Sheet1!Nothing' };
		const failure = await calls.failure('read', target);
		expect(failure.message).toBe("Google Sheets: the spreadsheet has no tab 'Sheet1!Nothing'");
		expect(failure.description).toMatch(/^The spreadsheet has the tabs 'Sheet1'\. /);
	});

	test('its time zone is asked for in short JSON', async () => {
		const id = calls.book([], { locale: 'de_DE', timeZone: 'Europe/Berlin' });
		const { sheets } = testClients(calls.google.url, calls.google.tokens.issue());
		expect(await new Spreadsheet(sheets, id).fetchTimeZone()).toBe('Europe/Berlin');
		expect(calls.sent.map(({ query }) => query)).toEqual([
			{ fields: 'properties(locale,timeZone)', prettyPrint: 'false' },
		]);
	});

	test('other failures than of a range are not taken for one', () => {
		const error = (code: number, message: string) => new NodeError({ code, message });
		expect(isUnknownRangeError(error(400, 'Unable to parse range: x'))).toBe(true);
		expect(isUnknownRangeError(error(404, 'Unable to parse range: x'))).toBe(false);
		expect(isUnknownRangeError(error(400, 'Invalid value'))).toBe(false);
		expect(isUnknownRangeError(new Error('Unable to parse range: x'))).toBe(false);
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
	const row = { valuesSource: 'json', values: [['Ben', 40]] };

	/** What the tab and the first one hold after a call; a refusal before anything was written is as good as a row in its place. */
	async function after(title: string, name: 'append' | 'write', target: object) {
		const id = calls.book([
			{ title: 'First', rows: first },
			{ title, rows: untouched },
		]);
		const outcome = await calls.run(name, { spreadsheetId: id, ...target, ...row }).then(
			() => undefined,
			(error: unknown) => error,
		);
		const refused = outcome !== undefined;
		if (refused) expect([isNodeError(outcome), outcome]).toMatchObject([true, { code: 400 }]);
		const held = { first: calls.stored(id, 'First'), own: calls.stored(id, quoted(title)) };
		return { refused, held };
	}

	describe.each(titles)('a tab called %j', (title) => {
		test.each([{}, { range: 'A:B' }])('as tab with %j: below its table', async (cells) => {
			const { refused, held } = await after(title, 'append', { tab: title, ...cells });
			expect(held).toEqual({ first, own: refused ? untouched : added });
			expect(refused && title.trim() === title).toBe(false);
		});

		test('quoted in the range', async () => {
			const { refused, held } = await after(title, 'append', {
				range: `${quoted(title)}!A:B`,
			});
			expect([refused, held]).toEqual([false, { first, own: added }]);
		});

		test('unquoted in the range: its own cells, or nothing', async () => {
			const { refused, held } = await after(title, 'write', { range: `${title}!A2:B2` });
			const written = grid(['name', 'age'], ['Ben', 40]);
			expect(held).toEqual({ first, own: refused ? untouched : written });
		});

		test('alone and unquoted: its own cells, or nothing; several cells are those of the first tab, as Google reads them', async () => {
			const { held } = await after(title, 'append', { range: title });
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
