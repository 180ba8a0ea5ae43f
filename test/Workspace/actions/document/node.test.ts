import { type IDataObject, type INodeExecutionData, NodeHelpers } from 'n8n-workflow';

import { Workspace } from '../../../../nodes/Workspace/Workspace.node';
import { failureOf } from '../../../createExecuteContext';
import { testItem } from '../../client';
import { runNode, token } from '../../runNode';
import { Calls } from './calls';

const calls = new Calls();
const contentFormat = 'markdown';

const locator = (value: string, mode = 'id') => ({ __rl: true, mode, value });
const url = (id: string) =>
	`https://docs.google.com/document/u/0/d/${id}/edit?usp=sharing#heading=h.1`;

beforeEach(() => {
	calls.google.tokens.issue({ token });
});

/** A row of the form that nobody filled in. */
const noRow = { find: '', replace: '', format: 'text' };

interface Created {
	readonly documentId: string;
}

const run = async (parameters: IDataObject, items?: INodeExecutionData[]) =>
	await runNode({ url: calls.google.url, parameters, items });

async function form(operation: string, parameters: IDataObject, items?: INodeExecutionData[]) {
	const [item] = await run({ resource: 'document', operation, ...parameters }, items);
	return item?.json ?? {};
}

async function object(inputObject: IDataObject) {
	const [item] = await run({ inputMode: 'json', inputObject: JSON.stringify(inputObject) });
	return item?.json ?? {};
}

test('all four operations by the form', async () => {
	const content = '# Title\n\n- a\n- b';
	const created = await form('create', { title: 'Report', content, contentFormat });
	const documentId = locator(url((created as unknown as Created).documentId), 'url');
	expect(Object.keys(created)).toEqual(['documentId', 'documentUrl', 'title']);
	expect(created['title']).toBe('Report');
	expect(created['documentUrl']).toContain('/edit');
	const appended = await form('append', { documentId, content: 'more' });
	expect(appended['characterCount']).toBe(5);
	const whole = { title: 'Report', content: '# Title\n\n- a\n- b\n- more' };
	expect(await form('read', { documentId, format: 'markdown' })).toMatchObject(whole);
	const written = await form('write', { documentId, replace: 'document', content: 'new' });
	expect(written['characterCount']).toBe(3);
	expect(await form('read', { documentId })).toMatchObject({ content: 'new', characterCount: 3 });
});

describe('the tab in the URL of a document', () => {
	const edit = (id: string) => `https://docs.google.com/document/d/${id}/edit`;
	const write = { operation: 'write', resource: 'document', content: 'new' };
	const seedTabs = () => calls.document('first', [{ title: 'Notes', tabId: 't.n0' }]);

	test.each([
		['?tab=t.n0'],
		['?tab=t%2En0'],
		['?tab=%74.n0'],
		['?usp=sharing&tab=t.n0'],
		['?tab=t.n0#heading=h.abc'],
		['?tab=t.n0&pli=1#bookmark=id.x'],
		['?usp=sharing&amp;tab=t.n0'],
		['%3Fusp%3Dsharing%26tab%3Dt.n0%23heading%3Dh.abc'],
	])('%s is where it reads, writes and appends', async (query) => {
		const id = seedTabs();
		const documentId = `${edit(id)}${query}`;
		await object({ ...write, documentId });
		await object({ ...write, operation: 'append', documentId, content: '!' });
		await form('append', { documentId: locator(documentId, 'url'), content: '?' });
		expect(calls.google.docs.text(id)).toBe('first\n');
		expect(calls.google.docs.text(id, 't.n0')).toBe('new!\n?\n');
		const read = { operation: 'read', resource: 'document', documentId };
		expect(await object(read)).toMatchObject({ content: 'new!\n?' });
	});

	test.each(['#tab=t.n0', '#heading=h.1?tab=t.n0', '?tab=', ''])(
		'%s names no tab',
		async (end) => {
			const id = seedTabs();
			await object({ ...write, documentId: `${edit(id)}${end}` });
			expect(calls.google.docs.text(id)).toBe('new\n');
		},
	);

	test('gives way to a tab of its own field, and must exist', async () => {
		const id = seedTabs();
		const documentId = `${edit(id)}?tab=t.n0`;
		await object({ ...write, documentId, tab: 'Tab 1' });
		expect(calls.google.docs.text(id)).toBe('new\n');
		const unknown = object({ ...write, documentId: `${edit(id)}?tab=t.gone` });
		await expect(unknown).rejects.toThrow("The document has no tab 't.gone'");
	});

	test("is the one of Google's resource", async () => {
		const read = { operation: 'read', resource: 'document', format: 'structure' };
		const url = edit(seedTabs());
		const { tabs } = await object({ ...read, documentId: `${url}?tab=t.n0` });
		expect(tabs).toMatchObject([{ tabProperties: { tabId: 't.n0' } }]);
		const unknown = object({ ...read, documentId: `${url}?tab=t.gone` });
		await expect(unknown).rejects.toThrow("The document has no tab 't.gone'");
	});
});

