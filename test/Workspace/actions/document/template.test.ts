import { documentType } from '../../../../dev/google/docs/service';
import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { asMarkdown, asText, Calls } from './calls';
import { paragraph } from './elements';

const calls = new Calls();
const markdownWithImages = { contentFormat: 'markdown', insertImages: true } as const;

describe('replacements', () => {
	test('change nothing else of the document, in one atomic request for all tabs', async () => {
		const id = calls.document('Dear {{name}},\n\nyou owe {{sum}}.', [
			{ title: 'Second', tabId: 't.two', body: [paragraph('{{name}} too')] },
		]);
		const requiredRevisionId = calls.google.docs.revisionOf(id);
		const item = testItem();
		const replacements = [asText('{{name}}', 'Ann'), asText('{{sum}}', '12 €')];
		const written = await calls.write(id, { replacements }, item);
		expect(item.hints).toEqual([]);
		expect(calls.text(id)).toBe('Dear Ann,\n\nyou owe 12 €.\n');
		expect(calls.text(id, 't.two')).toBe('Ann too\n');
		const replaced = [
			{ find: '{{name}}', count: 2 },
			{ find: '{{sum}}', count: 1 },
		];
		expect(written).toMatchObject({ documentId: id, characterCount: 10, replaced });
		const request = (text: string, replaceText: string) => ({
			replaceAllText: { containsText: { text, matchCase: true }, replaceText },
		});
		expect(calls.sent[1]?.body).toEqual({
			requests: [request('{{name}}', 'Ann'), request('{{sum}}', '12 €')],
			writeControl: { requiredRevisionId },
		});
		expect(calls.changes(id)).toBe(1);
	});

	test('count as none in an answer that leaves them out', async () => {
		calls.failChange({ status: 200, body: {} });
		const replacements = [asText('x', 'y')];
		const written = await calls.write(calls.document('x'), { replacements });
		expect(written).toMatchObject({ characterCount: 0, replaced: [{ find: 'x', count: 0 }] });
	});

	test('go to one tab only, by its title', async () => {
		const id = calls.withNotes('x', paragraph('x'));
		await calls.write(id, { tab: 'Notes', replacements: [asText('x', 'y')] });
		expect([calls.text(id), calls.text(id, 't.n')]).toEqual(['x\n', 'y\n']);
	});

	test('name in a hint what was not found, in the same case', async () => {
		const id = calls.document('Name: NAME');
		const item = testItem();
		const replacements = [asText('name', 'x'), asText('NAME', 'y')];
		const { replaced } = await calls.write(id, { replacements }, item);
		expect(calls.text(id)).toBe('Name: y\n');
		expect(replaced).toEqual([
			{ find: 'name', count: 0 },
			{ find: 'NAME', count: 1 },
		]);
		expect(item.hints).toEqual(["Not found in the document, so not replaced: 'name'."]);
	});

	describe.each([asText('a', 'aa'), asMarkdown('a', 'aa')])('%j', (replacement) => {
		test('that somebody else comes before is made in the newer document', async () => {
			const id = calls.document('a');
			calls.refuseAsOutdated();
			await calls.write(id, { replacements: [replacement] });
			expect(calls.text(id)).toBe('aa\n');
		});

		test('whose answer is lost is not made again, and the failure says so', async () => {
			const id = calls.document('a');
			calls.failChange({ connection: 'resetAfter' });
			const failure = await catchFailure(calls.write(id, { replacements: [replacement] }));
			expect(failure).toMatchObject({ outcome: 'unknown' });
			expect(calls.text(id)).toBe('aa\n');
			expect(calls.changes(id)).toBe(1);
		});
	});
});

describe('a template', () => {
	const replacements = [asText('{{name}}', 'Ann')];

	test('is copied, then filled, then continued, and stays as it is', async () => {
		const templateId = calls.document('Dear {{name}},');
		const params = { title: 'Letter', templateId, replacements, content: 'Yours {{name}}' };
		const made = await calls.create(params);
		const id = made.documentId;
		expect(made).toMatchObject({ title: 'Letter', replaced: [{ find: '{{name}}', count: 1 }] });
		expect(calls.text(id)).toBe('Dear Ann,\nYours {{name}}\n');
		expect(calls.text(templateId)).toBe('Dear {{name}},\n');
		const file = { name: 'Letter', mimeType: documentType, parents: ['root'] };
		expect(calls.google.files.get(id)).toMatchObject(file);
	});

	test('without replacements is looked through for placeholders, then continued', async () => {
		await calls.create({ templateId: calls.document('Dear Ann,'), content: 'Yours' });
		expect(calls.methods).toEqual(['drive.files.copy', 'get', 'get', 'batchUpdate', 'get']);
	});

	test.each(['resetBefore', 'resetAfter'] as const)(
		'what was replaced is not replaced again because its answer was lost (%s)',
		async (connection) => {
			calls.failChange({ connection });
			const filled = { templateId: calls.document('a'), replacements: [asText('a', 'aa')] };
			const keyed = { content: 'b', idempotencyKey: 'letter' };
			const { documentId } = await calls.create({ ...filled, ...keyed });
			expect(calls.text(documentId)).toBe('aa\nb\n');
		},
	);

	test('that is not there is named', async () => {
		const templateId = 'missingTemplate0123456789';
		const failure = await catchFailure(calls.create({ templateId }));
		expect(failure).toMatchObject({ code: 404 });
		expect(failure.message).toContain(templateId);
	});
});

