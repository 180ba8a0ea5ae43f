// What a model gets from the operations that may answer at length: whole things within a limit, and how to get the rest.
import type { IDataObject } from 'n8n-workflow';

import type { GoogleServer } from '../../dev/google/server';
import { standardScopes } from '../../dev/google/tokens';
import { createNodeTool, runNode, token } from './runNode';
import { useGoogle } from './standIn';

let google: GoogleServer;
useGoogle((server) => (google = server));

/** The operation as a tool whose options a model may fill in. */
async function call(parameters: IDataObject, options: IDataObject = {}) {
	const given = { ...parameters, options };
	const node = { type: 'test.workspaceTool' };
	const tool = createNodeTool({ url: google.url, node, parameters: given });
	const answer = await tool({});
	return { size: answer.length, answer, items: JSON.parse(answer) as IDataObject[] };
}

const byId = (value: unknown) => ({ __rl: true, mode: 'id', value });
const sheetOf = (id: string) => ({
	resource: 'spreadsheet',
	operation: 'read',
	spreadsheetId: byId(id),
});
const documentOf = (id: string) => ({
	resource: 'document',
	operation: 'read',
	documentId: byId(id),
});
const mailOf = (messageId: string) => ({ resource: 'mail', operation: 'read', messageId });
const noteIn = (items: readonly IDataObject[]) => items.at(-1)?.['note'] as string;

/** Calls again with what the notes say, as a model would: they name an option by its label. */
async function readAll(
	parameters: IDataObject,
	[label, option]: readonly [string, string],
	options: IDataObject = {},
) {
	const answers: IDataObject[][] = [];
	for (let given: unknown; answers.length < 100;) {
		const { items, size } = await call(parameters, {
			...options,
			...(given !== undefined && { [option]: given }),
		});
		expect(size).toBeLessThanOrEqual(30_000);
		answers.push(items);
		const [, next] = new RegExp(`'${label}': (\\S+?)\\.?$`).exec(noteIn(items)) ?? [];
		if (next === undefined) break;
		given = option === 'pageToken' ? next : Number(next);
	}
	return answers;
}

