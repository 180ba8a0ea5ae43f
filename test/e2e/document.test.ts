import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { readExample } from '../../dev/examples.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import type { NodeItem } from '../../dev/n8n/n8nApi.ts';
import { type Credentials, storeAgent, storeSignIn } from './credentials';
import { items, manualTrigger, node, useSharedN8n, type SharedN8n } from './startTestN8n';
import { agentType, inRow, outputOf, workspaceType } from './workflows';

let agent: AgentService;
let google: GoogleServer;
let n8n: SharedN8n;
/** By the type of the node. */
let credentials: Record<string, Credentials>;

beforeAll(async () => {
	agent = await startAgentService({
		messages: () => [{ type: 'answer', text: '# Report\n\n- all **good**\n- nothing to do' }],
	});
	google = await startGoogle();
	n8n = await useSharedN8n();
	credentials = {
		[agentType]: await storeAgent(n8n.api, agent),
		[workspaceType]: await storeSignIn(n8n.api, google),
	};
});
afterAll(async () => {
	await google.close();
	await agent.close();
});
afterEach(() => {
	expectNoViolations(google);
});

/** Runs nodes of the Workspace in a row after items. @returns what each gave */
async function runInRow(values: readonly object[], ...parameters: object[]): Promise<NodeItem[][]> {
	const more = { credentials: credentials[workspaceType] };
	const nodes = parameters.map((given, at) =>
		node(`Step ${at}`, workspaceType, { ...given }, more),
	);
	const all = [manualTrigger(), items('Items', values), ...nodes];
	const execution = await n8n.api.runOnce(inRow('documents', ...all));
	expect(execution.resultData.error).toBeUndefined();
	return nodes.map(({ name }) => outputOf(execution, name));
}

const byId = (value: string) => ({ __rl: true, mode: 'id', value });
const created = '={{ $("Step 0").item.json.documentId }}';
const content = '# One\n\n1. a\n   - b\n2. c\n\n| x | y |\n| - | - |\n| 1 | 2 |';

test('create, append, write and read by the form', async () => {
	const document = { resource: 'document', documentId: byId(created) };
	const [first = [], second = [], third = [], fourth = [], fifth = []] = await runInRow(
		[{ title: 'A' }, { title: 'B' }],
		{ resource: 'document', title: '={{ $json.title }}', content, contentFormat: 'markdown' },
		{ ...document, operation: 'append', content: 'end 😀' },
		{ ...document, operation: 'read', format: 'markdown' },
		{ ...document, operation: 'write', replace: 'document', content: 'new\ntext' },
		{ ...document, operation: 'read' },
	);
	expect(first.map(({ json }) => json['title'])).toEqual(['A', 'B']);
	expect(second.map(({ json }) => json['characterCount'])).toEqual([6, 6]);
	expect(third.map(({ json }) => json['content'])).toEqual([
		`${content}\n\nend 😀`,
		`${content}\n\nend 😀`,
	]);
	expect(fourth.map(({ json }) => json['characterCount'])).toEqual([8, 8]);
	expect(fifth.map(({ json }) => [json['title'], json['content']])).toEqual([
		['A', 'new\ntext'],
		['B', 'new\ntext'],
	]);
});

/** A line of a document. */
function line(text: string, namedStyleType = 'NORMAL_TEXT') {
	return {
		paragraph: {
			elements: [{ textRun: { content: `${text}\n` } }],
			paragraphStyle: { namedStyleType },
		},
	};
}

test('sections, and Markdown in place of a placeholder, by the form and by the input object', async () => {
	const body = [
		line('Plan', 'HEADING_1'),
		line('old'),
		line('Results', 'HEADING_1'),
		line('{{results}}'),
	];
	const template = google.docs.seed({ title: 'Template', tabs: [{ body }] });
	const replacement = [{ find: '{{results}}', replace: '={{ $json.text }}', format: 'markdown' }];
	const document = { resource: 'document', documentId: byId(created) };
	const [made = [], , , read = []] = await runInRow(
		[{ text: '- one\n- two' }],
		{
			resource: 'document',
			title: 'Filled',
			from: 'template',
			templateId: byId(template),
			replacements: { replacement },
		},
		{
			...document,
			operation: 'append',
			content: '**three**',
			contentFormat: 'markdown',
			options: { underHeading: 'Results' },
		},
		{
			inputMode: 'json',
			inputObject:
				'={{ { operation: "write", documentId: $json.documentId, content: "new", section: "Plan" } }}',
		},
		{ ...document, operation: 'read', format: 'markdown' },
	);
	expect(made.map(({ json }) => json['replaced'])).toEqual([[{ find: '{{results}}', count: 1 }]]);
	expect(read.map(({ json }) => json['content'])).toEqual([
		'# Plan\n\nnew\n\n# Results\n\n- one\n- two\n\n**three**',
	]);
});

test('the example writes the answer of an agent into a section, however often', async () => {
	const example = await readExample('answer-in-a-section.json');
	const body = [
		line('Results', 'HEADING_1'),
		line('old'),
		line('Next week', 'HEADING_1'),
		line('kept'),
	];
	const documentId = byId(google.docs.seed({ title: 'Weekly report', tabs: [{ body }] }));
	const nodes = example.nodes.map((one) => {
		const parameters = one['parameters'] as object;
		const chosen = 'documentId' in parameters ? { ...parameters, documentId } : parameters;
		return { ...one, parameters: chosen, credentials: credentials[String(one['type'])] };
	});
	for (let run = 0; run < 2; run++) {
		expect((await n8n.api.runOnce({ ...example, nodes })).status).toBe('success');
		expect(google.docs.text(documentId.value)).toBe(
			'Results\nReport\nall good\nnothing to do\nNext week\nkept\n',
		);
	}
});