test.each(['write', 'append'] as const)(
	'%s names the first of several tabs if none was chosen',
	async (operation) => {
		const several = calls.document('a', [{ title: 'Notes', tabId: 't.n' }]);
		const hintsOf = async (id: string, tab = '') => {
			const item = testItem();
			await calls[operation](id, { content: 'x', tab }, item);
			return item.hints;
		};
		expect(await hintsOf(several)).toEqual([
			"The document has 2 tabs. The content was written to the first one: 'Tab 1'.",
		]);
		expect(await hintsOf(several, 't.n')).toEqual([]);
		expect(await hintsOf(calls.document('a'))).toEqual([]);
	},
);

test.each([
	['document', 'spreadsheet', { operation: 'read', range: 'A1:B2' }],
	['spreadsheet', 'document', { operation: 'read' }],
] as const)(
	'the ID of a %s for a %s says what each resource needs',
	async (kind, wanted, input) => {
		const mimeType = `application/vnd.google-apps.${kind}`;
		const { id } = calls.google.files.add({ name: 'Plan', mimeType, clientId: '' });
		const failing = object({ ...input, resource: wanted, [`${wanted}Id`]: id });
		const failure = await failureOf(failing);
		expect(failure.description).toContain('This is a file of another kind.');
	},
);

describe('what the form replaces', () => {
	const edit = (id: string) => `https://docs.google.com/document/d/${id}/edit?tab=t.n0`;
	const seedTabs = () => calls.document('first', [{ title: 'Notes', tabId: 't.n0' }]);

	test('is the tab that is chosen, or that the URL names', async () => {
		const id = seedTabs();
		const tab = locator('Notes', 'name');
		await form('write', { documentId: locator(id), replace: 'tab', tab, content: 'a' });
		expect(calls.google.docs.text(id, 't.n0')).toBe('a\n');
		for (const replace of ['tab', 'document']) {
			const documentId = locator(edit(id), 'url');
			await form('write', { documentId, replace, content: replace });
			expect(calls.google.docs.text(id, 't.n0')).toBe(`${replace}\n`);
		}
		expect(calls.google.docs.text(id)).toBe('first\n');
	});

	test('is the whole document, whatever section or tab was chosen before', async () => {
		const id = seedTabs();
		const [section, tab] = [locator('Plan', 'name'), locator('Notes', 'name')];
		const documentId = locator(id);
		await form('write', { documentId, replace: 'document', section, tab, content: 'new' });
		expect(calls.google.docs.text(id)).toBe('new\n');
	});
});

test('the form fills a template from the input item unless that is turned off, and content never', async () => {
	const templateId = locator(calls.document('Dear {{ name }},'));
	const textOf = async (parameters: IDataObject) => {
		const items = [{ json: { name: 'Ann' } }];
		const made = await form('create', { title: 'T', ...parameters }, items);
		return calls.google.docs.text((made as unknown as Created).documentId);
	};
	const template = { from: 'template', templateId };
	expect(await textOf(template)).toBe('Dear Ann,\n');
	expect(await textOf({ ...template, fillFromInput: false })).toBe('Dear {{ name }},\n');
	expect(await textOf({ content: 'Hi {{ name }}' })).toBe('Hi {{ name }}\n');
	const nameless = form('create', { title: 'T', from: 'template' });
	await expect(nameless).rejects.toThrow("'Template' is required");
});

test('a template, filled by the form and by the input object', async () => {
	const templateId = locator(calls.document('Dear {{name}},'));
	const replacement = [{ find: '{{name}}', replace: 'Ann' }];
	const template = { from: 'template', templateId, replacements: { replacement } };
	const replaced = [{ find: '{{name}}', count: 1 }];
	const byForm = await form('create', { title: 'Letter', ...template });
	expect(byForm).toMatchObject({ replaced });
	const create = { operation: 'create', resource: 'document', title: 'Letter' };
	const given = { templateId: templateId.value, replacements: replacement };
	const byObject = await object({ ...create, ...given });
	expect(byObject).toMatchObject({ replaced });
	for (const made of [byForm, byObject]) {
		const { documentId } = made as unknown as Created;
		expect(calls.google.docs.text(documentId)).toBe('Dear Ann,\n');
	}
	const { documentId } = byObject;
	const ann = [{ find: 'Ann', replace: 'Bo' }];
	const written = await object({ operation: 'write', documentId, replacements: ann });
	expect(written).toMatchObject({ characterCount: 2, replaced: [{ find: 'Ann', count: 1 }] });
});