describe('rows', () => {
	const address = ['Street and Number', 'City', 'Telephone'];
	const header = ['Number', 'Customer', ...address, 'Amount', 'Status', 'Remarks'];
	const row = (at: number) => [
		...[at, `Customer ${at}`, `Long Street ${at}`, 'Springfield', '+1 555 0100'],
		...[at * 1.5, 'open', 'Asked for an offer'],
	];

	function seed(count = 2000) {
		const rows = [header, ...Array.from({ length: count }, (_, at) => row(at + 1))];
		const tabs = [{ title: 'Sheet1', rows, rowCount: count + 10 }];
		return sheetOf(google.sheets.seed({ title: 'Book', tabs }));
	}

	test('of 2,000 name their columns once, and say how many there are and how to go on', async () => {
		const { items, size } = await call(seed());
		const [table] = items as [{ columns: string[]; rows: unknown[][]; total: number }];
		expect(size).toBeLessThanOrEqual(30_000);
		expect(table.columns).toEqual(['rowNumber', ...header]);
		expect(table.rows.length).toBeGreaterThanOrEqual(240);
		expect(table.rows[0]).toEqual([2, ...row(1)]);
		expect(table.total).toBe(2000);
		const count = table.rows.length;
		expect(noteIn(items)).toBe(
			`Rows 1 to ${count} of 2000 are shown. To get the next ones, call again with 'Start Row': ${count + 2}`,
		);
	});

	test('reach a model that follows the notes, each once', async () => {
		const answers = await readAll(seed(), ['Start Row', 'startRow']);
		const rows = answers.flatMap(([table]) => (table as { rows?: unknown[][] }).rows ?? []);
		expect(rows.map(([rowNumber]) => rowNumber)).toEqual(
			Array.from({ length: 2000 }, (_, at) => at + 2),
		);
	});

	test('that fit are all there, and filters and Max Rows hold', async () => {
		const few = seed(20);
		expect(noteIn((await call(few)).items)).toBe('Rows 1 to 20 of 20 are shown.');
		const { items } = await call(few, { maxRows: 5, startRow: 4 });
		expect(items[0]).toMatchObject({ total: 20 });
		expect(items[0]?.['rows']).toHaveLength(5);
		expect(noteIn(items)).toBe(
			"Rows 3 to 7 of 20 are shown. To get the next ones, call again with 'Start Row': 9",
		);
		expect((await call(few, { startRow: 1000 })).items.slice(1)).toEqual([
			{ note: 'No rows of 20 are shown.' },
		]);
	});

	/** Reads a book whose tabs have these titles. The first tab has the rows. */
	async function readBook(
		titles: readonly string[],
		rows: unknown[][],
		output: string,
		options: IDataObject = {},
	) {
		const tabs = titles.map((title, at) => ({ title, ...(at === 0 && { rows }) }));
		const place = sheetOf(google.sheets.seed({ title: 'Book', tabs }));
		const { items, size } = await call({ ...place, output }, options);
		expect(size).toBeLessThanOrEqual(30_000);
		return items;
	}

	test('name their tab and the others', async () => {
		const rows = [['A'], ['x']];
		for (const output of ['rows', 'values']) {
			const [answer] = await readBook(['Orders', 'Paid', 'Sent'], rows, output);
			expect(answer).toMatchObject({ tab: 'Orders', otherTabs: ['Paid', 'Sent'] });
		}
	});

	const many = (count: number, length: number) =>
		Array.from({ length: count }, (_, at) => `${at}`.padEnd(length, 'n'));
	test.each([
		['100 tabs with titles of 1,000 characters', many(100, 1000), ['A', 'B']],
		['2,000 tabs', many(2000, 0), ['A', 'B']],
		['names of quotes', ['"'.repeat(1000)], many(500, 90).map((name) => `"${name}\\`)],
	])('fit with %s', async (_name, titles, header) => {
		for (const output of ['rows', 'values']) {
			const items = await readBook(titles, [header, ['x', 'y']], output);
			const [answer] = items as [{ tab: string; rows?: unknown[][] }];
			expect(answer.tab).not.toBe('');
			expect(noteIn(items)).toMatch(/of [12] are shown/);
			if (answer.rows) expect(answer.rows[0]?.slice(0, 3)).toEqual([2, 'x', 'y']);
		}
	});

	test('one of which alone is too long are cut, with a mark, and the note moves on', async () => {
		const rows = [['A', 'B'], ['x'.repeat(40_000), 1], ['y', 2]]; // prettier-ignore
		const id = google.sheets.seed({ title: 'Book', tabs: [{ title: 'Sheet1', rows }] });
		const answers = await readAll(sheetOf(id), ['Start Row', 'startRow']);
		const shown = answers.map(([table]) => (table as { rows: unknown[][] }).rows);
		expect(shown).toEqual([[[2, expect.stringMatching(/^x{20000,}…$/), 1]], [[3, 'y', 2]]]);
	});

	test.each([
		['100 of the longest names', Array.from({ length: 100 }, () => 'n'.repeat(50_000))],
		['as many as a sheet has', Array.from({ length: 18_278 }, (_, at) => `c${at}`)],
	])('with %s of columns have names, rows and a note', async (_, names) => {
		const rows = [names, names.map((_name, at) => at)];
		const tabs = [{ title: 'Sheet1', rows, columnCount: names.length }];
		const id = google.sheets.seed({ title: 'Book', tabs });
		const { items, size } = await call(sheetOf(id));
		expect(size).toBeLessThanOrEqual(30_000);
		const [table] = items as [{ columns: string[]; rows: unknown[][] }];
		expect(table.columns.length).toBeGreaterThan(90);
		expect(table.rows[0]?.length).toBeGreaterThan(90);
		expect(noteIn(items)).toContain('Rows 1 to 1 of 1 are shown.');
	});

	test('fit, too, where the user chose another output; a workflow gets all of them', async () => {
		const all = seed();
		const { items, size } = await call({ ...all, output: 'values' });
		expect(size).toBeLessThanOrEqual(30_000);
		expect(items).toHaveLength(2);
		expect(await runNode({ url: google.url, parameters: all })).toHaveLength(2000);
	});

	test('of an input object fit, too, whatever output it names', async () => {
		const { spreadsheetId } = seed();
		const object = { operation: 'read', spreadsheetId: spreadsheetId.value, range: 'A:H' };
		for (const output of [{}, { output: 'rows' }]) {
			const inputObject = { ...object, ...output };
			const { size, items } = await call({ inputMode: 'json', inputObject });
			expect(size).toBeLessThanOrEqual(30_000);
			expect(noteIn(items)).toMatch(/of 200[01] are shown.*'startRow': \d+$/);
		}
	});
});

