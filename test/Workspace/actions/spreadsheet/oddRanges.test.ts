import { isNodeError } from '../../../../nodes/core/errors';
import { SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

/** Titles that look like cells, like ranges, like quotes. */
const titles = [
	'Q1', 'FY26', 'R1C1', 'A', 'AAA', '1', '2026', '007', '-1', 'a!b', 'a!A1', "it's", "'", "''", "'Q1'", 'A1:B2', 'Tab 1', ' x', 'ü', '表', '😀',
	'a:b', 'A:A', '$A$1', 'R1C1:R2C2', 'TRUE', 'null', 'x'.repeat(100), 'a"b', 'a,b', 'a/b', 'a?b#c', '100%', '%41', '=1', '[x]', '{a}', 'Sheet1!', '!', '.', '..',
	'constructor', '__proto__', 'a\tb', 'Q1!Q1', "a'!'b", 'RC', 'R', 'C1', 'XFD1', 'ZZZ99',
]; // prettier-ignore

function book(title: string): string {
	return calls.google.sheets.seed({
		title: 'Book',
		tabs: [
			{ title: 'First', rows: [['first', 'tab']] },
			{ title, rows: [['name', 'age'], ['Ann', 30]] }, // prettier-ignore
		],
	});
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
	if (refused !== undefined) expect([isNodeError(refused), refused]).toMatchObject([true, { code: 400 }]);
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
		const isCells = ['A1:B2', 'a:b', 'A:A', 'R1C1:R2C2'].includes(title);
		expect(held).toEqual(isCells ? [...first, ['Ben', 40]] : first);
		expect([untouched, [...untouched, ['Ben', 40]]]).toContainEqual(own);
	});
});