test('Markdown in a template and a section, by the form', async () => {
	const templateId = locator(calls.document('{{a}}\nend'));
	const replacement = [{ find: '{{a}}', replace: '# One\n\nold', format: 'markdown' }, noRow];
	const template = { from: 'template', templateId, replacements: { replacement } };
	const made = await form('create', { title: 'T', ...template });
	expect(made).toMatchObject({ replaced: [{ find: '{{a}}', count: 1 }] });
	const documentId = locator((made as unknown as Created).documentId);
	const section = locator('One', 'name');
	await form('write', { documentId, content: '- new', contentFormat, section });
	const options = { underHeading: 'One' };
	await form('append', { documentId, content: 'more', contentFormat, options });
	expect(await form('read', { documentId, format: 'markdown' })).toMatchObject({
		content: '# One\n\n- new\n\nmore',
	});
});

test('an option that was added stays while another one is chosen, and means nothing before it is filled in', async () => {
	const options = { insertImages: true, replacements: { replacement: [noRow] } };
	const documentId = locator(calls.document('a'));
	const given = { documentId, replace: 'document', content: 'b', options };
	const parameters = { inputMode: 'fields', resource: 'document', operation: 'write', ...given };
	const { description } = new Workspace();
	const { properties } = description;
	const kept = NodeHelpers.getNodeParameters(
		properties,
		parameters,
		false,
		false,
		null,
		description,
	);
	expect(Object.keys(kept?.['options'] ?? {})).toEqual(Object.keys(options));
	const choices = description.properties.flatMap(
		(one) => (one.name === 'options' ? one.options : []) ?? [],
	);
	const added = choices.filter(({ name }) => name === 'replacements');
	expect(added).toHaveLength(1);
	for (const one of added) expect(one).toMatchObject({ default: options.replacements });
	const written = await form('write', parameters);
	expect(written).not.toHaveProperty('replaced');
});

test('a replacement of null is an empty text', async () => {
	const write = { operation: 'write', content: '' };
	const replace = '={{ $json.note }}';
	const replacements = { replacement: [{ find: '{{note}}', replace, format: 'text' }] };
	const one = calls.document('a{{note}}');
	const inForm = { ...write, documentId: locator(one), replace: 'document' };
	const parameters = { ...inForm, options: { replacements } };
	await run({ resource: 'document', ...parameters }, [{ json: { note: null } }]);
	expect(calls.google.docs.text(one)).toBe('a\n');
	const other = calls.document('a{{note}}');
	const nulls = [{ find: '{{note}}', replace: null, format: null }];
	await object({ ...write, documentId: other, replacements: nulls });
	expect(calls.google.docs.text(other)).toBe('a\n');
});

test('a section that was left empty, or whose expression came out empty, never is the whole document', async () => {
	const documentId = locator(calls.document('kept'));
	const parameters = { resource: 'document', operation: 'write', documentId, content: 'new' };
	const expression = '={{ $json.heading }}';
	for (const [section, heading] of [
		['', 'Plan'],
		...['', ' ', undefined].map((empty) => [expression, empty]),
	]) {
		const items = [{ json: { heading } }];
		const { message } = await failureOf(run({ ...parameters, section }, items));
		expect(message).toContain("'Section' is required");
	}
	const noSection = form('write', { ...parameters, section: undefined });
	await expect(noSection).rejects.toThrow("'Section' is required");
	const noTab = form('write', { ...parameters, replace: 'tab' });
	await expect(noTab).rejects.toThrow("'Tab' is empty");
	expect(calls.sent).toEqual([]);
});

test('all four operations by the input object', async () => {
	const created = await object({ operation: 'create', resource: 'document', title: 'Report' });
	const { documentId } = created as unknown as Created;
	const bold = { content: '**a**\n', contentFormat };
	const written = await object({ operation: 'write', documentId, ...bold });
	const revisionId = calls.google.docs.revisionOf(documentId);
	expect(written).toEqual({ documentId, characterCount: 1, revisionId });
	const line = { documentId: url(documentId), content: '\n' };
	expect(await object({ operation: 'append', ...line })).toMatchObject({ documentId });
	const read = { operation: 'read', documentId };
	expect(await object({ ...read, format: 'markdown' })).toMatchObject({ content: '**a**' });
	expect(await object({ ...read, format: 'structure' })).toMatchObject({ tabs: [{}] });
});

