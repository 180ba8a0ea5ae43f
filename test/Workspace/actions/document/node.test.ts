import { type IDataObject, type INodeExecutionData, NodeHelpers } from 'n8n-workflow';

import { Workspace } from '../../../../nodes/Workspace/Workspace.node';
import { failureOf } from '../../../createExecuteContext';
import { testItem } from '../../client';
import { runNode, token } from '../../runNode';
import { Calls } from './calls';

const calls = new Calls();
const contentFormat = 'markdown';

const locator = (value: string, mode = 'id') => ({ __rl: true, mode, value });
const url = (id: string, end = '') => `https://docs.google.com/document/d/${id}/edit${end}`;

beforeEach(() => {
	calls.google.tokens.issue({ token });
});

/** A row of the form that nobody filled in. */
const noRow = { find: '', replace: '', format: 'text' };

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

const idOf = ({ documentId }: IDataObject) => documentId as string;

test('all four operations by the form', async () => {
	const content = '# Title\n\n- a\n- b';
	const created = await form('create', { title: 'Report', content, contentFormat });
	const documentId = locator(url(idOf(created), '?usp=sharing#heading=h.1'), 'url');
	expect(Object.keys(created)).toEqual(['documentId', 'documentUrl', 'title']);
	expect(created).toMatchObject({ title: 'Report', documentUrl: url(idOf(created)) });
	const appended = await form('append', { documentId, content: 'more' });
	expect(appended['characterCount']).toBe(5);
	const whole = { title: 'Report', content: '# Title\n\n- a\n- b\n- more' };
	expect(await form('read', { documentId, format: 'markdown' })).toMatchObject(whole);
	const written = await form('write', { documentId, replace: 'document', content: 'new' });
	expect(written['characterCount']).toBe(3);
	expect(await form('read', { documentId })).toMatchObject({ content: 'new', characterCount: 3 });
});

describe('the tab in the URL of a document', () => {
	const write = { operation: 'write', resource: 'document', content: 'new' };
	const read = { operation: 'read', resource: 'document' };

	test.each([
		['?tab=t.n'],
		['?tab=t%2En'],
		['?tab=%74.n'],
		['?usp=sharing&tab=t.n'],
		['?tab=t.n#heading=h.abc'],
		['?tab=t.n&pli=1#bookmark=id.x'],
		['?usp=sharing&amp;tab=t.n'],
		['%3Fusp%3Dsharing%26tab%3Dt.n%23heading%3Dh.abc'],
	])('%s is where it reads, writes and appends', async (query) => {
		const id = calls.withNotes('first');
		const documentId = url(id, query);
		await object({ ...write, documentId });
		await object({ ...write, operation: 'append', documentId, content: '!' });
		await form('append', { documentId: locator(documentId, 'url'), content: '?' });
		expect([calls.text(id), calls.text(id, 't.n')]).toEqual(['first\n', 'new!\n?\n']);
		expect(await object({ ...read, documentId })).toMatchObject({ content: 'new!\n?' });
	});

	test.each(['#tab=t.n', '#heading=h.1?tab=t.n', '?tab=', ''])('%s names no tab', async (end) => {
		const id = calls.withNotes('first');
		await object({ ...write, documentId: url(id, end) });
		expect(calls.text(id)).toBe('new\n');
	});

	test('gives way to a tab of its own field', async () => {
		const id = calls.withNotes('first');
		await object({ ...write, documentId: url(id, '?tab=t.n'), tab: 'Tab 1' });
		expect(calls.text(id)).toBe('new\n');
	});

	test("is the one of Google's resource", async () => {
		const documentId = url(calls.withNotes('first'), '?tab=t.n');
		const { tabs } = await object({ ...read, format: 'structure', documentId });
		expect(tabs).toMatchObject([{ tabProperties: { tabId: 't.n' } }]);
	});

	test.each([write, { ...read, format: 'structure' }])('must exist: %j', async (operation) => {
		const documentId = url(calls.withNotes('first'), '?tab=t.gone');
		const running = object({ ...operation, documentId });
		await expect(running).rejects.toThrow("The document has no tab 't.gone'");
	});
});

