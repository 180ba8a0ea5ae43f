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
		const spreadsheetId = book();
		const failure = await calls.failure(name, { spreadsheetId, range, ...given[name] });
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
		[{ range: "'Q1'!no cells" }, "'range' is not a range: no cells"],
	])('%j is refused before anything is sent', async (target, message) => {
		const failure = await calls.refusal(name, {
			spreadsheetId: 'x',
			...target,
			...given[name],
		});
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

test('a long text is no range, and is not searched for one', async () => {
	for (const range of ["'", 'A', '1', '!', "''", 'A1:'].map((text) =>
		text.repeat(roundsOf(1_000_000)),
	)) {
		await calls.failure('read', { spreadsheetId: 'x', range });
	}
});

describe('a tab that is not there', () => {
	/** A spreadsheet with two tabs, none of them of the name that is asked for. */
	const book = () => calls.book([{ title: 'Sheet1' }, { title: "Anna's Log" }]);

	test.each([
		['read', {}],
		['write', { values: [['a']] }],
		['append', { values: [['a']] }],
	] as const)('%s in a tab that is not there says which there are', async (name, given) => {
		const failure = await calls.failure(name, {
			spreadsheetId: book(),
			range: 'Sheet 1!A1',
			...given,
		});
		expect(failure).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
		expect(failure.message).toBe("Google Sheets: the spreadsheet has no tab 'Sheet 1'");
		expect(failure.description).toBe(
			"The spreadsheet has the tabs 'Sheet1', 'Anna's Log'. Choose one in 'tab', and leave 'range' empty to use all of it.",
		);
		expect(calls.methods.at(-1)).toBe('get');
	});

	test('so does an append of items, whose header row is read first', async () => {
		const given = { spreadsheetId: book(), range: 'Nowhere', valuesSource: 'columns' };
		const failure = await calls.failure('append', given, testItem({ json: { a: 1 } }));
		expect(failure.description).toContain("The spreadsheet has the tabs 'Sheet1'");
	});

	test('where the tabs cannot be read, the failure stays what it is', async () => {
		calls.google.fault({ match: 'sheets.spreadsheets.get', status: 403 });
		const failure = await calls.failure('read', { spreadsheetId: book(), range: 'Nowhere!A1' });
		expect(failure).toMatchObject({
			code: 400,
			message: 'Google Sheets: Unable to parse range: Nowhere!A1',
		});
		expect(failure.description).not.toContain('The spreadsheet has');
	});

	test('the tabs are asked for once, however many items want to know', async () => {
		const spreadsheetId = book();
		const [first, second] = items({ a: 1 }, { a: 2 });
		const failures = [];
		for (const range of ['Nowhere', 'Elsewhere!A1', 'Neverland'])
			failures.push(await calls.failure('read', { spreadsheetId, range }, first));
		expect(failures.map(({ description }) => description?.includes("'Sheet1'"))).toEqual([
			true,
			true,
			true,
		]);
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
		const given = { spreadsheetId: book(), range: 'Sheet1!A5000' };
		expect((await calls.failure('read', given)).code).toBe(400);
		expect(calls.methods).toEqual(['values.get']);
	});
});

describe('one spreadsheet', () => {
	const asked = (spreadsheetId: string) => {
		const { sheets } = testClients(calls.google.url, calls.google.tokens.issue());
		return new Spreadsheet(sheets, spreadsheetId);
	};

	test('without a tab, items go to the first one', async () => {
		const spreadsheetId = calls.book([
			{ title: 'First', rows: [['a']] },
			{ title: 'Second', rows: [['a']] },
		]);
		const params = { spreadsheetId, range: 'A:B', valuesSource: 'columns' };
		expect(await calls.one('append', params, items({ a: 1 })[0])).toMatchObject({
			updatedRange: 'First!A2',
		});
	});

	test('a name that is unknown in a tab that is there', async () => {
		const failure = await calls.failure('read', {
			spreadsheetId: calls.sheet(),
			range: 'Sheet1!Nothing',
		});
		expect(failure.message).toBe("Google Sheets: the spreadsheet has no tab 'Sheet1!Nothing'");
		expect(failure.description).toMatch(/^The spreadsheet has the tabs 'Sheet1'\. /);
	});

	test('its time zone is asked for in short JSON', async () => {
		const settings = { locale: 'de_DE', timeZone: 'Europe/Berlin' };
		const book = asked(calls.google.sheets.seed({ title: 'Book', ...settings }));
		expect(await book.fetchTimeZone()).toBe('Europe/Berlin');
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

	function book(title: string): string {
		return calls.book([
			{ title: 'First', rows: [['first', 'tab']] },
			{ title, rows: [['name', 'age'], ['Ann', 30]] }, // prettier-ignore
		]);
	}

	const quoted = (title: string) => `'${title.replaceAll("'", "''")}'`;
	const row = { valuesSource: 'json', values: [['Ben', 40]] };

	/** What the tab and the first one hold after a call; a refusal before anything was written is as good as a row in its place. */
	async function after(title: string, call: (spreadsheetId: string) => Promise<unknown>) {
		const id = book(title);
		const refused = await call(id).then(
			() => undefined,
			(error: unknown) => error,
		);
		if (refused !== undefined)
			expect([isNodeError(refused), refused]).toMatchObject([true, { code: 400 }]);
		return {
			refused: refused !== undefined,
			first: calls.stored(id, 'First'),
			own: calls.stored(id, quoted(title)),
		};
	}

	const untouched = [['name', 'age'], ['Ann', 30]]; // prettier-ignore
	const first = [['first', 'tab']];

	describe.each(titles)('a tab called %j', (title) => {
		test('chosen as tab: the row goes below its table', async () => {
			const { refused, ...held } = await after(title, (spreadsheetId) =>
				calls.run('append', { spreadsheetId, tab: title, ...row }),
			);
			const whole = title.trim() === title;
			expect(held).toEqual({ first, own: refused ? untouched : [...untouched, ['Ben', 40]] });
			expect(refused && whole).toBe(false);
		});

		test('chosen as tab with columns', async () => {
			const { refused, ...held } = await after(title, (spreadsheetId) =>
				calls.run('append', { spreadsheetId, tab: title, range: 'A:B', ...row }),
			);
			expect(held).toEqual({ first, own: refused ? untouched : [...untouched, ['Ben', 40]] });
			expect(refused && title.trim() === title).toBe(false);
		});

		test('quoted in the range', async () => {
			const { refused, ...held } = await after(title, (spreadsheetId) =>
				calls.run('append', { spreadsheetId, range: `${quoted(title)}!A:B`, ...row }),
			);
			expect([refused, held]).toEqual([false, { first, own: [...untouched, ['Ben', 40]] }]);
		});

		test('unquoted in the range: its own cells, or nothing', async () => {
			const { refused, ...held } = await after(title, (spreadsheetId) =>
				calls.run('write', { spreadsheetId, range: `${title}!A2:B2`, ...row }),
			);
			expect(held).toEqual({ first, own: refused ? untouched : [['name', 'age'], ['Ben', 40]] }); // prettier-ignore
		});

		test('alone and unquoted: its own cells, or nothing; several cells are those of the first tab, as Google reads them', async () => {
			const { first: held, own } = await after(title, (spreadsheetId) =>
				calls.run('append', { spreadsheetId, range: title, ...row }),
			);
			const isCells = ['A1:B2', 'a:b', 'A:A'].includes(title);
			expect(held).toEqual(isCells ? [...first, ['Ben', 40]] : first);
			expect([untouched, [...untouched, ['Ben', 40]]]).toContainEqual(own);
		});
	});
});