const sectioned = { operation: 'write', documentId: '1abc', content: 'x', section: 'A' };
const replacements = [{ find: 'a', replace: '# b', format: 'markdown' }];
const marked = { operation: 'write', documentId: '1abc', content: '', replacements };

test('an expression that finds no section replaces nothing', async () => {
	const id = calls.document('kept');
	const inputObject = `={{ { operation: 'write', documentId: '${id}', content: 'x', section: $json.none } }}`;
	const running = run({ inputMode: 'json', inputObject });
	await expect(running).rejects.toThrow("'section' is empty");
	expect(calls.google.docs.text(id)).toBe('kept\n');
});

const create = { operation: 'create', resource: 'document' };
const noObjects = /'replacements' must be an array of objects/;
const notTogether = /'section' cannot be used together with 'replacements'/;
const nothingToFind = /has an empty text to find/;

test.each<[IDataObject, RegExp]>([
	[{ operation: 'read', documentId: 'a/b' }, /documentId/],
	[{ operation: 'read', documentId: '1abc', format: 'html' }, /format.*markdown.*pdf.*text/],
	[{ operation: 'write', documentId: '1abc' }, /'content' is required/],
	[{ operation: 'write', documentId: '1abc', allowEmpty: true }, /'content' is required/],
	[{ ...marked, replacements: 'x' }, noObjects],
	[{ operation: 'write', documentId: '1abc', content: '' }, /'content' is empty/],
	[{ ...sectioned, section: ' ' }, /'section' is empty/],
	[{ ...sectioned, content: '', replacements }, notTogether],
	[{ ...sectioned, fillFromInput: true }, notTogether],
	[{ ...marked, replacements: [{ find: 'a', format: 'html' }] }, /format \(text or markdown\)/],
	[{ ...marked, replacements: { a: 'b' } }, noObjects],
	[{ ...marked, replacements: [{ find: '', format: 'markdown' }] }, nothingToFind],
	[{ ...marked, replacements: [{ find: ' \n ', format: 'markdown' }] }, nothingToFind],
	[{ operation: 'append', documentId: '1abc', content: '' }, /content/],
	[create, /title/],
	[{ ...create, title: 'T', templateId: '' }, /'templateId' is empty/],
	[{ operation: 'write', documentId: '1abc', content: 'x', newParagraph: true }, /newParagraph/],
	[{ operation: 'append', documentId: '1abc', content: 5 }, /content/],
])('refused before any request: %j', async (inputObject, message) => {
	const { message: text } = await failureOf(object(inputObject));
	expect(text).toMatch(message);
	expect(calls.sent).toEqual([]);
});

test('a text to find that is empty for a later item stops the node before anything is sent', async () => {
	const row = { find: '={{ $json.find }}', replace: 'x', format: 'text' };
	const options = { replacements: { replacement: [row] } };
	const items = [{ json: { find: 'a' } }, { json: { find: '' } }];
	const target = { documentId: locator(calls.document('a')), replace: 'document', content: '' };
	const failure = await failureOf(form('write', { ...target, options }, items));
	expect(failure.message).toBe("'Replacements' has an empty text to find");
	expect(failure.description).toContain(
		'If it contains {{ }}, set it to Fixed. Otherwise n8n evaluates it as an expression.',
	);
	expect(calls.sent).toEqual([]);
});

test('a document whose content failed is named', async () => {
	calls.google.fault({ match: 'docs.documents.batchUpdate', status: 403 });
	const failure = await failureOf(form('create', { title: 'T', content: 'x' }));
	expect(failure.description).toContain(calls.google.files.listAll()[0]?.id);
});

test('items of one document go in one after the other', async () => {
	const id = calls.document();
	const items = Array.from({ length: 5 }, (_, n) => ({ json: { n } }));
	const target = { resource: 'document', operation: 'append', documentId: locator(id) };
	const output = await run({ ...target, content: '={{ $json.n }}' }, items);
	expect(calls.google.docs.text(id)).toBe('0\n1\n2\n3\n4\n');
	expect(output.map(({ pairedItem }) => pairedItem)).toEqual(items.map((_, item) => ({ item })));
});
