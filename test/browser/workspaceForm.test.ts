import { node } from '../e2e/startTestN8n';
import { Editor } from './editor';

let editor: Editor;

const names = ['Mail', 'Spreadsheet', 'Document', 'File', 'After a choice'];

beforeAll(async () => {
	editor = await Editor.open();
	await editor.show({
		name: 'Form',
		nodes: names.map((name) =>
			node(
				name,
				'n8n-nodes-agent-workspace.workspace',
				name === 'Mail' ? { resource: 'file', operation: 'upload' } : {},
			),
		),
		connections: {},
	});
});
afterAll(async () => {
	await editor.close();
});
afterEach(async () => {
	await editor.picture();
	await editor.closeNode();
});

test.each([
	['Spreadsheet', 'Create', 'title'],
	['Document', 'Create', 'title'],
	['File', 'Upload', 'contentSource'],
	['Mail', 'Send', 'to'],
])(
	'with Resource %s the operation is %s, and its fields are there',
	async (resource, operation, field) => {
		await editor.openNode(resource);
		await editor.choose('resource', resource);
		await editor.parameter(field).waitFor();
		expect(await editor.chosen('operation')).toBe(operation);
	},
);

test('an operation chosen before does not stay when Resource changes', async () => {
	await editor.openNode('After a choice');
	await editor.choose('operation', 'Search');
	await editor.parameter('query').waitFor();
	await editor.choose('resource', 'Spreadsheet');
	await editor.parameter('title').waitFor();
	expect(await editor.chosen('operation')).toBe('Create');
});
