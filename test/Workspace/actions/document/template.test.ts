import { documentType } from '../../../../dev/google/docs/service';
import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';

const calls = new Calls();

const pair = (find: string, replace: string) => ({ find, replace, format: 'text' as const });
const markdownWithImages = { contentFormat: 'markdown', insertImages: true } as const;
const batchUpdate = 'docs.documents.batchUpdate';

function requestsSent(): unknown[] {
	return calls.sent
		.filter(({ method }) => method === batchUpdate)
		.flatMap(({ body }) => (body as { requests: unknown[] }).requests);
}

describe('replacements', () => {
	test('change nothing else of the document, in one atomic request for all tabs', async () => {
		const tabs = [{ title: 'Second', tabId: 't.two', body: [line('{{name}} too')] }];
		const id = calls.document('Dear {{name}},\n\nyou owe {{sum}}.', tabs);
		const item = testItem();
		const replacements = [pair('{{name}}', 'Ann'), pair('{{sum}}', '12 €')];
		const written = await calls.write(id, { replacements }, item);
		expect(item.hints).toEqual([]);
		expect(calls.google.docs.text(id)).toBe('Dear Ann,\n\nyou owe 12 €.\n');
		expect(calls.google.docs.text(id, 't.two')).toBe('Ann too\n');
		const replaced = [
			{ find: '{{name}}', count: 2 },
			{ find: '{{sum}}', count: 1 },
		];
		expect(written).toMatchObject({ documentId: id, characterCount: 10, replaced });
		const request = (text: string, replaceText: string) => ({
			replaceAllText: { containsText: { text, matchCase: true }, replaceText },
		});
		expect(requestsSent()).toEqual([request('{{name}}', 'Ann'), request('{{sum}}', '12 €')]);
		expect(calls.google.docs.batchesOf(id)).toBe(1);
	});

	test('count as none in an answer that leaves them out', async () => {
		calls.google.fault({ match: batchUpdate, status: 200, body: {} });
		const written = await calls.write(calls.document('x'), { replacements: [pair('x', 'y')] });
		expect(written).toMatchObject({ characterCount: 0, replaced: [{ find: 'x', count: 0 }] });
	});

	test('go to one tab only, by its title', async () => {
		const id = calls.document('x', [{ title: 'Second', tabId: 't.two', body: [line('x')] }]);
		await calls.write(id, { tab: 'Second', replacements: [pair('x', 'y')] });
		expect(calls.google.docs.text(id)).toBe('x\n');
		expect(calls.google.docs.text(id, 't.two')).toBe('y\n');
	});

	test('name in a hint what was not found, in the same case', async () => {
		const id = calls.document('Name: NAME');
		const item = testItem();
		const replacements = [pair('name', 'x'), pair('NAME', 'y')];
		const written = await calls.write(id, { replacements }, item);
		expect(calls.google.docs.text(id)).toBe('Name: y\n');
		expect(written).toMatchObject({
			replaced: [
				{ find: 'name', count: 0 },
				{ find: 'NAME', count: 1 },
			],
		});
		expect(item.hints).toEqual(["Not found in the document, so not replaced: 'name'."]);
	});

	test('that somebody else comes before are made in the newer document', async () => {
		const id = calls.document('{{a}}');
		const message = "The required revision ID 'x' does not match the latest revision.";
		calls.google.fault({ match: batchUpdate, status: 400, message });
		await calls.write(id, { replacements: [pair('{{a}}', 'b')] });
		expect(calls.google.docs.text(id)).toBe('b\n');
	});

	test('whose answer is lost are not made again, and the failure says so', async () => {
		const id = calls.document('a');
		calls.google.fault({ match: batchUpdate, connection: 'resetAfter' });
		const failure = await catchFailure(calls.write(id, { replacements: [pair('a', 'aa')] }));
		expect(calls.google.docs.text(id)).toBe('aa\n');
		expect(failure).toMatchObject({ outcome: 'unknown' });
	});
});

function line(text: string) {
	return { paragraph: { elements: [{ textRun: { content: `${text}\n` } }] } };
}