test.each(['write', 'append'] as const)(
	'%s names the first of several tabs if none was chosen',
	async (operation) => {
		const several = calls.withNotes('a');
		const hintsOf = async (id: string, tab = '') => {
			const item = testItem();
			await calls[operation](id, { content: 'x', tab }, item);
			return item.hints;
		};
		expect(await hintsOf(several)).toEqual([
			"The document has 2 tabs. The content went to the first one: 'Tab 1'.",
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
	const tab = locator('Notes', 'name');
	const inUrl = (id: string) => locator(url(id, '?tab=t.n'), 'url');

	test.each([
		['the tab that is chosen', (id: string) => ({ documentId: locator(id), tab }), 'tab'],
		['the tab that the URL names', (id: string) => ({ documentId: inUrl(id) }), 'tab'],
		['this tab as the document', (id: string) => ({ documentId: inUrl(id) }), 'document'],
	])('is %s', async (_what, target, replace) => {
		const id = calls.withNotes('first');
		await form('write', { ...target(id), replace, content: 'a' });
		expect([calls.text(id), calls.text(id, 't.n')]).toEqual(['first\n', 'a\n']);
	});

	test('is the whole document, whatever section or tab was chosen before', async () => {
		const id = calls.withNotes('first');
		const before = { section: locator('Plan', 'name'), tab };
		const target = { documentId: locator(id), replace: 'document', ...before };
		await form('write', { ...target, content: 'new' });
		expect(calls.text(id)).toBe('new\n');
	});
});

test.each([
	['content', { content: false }],
	['section', { content: 'new', section: locator('', 'list') }],
	['allowEmpty', { content: '', allowEmpty: 'true' }],
])('an input object with a wrong type of %s replaces nothing', async (key, given) => {
	const id = calls.document('first');
	const writing = object({ operation: 'write', documentId: id, ...given });
	await expect(writing).rejects.toThrow(`'${key}' must be `);
	expect(calls.text(id)).toBe('first\n');
});

describe('the form fills', () => {
	const textOf = async (parameters: IDataObject) => {
		const items = [{ json: { name: 'Ann' } }];
		return calls.text(idOf(await form('create', { title: 'T', ...parameters }, items)));
	};

	test('a template from the input item unless that is turned off', async () => {
		const templateId = locator(calls.document('Dear {{ name }},'));
		const template = { from: 'template', templateId };
		expect(await textOf(template)).toBe('Dear Ann,\n');
		expect(await textOf({ ...template, fillFromInput: false })).toBe('Dear {{ name }},\n');
	});

	test('no content', async () => {
		expect(await textOf({ content: 'Hi {{ name }}' })).toBe('Hi {{ name }}\n');
	});

	test('a template that must be chosen', async () => {
		const nameless = form('create', { title: 'T', from: 'template' });
		await expect(nameless).rejects.toThrow("'Template' is required");
	});
});

test('texts and Markdown in a template, and a section, by the form', async () => {
	const templateId = locator(calls.document('{{a}}\nend {{name}}'));
	const replacement = [
		{ find: '{{a}}', replace: '# One\n\nold', format: 'markdown' },
		...[{ find: '{{name}}', replace: 'Ann', format: 'text' }, noRow],
	];
	const template = { from: 'template', templateId, replacements: { replacement } };
	const made = await form('create', { title: 'T', ...template });
	expect(made).toMatchObject({
		replaced: [
			{ find: '{{a}}', count: 1 },
			{ find: '{{name}}', count: 1 },
		],
	});
	const documentId = locator(idOf(made));
	const section = locator('One', 'name');
	await form('write', { documentId, content: '- new', contentFormat, section });
	const options = { underHeading: 'One' };
	await form('append', { documentId, content: 'more', contentFormat, options });
	expect(await calls.markdown(documentId.value)).toBe('# One\n\n- new\n\nmore');
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
	const choices = properties.flatMap((one) => (one.name === 'options' ? one.options : []) ?? []);
	const added = choices.filter(({ name }) => name === 'replacements');
	expect(added).toMatchObject([{ default: options.replacements }]);
	expect(await form('write', parameters)).not.toHaveProperty('replaced');
});

test('a number from an expression is found and put in', async () => {
	const id = calls.document('from 2026 on');
	const row = { find: '={{ 2026 }}', replace: '={{ 2027 }}', format: 'text' };
	const options = { replacements: { replacement: [row] } };
	await form('write', { documentId: locator(id), replace: 'document', content: '', options });
	expect(calls.text(id)).toBe('from 2027 on\n');
});

describe('a replacement of null is an empty text', () => {
	test('by the form', async () => {
		const id = calls.document('a{{note}}');
		const row = { find: '{{note}}', replace: '={{ $json.note }}', format: 'text' };
		const options = { replacements: { replacement: [row] } };
		const target = { documentId: locator(id), replace: 'document', content: '' };
		await form('write', { ...target, options }, [{ json: { note: null } }]);
		expect(calls.text(id)).toBe('a\n');
	});

	test('by the input object', async () => {
		const documentId = calls.document('a{{note}}');
		const replacements = [{ find: '{{note}}', replace: null, format: null }];
		await object({ operation: 'write', content: '', documentId, replacements });
		expect(calls.text(documentId)).toBe('a\n');
	});
});

describe('nothing is sent', () => {
	afterEach(() => {
		expect(calls.sent).toEqual([]);
	});

	const write = () => ({ documentId: locator(calls.document('kept')), content: 'new' });
	const expression = '={{ $json.heading }}';

	const isRequired = "'Section' is required";
	const isEmpty = "The expression in 'Section' is empty for this item";

	test.each([
		['', 'Plan', isRequired],
		[expression, '', isRequired],
		[expression, ' ', isRequired],
		[expression, undefined, isEmpty],
		[undefined, 'Plan', isRequired],
	])('for the section %j, where its field is %j', async (section, heading, message) => {
		const running = form('write', { ...write(), section }, [{ json: { heading } }]);
		await expect(running).rejects.toThrow(message);
	});

	test('for a tab that was left empty', async () => {
		const running = form('write', { ...write(), replace: 'tab' });
		await expect(running).rejects.toThrow("'Tab' is empty");
	});

	test('for an input object whose expression finds no section', async () => {
		const inputObject = `={{ { operation: 'write', documentId: '1abc', content: 'x', section: $json.none } }}`;
		const running = run({ inputMode: 'json', inputObject });
		await expect(running).rejects.toThrow("'section' is empty");
	});

	test('for a text to find that is empty for a later item', async () => {
		const row = { find: '={{ $json.find }}', replace: 'x', format: 'text' };
		const options = { replacements: { replacement: [row] } };
		const items = [{ json: { find: 'a' } }, { json: { find: '' } }];
		const target = { ...write(), replace: 'document', content: '' };
		const failure = await failureOf(form('write', { ...target, options }, items));
		expect(failure.message).toBe("'Replacements' has an empty text to find");
		expect(failure.description).toContain(
			'If it contains {{ }}, set it to Fixed. Otherwise n8n evaluates it as an expression.',
		);
	});

	const documentId = '1abc';
	const sectioned = { operation: 'write', documentId, content: 'x', section: 'A' };
	const replacing = (replacements: unknown) => ({
		...{ operation: 'write', documentId, content: '', replacements },
	});
	const markdown = { find: 'a', replace: '# b', format: 'markdown' };
	const create = { operation: 'create', resource: 'document' };
	const noObjects = /'replacements' must be an array of objects/;
	const notTogether = /'section' cannot be used together with 'replacements'/;
	const nothingToFind = /has an empty text to find/;

	test.each<[object, RegExp]>([
		[{ operation: 'read', documentId: 'a/b' }, /documentId/],
		[{ operation: 'read', documentId, format: 'html' }, /format.*markdown.*pdf.*text/],
		[{ operation: 'write', documentId }, /'content' is required/],
		[{ operation: 'write', documentId, allowEmpty: true }, /'content' is required/],
		[{ operation: 'write', documentId, content: '' }, /'content' is empty/],
		[{ ...sectioned, section: ' ' }, /'section' is empty/],
		[{ ...sectioned, content: '', replacements: [markdown] }, notTogether],
		[{ ...sectioned, fillFromInput: true }, notTogether],
		[replacing('x'), noObjects],
		[replacing({ a: 'b' }), noObjects],
		[replacing([{ find: 'a', format: 'html' }]), /format \(text or markdown\)/],
		[replacing([{ ...markdown, find: '' }]), nothingToFind],
		[replacing([{ ...markdown, find: ' \n ' }]), nothingToFind],
		[{ operation: 'append', documentId, content: '' }, /content/],
		[{ operation: 'append', documentId, content: ['5'] }, /content/],
		[create, /title/],
		[{ ...create, title: 'T', templateId: '' }, /'templateId' is empty/],
		[{ operation: 'write', documentId, content: 'x', newParagraph: true }, /newParagraph/],
	])('for what is refused: %j', async (inputObject, message) => {
		const failure = await failureOf(object({ ...inputObject }));
		expect(failure.message).toMatch(message);
	});
});