describe('a document', () => {
	const paragraph = (line: string) => ({
		paragraph: { elements: [{ textRun: { content: `${line}\n` } }] },
	});

	test('comes in parts, and the parts are the whole', async () => {
		const rule = (at: number) => `Rule ${at}: "ask" before you act,\talways.`;
		const lines = Array.from({ length: 9000 }, (_, at) => rule(at));
		const body = lines.map(paragraph);
		const id = google.docs.seed({ title: 'Handbook', tabs: [{ title: 'Tab 1', body }] });
		const answers = await readAll(documentOf(id), ['Start Character', 'startCharacter']);
		const content = answers.map(([part]) => part?.['content'] as string).join('');
		expect(content === lines.join('\n')).toBe(true);
		const characterCount = content.length;
		expect(answers[0]?.[0]).toMatchObject({ title: 'Handbook', characterCount });
		expect(noteIn(answers[0] ?? [])).toMatch(
			/^Characters 0 to \d+ of \d+ are shown\. To get what follows/,
		);
	});

	test.each([
		['a title', ['Tab'], 't'.repeat(30_000), 5],
		// The text of several tabs has their titles, too.
		['the titles of 100 tabs', Array<string>(100).fill('t'.repeat(1000)), 'Title', 10],
	])('leaves room for its text beside %s', async (_, titles, title, answerCount) => {
		const content = 'Some words. '.repeat(3000).trim();
		const [first = '', ...others] = titles;
		const filled = { title: first, body: [paragraph(content)] };
		const tabs = [filled, ...others.map((other) => ({ title: other, body: [] }))];
		const id = google.docs.seed({ title, tabs });
		const answers = await readAll(documentOf(id), ['Start Character', 'startCharacter']);
		expect(answers.length).toBeLessThan(answerCount);
		const text = answers.map(([part]) => part?.['content'] as string).join('');
		expect(text).toContain(content);
	});
});