describe('a template', () => {
	test('is copied, then filled, then continued, and stays as it is', async () => {
		const template = calls.document('Dear {{name}},');
		const made = await calls.create({
			...{ title: 'Letter', templateId: template, content: 'Yours {{name}}' },
			replacements: [pair('{{name}}', 'Ann')],
		});
		const id = made.documentId;
		expect(id).not.toBe(template);
		expect(made).toMatchObject({ title: 'Letter', replaced: [{ find: '{{name}}', count: 1 }] });
		expect(calls.google.docs.text(id)).toBe('Dear Ann,\nYours {{name}}\n');
		expect(calls.google.docs.text(template)).toBe('Dear {{name}},\n');
		const file = { name: 'Letter', mimeType: documentType, parents: ['root'] };
		expect(calls.google.files.get(id)).toMatchObject(file);
	});

	test('without replacements is looked through for placeholders, then continued', async () => {
		await calls.create({ templateId: calls.document('Dear Ann,'), content: 'Yours' });
		expect(calls.methods).toEqual(['drive.files.copy', 'get', 'get', 'batchUpdate', 'get']);
	});

	test('what was replaced is not replaced again because the result could not be read', async () => {
		const templateId = calls.document('a');
		const params = { templateId, replacements: [pair('a', 'aa')], idempotencyKey: 'letter' };
		// The first reading is that before the replacing.
		calls.google.fault({ match: 'docs.documents.get', nth: 2, times: 9, status: 503 });
		await calls.create(params).catch(() => undefined);
		calls.google.heal();
		const { documentId } = await calls.create(params, testItem());
		expect(calls.google.docs.text(documentId)).toBe('aa\n');
	});

	test.each(['resetBefore', 'resetAfter'] as const)(
		'what was replaced is not replaced again because its answer was lost (%s)',
		async (connection) => {
			const templateId = calls.document('a');
			calls.google.fault({ match: batchUpdate, connection });
			const replacements = [pair('a', 'aa')];
			const keyed = { content: 'b', idempotencyKey: 'letter' };
			const { documentId } = await calls.create({ templateId, replacements, ...keyed });
			expect(calls.google.docs.text(documentId)).toBe('aa\nb\n');
		},
	);

	test('is copied once for an idempotency key', async () => {
		const template = calls.document('Dear {{name}},');
		const filled = { templateId: template, replacements: [pair('{{name}}', 'Ann')] };
		const params = { ...filled, content: 'Yours', idempotencyKey: 'letter-1' };
		const first = await calls.create(params);
		const again = await calls.create(params);
		expect(again).toMatchObject({ documentId: first.documentId, repeated: true });
		expect(calls.google.docs.text(first.documentId)).toBe('Dear Ann,\nYours\n');
		expect(calls.google.files.listAll()).toHaveLength(2);
	});

	test('whose copy has no answer is found and filled', async () => {
		const template = calls.document('Dear {{name}},');
		calls.google.fault({ match: 'drive.files.copy', connection: 'resetAfter' });
		const replacements = [pair('{{name}}', 'Ann')];
		const made = await calls.create({ templateId: template, replacements });
		expect(calls.google.docs.text(made.documentId)).toBe('Dear Ann,\n');
		expect(calls.google.files.listAll()).toHaveLength(2);
	});

	test('that was not chosen is asked for: replacements alone would make an empty document', async () => {
		const creating = calls.create({ replacements: [pair('{{name}}', 'Ann')] });
		const failure = await catchFailure(creating);
		expect(failure).toMatchObject({ code: 400 });
		expect(failure.description).toContain('Nothing was created. Choose a document');
		expect(calls.google.files.listAll()).toHaveLength(0);
	});

	test('that is not there is named', async () => {
		const templateId = 'missingTemplate0123456789';
		const failure = await catchFailure(calls.create({ templateId }));
		expect(failure).toMatchObject({ code: 404 });
		expect(failure.description).toContain(templateId);
	});
});

describe('a tab that is missing', () => {
	test('is made by Write and by Append, once', async () => {
		const id = calls.document('first');
		await calls.write(id, { content: 'a', tab: 'Notes', createTab: true });
		await calls.append(id, { content: 'b', tab: ' Notes ', createTab: true });
		const read = await calls.read(id, { tab: 'Notes' });
		const tabs = [{ title: 'Tab 1' }, { title: 'Notes' }];
		expect(read).toMatchObject({ content: 'ab', tabs });
		expect(calls.google.docs.text(id)).toBe('first\n');
	});

	test('is made once by two executions', async () => {
		const id = calls.document('first');
		const append = (content: string) =>
			calls.append(id, { content, tab: 'Notes', createTab: true });
		await Promise.all([append('a'), append('b')]);
		const { tabs } = (await calls.read(id)) as { tabs: unknown[] };
		expect(tabs).toHaveLength(2);
	});

	test.each(['', 't.n'])('cannot be %j, the first one or an ID', async (tab) => {
		const id = calls.document('first', [{ title: 'Notes', tabId: 't.n' }]);
		await calls.write(id, { content: 'a', tab, createTab: true });
		expect(calls.methods).toEqual(['get', 'batchUpdate']);
	});
});