describe('a tab that is missing', () => {
	test('is made by Write and by Append, once', async () => {
		const id = calls.document('first');
		await calls.write(id, { content: 'a', tab: 'Notes', createTab: true });
		await calls.append(id, { content: 'b', tab: ' Notes ', createTab: true });
		const tabs = [{ title: 'Tab 1' }, { title: 'Notes' }];
		expect(await calls.read(id, { tab: 'Notes' })).toMatchObject({ content: 'ab', tabs });
		expect(calls.text(id)).toBe('first\n');
	});

	test('is made once by two executions', async () => {
		const id = calls.document('first');
		const append = (content: string) =>
			calls.append(id, { content, tab: 'Notes', createTab: true });
		await Promise.all([append('a'), append('b')]);
		expect((await calls.read(id)).tabs).toHaveLength(2);
	});

	test('is found if the answer to its creation was lost', async () => {
		const id = calls.document('first');
		calls.failChange({ connection: 'resetAfter' });
		await calls.append(id, { content: 'a', tab: 'Notes', createTab: true });
		expect(await calls.read(id, { tab: 'Notes' })).toMatchObject({ content: 'a' });
		expect((await calls.read(id)).tabs).toHaveLength(2);
	});

	test('is not made if Google refuses it', async () => {
		const id = calls.document('first');
		calls.failChange({ status: 400, message: 'No more tabs.' });
		const params = { content: 'a', tab: 'Notes', createTab: true };
		expect(await catchFailure(calls.append(id, params))).toMatchObject({ code: 400 });
		expect((await calls.read(id)).tabs).toHaveLength(1);
	});

	test.each(['', 't.n'])('cannot be %j, the first one or an ID', async (tab) => {
		await calls.write(calls.withNotes('first'), { content: 'a', tab, createTab: true });
		expect(calls.methods).toEqual(['get', 'batchUpdate']);
	});
});

describe('images of Markdown', () => {
	const logo = '![logo](https://example.com/a.png)';
	const two = '![a](https://a.example/a.png) ![b](https://b.example/b.png)';
	const write = async (content: string, item = testItem()) =>
		await calls.write(calls.document(), { content, ...markdownWithImages }, item);

	test('stay pictures if somebody edited the document after it was read', async () => {
		calls.refuseAsOutdated();
		const { documentId } = await write(logo);
		expect(await calls.blocks(documentId)).toEqual(['![](https://example.com/a.png)']);
		expect(calls.methods.filter((method) => method === 'batchUpdate')).toHaveLength(2);
	});

	test('become pictures where Google can fetch them; the others stay links, with a hint', async () => {
		const item = testItem();
		const cell = '| ![c](https://example.com/c.png) |\n| - |\n| e |';
		const content = `Before ${logo} after\n\n- ![](https://b.invalid/b.png)\n\n${cell}\n\n![d](d.png)`;
		const written = await write(content, item);
		expect(await calls.blocks(written.documentId)).toEqual([
			'Before ![](https://example.com/a.png) after',
			'- <https://b.invalid/b.png>',
			'| ![](https://example.com/c.png) |\n| - |\n| e |',
			'd',
		]);
		expect(item.hints).toEqual([
			expect.stringContaining('without a public https address'),
			'Google could not fetch these images, so they became links: https://b.invalid/b.png',
		]);
		expect(written).toMatchObject({ characterCount: 42 });
		expect(calls.changes(written.documentId)).toBe(1);
	});

	test.each([
		['The image could not be retrieved.', 'https://a.example/a.png, https://b.example/b.png'],
		['Invalid requests[0].insertText: no', 'https://a.example/a.png, https://b.example/b.png'],
		['Invalid requests[1].insertInlineImage: no', 'https://a.example/a.png'],
		['Invalid requests[2].insertInlineImage: no', 'https://b.example/b.png'],
	])('that Google refuses with %j become links', async (message, links) => {
		calls.failChange({ status: 400, message });
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
		calls.failChange(fault);
		expect(await catchFailure(write(content))).toMatchObject({ code: fault.status });
		expect(calls.methods).toEqual(['get', 'batchUpdate']);
	});

	test('are given up only after the document shows that a try before has not written them', async () => {
		calls.failChange({ connection: 'resetBefore' });
		calls.failChange({ status: 400, message: 'The image could not be retrieved.' });
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
		const urls = Array.from({ length: count }, (_, at) => `https://p${at}.invalid/`);
		await write(urls.map((url) => `![](${url})`).join(' '), item);
		expect(calls.methods.filter((method) => method === 'batchUpdate')).toHaveLength(tries);
		expect(item.hints).toEqual([expect.stringContaining(urls.at(-1) ?? '')]);
	});

	test('are links without the option, which a hint names', async () => {
		const id = calls.document();
		const item = testItem();
		await calls.write(id, { content: logo, contentFormat: 'markdown' }, item);
		expect(await calls.markdown(id)).toBe('[logo](https://example.com/a.png)');
		expect(item.hints).toEqual([expect.stringContaining("Turn on 'insertImages'")]);
	});

	test('in a document whose answer was lost are found there', async () => {
		calls.failChange({ connection: 'resetAfter' });
		const written = await write(logo);
		expect(written).toMatchObject({ characterCount: 0 });
		expect(calls.changes(written.documentId)).toBe(1);
	});
});