describe('emails', () => {
	const seed = (count: number, text = 'Some words of an email. '.repeat(60)) =>
		Array.from({ length: count }, (_, at) =>
			google.gmail.seed({
				from: `Ann Example <ann.${at}@example.com>`,
				subject: `Your order ${at} of our summer catalog`,
				text,
				date: new Date(Date.UTC(2026, 0, 1) + at * 60_000),
			}),
		).reverse();
	const list = { resource: 'mail', operation: 'list', maxResults: 60 };

	test('that were not sent, or are spam or deleted, have a label that says so', async () => {
		const labels = ['INBOX', 'DRAFT', 'TRASH', 'SPAM'];
		const threadId = google.gmail.seed({ labelIds: ['SENT'] });
		for (const label of labels) google.gmail.seed({ labelIds: [label], threadId });
		const { items } = await call(mailOf(threadId), { wholeConversation: true });
		const named = [undefined, 'draft', 'trash', 'spam'];
		expect(items.slice(0, -1).map(({ label }) => label)).toEqual([undefined, ...named]);
		const drafts = await call(list, { labelIds: ['DRAFT'] });
		expect(drafts.items[0]?.['label']).toBe('draft');
	});

	test('of which 50 are listed take no more than 15,000 characters', async () => {
		const ids = seed(50);
		const { items, size } = await call({ ...list, maxResults: 50 });
		expect(size).toBeLessThanOrEqual(15_000);
		expect(items.slice(0, -1).map(({ id }) => id)).toEqual(ids);
		const keys = ['id', 'date', 'sender', 'subject', 'status', 'snippet'];
		expect(Object.keys(items[0] ?? {})).toEqual(keys);
		expect(noteIn(items)).toBe('50 of 50 emails are shown, newest first.');
	});

	test('of which 60 have their texts are shortened evenly, with a mark', async () => {
		seed(60);
		const { items, size } = await call({ ...list, readingOptions: { includeBody: true } });
		expect(size).toBeLessThanOrEqual(30_000);
		expect(items).toHaveLength(61);
		for (const { text } of items.slice(0, -1)) expect(text).toMatch(/^Some words of .{150,}…$/);
		expect(noteIn(items)).toContain(
			'A text that ends with … is shortened: read the email by its ID',
		);
	});

	test('reach a model that follows the notes, each once, over the pages of Gmail and within them', async () => {
		const ids = seed(230);
		const pages = { ...list, maxResults: 100, readingOptions: { includeBody: true } };
		const answers = await readAll(pages, ['Page Token', 'pageToken']);
		expect(answers.flatMap((items) => items.slice(0, -1).map(({ id }) => id))).toEqual(ids);
		expect(answers.length).toBeLessThan(5);
		expect(noteIn(answers[0] ?? [])).toMatch(
			/^\d+ of 100 or more emails are shown.*To get the next ones, call again with/,
		);
	});

	test('that are marked as read are those that the model got, and the next call in the same way gets the next ones', async () => {
		google.tokens.issue({ token, scopes: [...standardScopes, 'gmail.modify'] });
		const ids = seed(230);
		const unread = {
			...{ ...list, status: 'unread' },
			...{ readingOptions: { includeBody: true }, afterReading: { markAsRead: true } },
		};
		const got: unknown[] = [];
		for (let calls = 0; calls < 20 && got.length < ids.length; calls++) {
			const { items } = await call(unread);
			got.push(...items.slice(0, -1).map(({ id }) => id));
			const next =
				"To get the next ones, call again in the same way. If these emails come again, call with 'Page Token': ";
			if (got.length < ids.length) expect(noteIn(items)).toContain(next);
		}
		expect(got).toEqual(ids);
	});

	/** What a sender can make long so that a model sees nothing else: file names and headers. */
	const longThings = [
		{ of: '100 files with names of 200 characters', fileCount: 100, length: 200 },
		{ of: '250 files with names of 40', fileCount: 250, length: 40 },
		{ of: '3 files with names of 9,000', fileCount: 3, length: 9000 },
		{ of: '100 headers of 900', headerCount: 100, length: 900 },
		{ of: 'one header of 40,000', headerCount: 1, length: 40_000 },
		{ of: '250 files and 50 headers of 400', fileCount: 250, headerCount: 50, length: 400 },
	];
	const longText = 'Some words. '.repeat(5000).trim();
	test.each(
		['', 'One line.', longText].flatMap((text) =>
			longThings.map((thing) => ({ fileCount: 0, headerCount: 0, text, ...thing })),
		),
	)(
		'with $of and $text.length characters of text show something of each, and a model gets the whole text',
		async ({ fileCount, headerCount, length, text }) => {
			const part = (head: string, content: string) => `--b\r\n${head}\r\n\r\n${content}\r\n`;
			const headers = Array.from(
				{ length: headerCount },
				(_, at) => `X-Long-${at}: ${'h '.repeat(length / 2)}\r\n`,
			);
			const files = Array.from({ length: fileCount }, (_, at) =>
				part(
					`Content-Type: text/plain\r\nContent-Disposition: attachment; filename="${'n'.repeat(length - 4)}${at}"`,
					'x',
				),
			);
			const head = `From: a@b.c\r\nSubject: Hidden\r\n${headers.join('')}Content-Type: multipart/mixed; boundary=b`;
			const raw = `${head}\r\n\r\n${part('Content-Type: text/plain', text)}${files.join('')}--b--\r\n`;
			const id = google.gmail.seed({ raw });
			const options = { includeHeaders: headerCount > 0 };
			const answers = await readAll(
				mailOf(id),
				['Start Character', 'startCharacter'],
				options,
			);
			expect(answers.length).toBeLessThan(6);
			const shown = answers.map(([mail]) => mail?.['text'] as string).join('');
			expect(shown.trim() === text).toBe(true);
			const [mail] = answers[0] ?? [];
			expect(mail).toMatchObject({ subject: 'Hidden', sender: 'a@b.c' });
			const json = JSON.stringify(mail);
			if (fileCount > 0) expect(json).toContain('n'.repeat(20));
			if (headerCount > 0) expect(json).toContain('h h h h h');
		},
	);

	const seedConversation = (texts: readonly string[]) => {
		let threadId: string | undefined;
		return texts.map((text, at) => {
			const date = new Date(Date.UTC(2026, 0, 1) + at * 60_000);
			const id = google.gmail.seed({ text, date, threadId });
			threadId ??= id;
			return id;
		});
	};

	test('of a conversation that is too long for one answer are shortened evenly, with a mark', async () => {
		const texts = [longText, '', 'Yes.', longText];
		const ids = seedConversation(texts);
		const { items } = await call(mailOf(ids[2] ?? ''), { wholeConversation: true });
		expect(items.slice(0, -1).map(({ id }) => id)).toEqual(ids);
		expect(items.map(({ text }) => text).slice(1, 3)).toEqual(['', 'Yes.']);
		expect(items[0]?.['text']).toMatch(/^Some words.{9000,}…$/);
		expect(noteIn(items)).toMatch(
			/^4 of 4 emails are shown, oldest first\. A text that ends with … is shortened: read the email by its ID, without 'Whole Conversation', to get all of it\./,
		);
		const answers = await readAll(mailOf(ids[0] ?? ''), ['Start Character', 'startCharacter']);
		const parts = answers.map(([mail]) => mail?.['text'] as string);
		expect(parts.join('')).toBe(longText.trim());
	});

	test('of a conversation are whole, wherever the text of a single one would begin', async () => {
		const ids = seedConversation(['Shall we?', 'Yes.']);
		const startCharacter = 20;
		const options = { wholeConversation: true, startCharacter };
		const { items } = await call(mailOf(ids[0] ?? ''), options);
		expect(items.slice(0, -1).map(({ text }) => text)).toEqual(['Shall we?', 'Yes.']);
		const { items: beyond } = await call(mailOf(ids[1] ?? ''), { startCharacter });
		expect(noteIn(beyond)).toBe('Characters 20 to 20 of 4 are shown.');
		const { items: rest } = await call(mailOf(ids[1] ?? ''), { startCharacter: 1 });
		expect(noteIn(rest)).toBe('Characters 1 to 4 of 4 are shown.');
	});

	test('of a conversation that have no room are named by their IDs', async () => {
		const ids = seedConversation(Array.from({ length: 90 }, () => longText.slice(0, 400)));
		const { items } = await call(mailOf(ids[0] ?? ''), { wholeConversation: true });
		const shown = items.slice(0, -1).map(({ id }) => id);
		expect(shown).toEqual(ids.slice(0, shown.length));
		const others = ids.slice(shown.length).join(', ');
		expect(others).not.toBe('');
		expect(noteIn(items)).toContain(`To get the others, read them by their IDs: ${others}`);
	});

	test('whose subject is too long for the answer is shown, with a mark', async () => {
		const ids = seed(1);
		ids.unshift(google.gmail.seed({ subject: 'long '.repeat(7000), text: 'x' }));
		const answers = await readAll(list, ['Page Token', 'pageToken']);
		const mails = answers.flat().filter((item) => 'id' in item);
		expect(mails.map((mail) => mail['id'])).toEqual(ids);
		expect(mails[0]?.['subject']).toMatch(/^long /);
	});

	test('that nobody sent are told', async () => {
		const { items } = await call({ ...list, from: 'nobody@example.com' });
		expect(items).toEqual([
			{ note: '0 of 0 emails are shown, newest first.' },
			{ note: 'No email matches.' },
		]);
	});

	test('that are gone behind a token are none', async () => {
		seed(1);
		const { items } = await call(list, { pageToken: '20@' });
		expect(items[0]).toEqual({
			note: expect.stringMatching(/^0 of 0 emails /) as unknown,
		});
	});

	test('that are read come without HTML', async () => {
		const words = 'All the news of this week, in many words. ';
		const html = `<table>${`<tr><td style="color:#333">${words}</td></tr>`.repeat(90)}</table>`;
		const part = (type: string, content: string) =>
			`--b\r\nContent-Type: ${type}; charset=utf-8\r\n\r\n${content}\r\n`;
		const head =
			'From: News <n@example.com>\r\nSubject: News\r\nContent-Type: multipart/alternative; boundary=b';
		const raw = `${head}\r\n\r\n${part('text/plain', words.repeat(90))}${part('text/html', html)}--b--\r\n`;
		const id = google.gmail.seed({ raw });
		const { items, size } = await call(mailOf(id));
		expect(size).toBeLessThanOrEqual(6000);
		expect(items).toHaveLength(1);
		expect(items[0]).not.toHaveProperty('html');
	});
});