describe('images of Markdown', () => {
	const markdown =
		'Before ![logo](https://example.com/a.png) after\n\n- ![](https://b.invalid/b.png)\n\n| ![c](https://example.com/c.png) |\n| - |\n| e |\n\n![d](d.png)';

	test('become pictures where Google can fetch them; the others stay links, with a hint', async () => {
		const item = testItem();
		const id = calls.document('old');
		const written = await calls.write(id, { content: markdown, ...markdownWithImages }, item);
		expect((await calls.read(id, { format: 'markdown' })).content).toBe(
			'Before ![](https://example.com/a.png) after\n\n- <https://b.invalid/b.png>\n\n| ![](https://example.com/c.png) |\n| - |\n| e |\n\nd',
		);
		expect(item.hints).toEqual([
			expect.stringContaining('without a public https address'),
			'Google could not fetch these images, so they became links: https://b.invalid/b.png',
		]);
		expect(written).toMatchObject({ characterCount: 42 });
		expect(calls.google.docs.batchesOf(id)).toBe(1);
	});

	const two = '![a](https://a.example/a.png) ![b](https://b.example/b.png)';
	const write = async (content: string, item = testItem()) =>
		await calls.write(calls.document(), { content, ...markdownWithImages }, item);

	test.each([
		['The image could not be retrieved.', 'https://a.example/a.png, https://b.example/b.png'],
		['Invalid requests[0].insertText: no', 'https://a.example/a.png, https://b.example/b.png'],
		['Invalid requests[1].insertInlineImage: no', 'https://a.example/a.png'],
		['Invalid requests[2].insertInlineImage: no', 'https://b.example/b.png'],
	])('that Google refuses with %j become links', async (message, links) => {
		calls.google.fault({ match: batchUpdate, status: 400, message });
		const item = testItem();
		await write(two, item);
		expect(item.hints).toEqual([
			`Google could not fetch these images, so they became links: ${links}`,
		]);
	});

	test.each([
		[two, { status: 403, message: 'You may not read this image.' }],
		['text', { status: 400, message: 'The image could not be retrieved.' }],
	])('have nothing to do with another failure: %j, %j', async (content, fault) => {
		calls.google.fault({ match: batchUpdate, ...fault });
		expect(await catchFailure(write(content))).toMatchObject({ code: fault.status });
		expect(calls.methods).toEqual(['get', 'batchUpdate']);
	});

	test('are given up only after the document shows that a try before has not written them', async () => {
		calls.google.fault({ match: batchUpdate, connection: 'resetBefore' });
		const message = 'The image could not be retrieved.';
		calls.google.fault({ match: batchUpdate, status: 400, message });
		const item = testItem();
		await write(two, item);
		expect(item.hints).toEqual([expect.stringContaining('so they became links')]);
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate', 'get', 'batchUpdate']);
	});

	test.each([
		[1, 2],
		[2, 3],
		[7, 3],
	])('of which Google refuses %d take %d tries', async (count, tries) => {
		const item = testItem();
		const address = (at: number) => `https://p${at}.invalid/`;
		const images = Array.from({ length: count }, (_, at) => `![](${address(at)})`);
		await write(images.join(' '), item);
		expect(calls.methods.filter((method) => method === 'batchUpdate')).toHaveLength(tries);
		expect(item.hints).toEqual([expect.stringContaining(address(count - 1))]);
	});

	test('are appended with a key only once, and links without the option', async () => {
		const id = calls.document('old');
		const content = '![logo](https://example.com/a.png)';
		const append = async (insertImages: boolean) =>
			await calls.append(id, {
				...{ content, contentFormat: 'markdown', insertImages },
				...{ idempotencyKey: 'k', newParagraph: true },
			});
		const readMarkdown = async () => (await calls.read(id, { format: 'markdown' })).content;
		await append(true);
		expect(await append(true)).toMatchObject({ repeated: true });
		expect(await readMarkdown()).toBe('old\n\n![](https://example.com/a.png)');
		const item = testItem();
		await calls.write(id, { content, contentFormat: 'markdown' }, item);
		expect(await readMarkdown()).toBe('[logo](https://example.com/a.png)');
		expect(item.hints).toEqual([
			expect.stringContaining("Turn on 'insertImages'"),
			expect.stringContaining('also had pictures'),
		]);
	});

	test('in a document whose answer was lost are found there', async () => {
		const id = calls.document('old');
		calls.google.fault({ match: batchUpdate, connection: 'resetAfter' });
		const content = '![logo](https://example.com/a.png)';
		const written = await calls.write(id, { content, ...markdownWithImages });
		expect(written).toMatchObject({ documentId: id, characterCount: 0 });
		expect(calls.google.docs.batchesOf(id)).toBe(1);
	});
});
