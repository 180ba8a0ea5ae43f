import { randomUUID } from 'node:crypto';

import { type ChatModel, startChatModel } from '../../dev/chat-model/server.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { standardScopes } from '../../dev/google/tokens.ts';
import type { Execution } from '../../dev/n8n/n8nApi.ts';
import { buildAgentWorkflow, connectTools, node } from '../../dev/n8n/nodes.ts';
import { type Credentials, storeSignIn } from './credentials';
import { McpClient } from './mcpClient';
import { useSharedN8n, type SharedN8n } from './startTestN8n';
import {
	everyTool,
	expectWholeTable,
	findNextCall,
	fromModel,
	seedLongTable,
	toolNode,
	toolNodes,
	toolParameters,
	valueIn,
} from './workspaceTools';

let google: GoogleServer;
let model: ChatModel;
let n8n: SharedN8n;
let workspace: Credentials;
let openAi: object;

beforeAll(async () => {
	google = await startGoogle();
	model = await startChatModel();
	n8n = await useSharedN8n();
	workspace = await storeSignIn(n8n.api, google);
	openAi = await n8n.api.createCredential('openAiApi', 'Scripted model', {
		apiKey: 'none',
		url: model.url,
	});
});
afterEach(() => {
	expectNoViolations(google);
	model.requests.length = 0;
});
afterAll(async () => {
	await model.close();
	await google.close();
});

/** n8n's AI Agent with the scripted model and tools. */
const runAgent = async (
	tools: Array<ReturnType<typeof toolNode>>,
	typeVersion: number,
): Promise<Execution> =>
	await n8n.api.runOnce(buildAgentWorkflow(tools, { openAiApi: openAi, typeVersion }));

test.each([3.1, 2.2])('with AI Agent %d a model calls every operation', async (version) => {
	const ids: Record<string, string> = {};
	model.answer(({ toolAnswers }) => {
		const last = everyTool[toolAnswers.length - 1];
		if (last?.gives) ids[last.gives[0]] = valueIn(toolAnswers.at(-1) ?? '', last.gives[1]);
		const next = everyTool[toolAnswers.length];
		return next ? [{ tool: next.tool, args: next.args(ids) }] : 'All done.';
	});
	const execution = await runAgent(toolNodes(workspace), version);
	expect(execution.resultData.runData['AI Agent']?.[0]?.data?.main?.[0]?.[0]?.json.output).toBe(
		'All done.',
	);
	const answers = model.requests.at(-1)?.toolAnswers ?? [];
	expect(answers).toHaveLength(everyTool.length);
	for (const answer of answers) expect(answer).not.toMatch(/error/i);
	expect(google.gmail.sent.length).toBeGreaterThan(0);
});

test('a model gets a long table in parts, by what each says', async () => {
	const first = seedLongTable(google);
	model.answer(({ toolAnswers }) => {
		const next = toolAnswers.length === 0 ? first : findNextCall(first, toolAnswers.at(-1));
		return next ? [next] : 'All read.';
	});
	await runAgent([toolNode('Read rows', toolParameters['Read rows'] ?? {}, workspace)], 3.1);
	expectWholeTable(model.requests.at(-1)?.toolAnswers ?? []);
});

test('the model reads what each tool does, and which cannot be undone', async () => {
	model.answer(() => 'Nothing to do.');
	await runAgent(toolNodes(workspace), 3.1);
	const told = new Map(
		model.requests[0]?.tools.map(({ name, description }) => [name, description]),
	);
	expect(told.get('Append_rows')).toMatch(/^Add rows below a table/);
	expect(told.get('Append_rows')).toContain('Spreadsheet, if available: ID or URL.');
	expect(told.get('Read_document')).toMatch(
		/Start Character, if available, continues a long answer/,
	);
	expect(told.get('Write_document')).toContain('Destructive');
	expect(told.get('Write_rows')).toContain('Destructive');
	expect(told.get('Send_email')).toContain('cannot be undone');
	for (const description of told.values()) expect(description.length).toBeLessThan(1024);
});

describe('a file that the user has chosen from the list', () => {
	const title = 'Ann\'s `guests` {{ 1 }} "2027"';
	const buildReader = (text: string) =>
		toolNode(
			'Read guests',
			{
				resource: 'spreadsheet',
				operation: 'read',
				spreadsheetId: {
					__rl: true,
					mode: 'list',
					value: '1Qm7xWc0aVbR2yKt4hL9',
					cachedResultName: title,
				},
				tab: { __rl: true, mode: 'list', value: 'Family', cachedResultName: 'Family' },
				toolDescription: text,
			},
			workspace,
		);
	/** As docs/ai.md has it. */
	const named =
		"=Reads the tab {{ $parameter.tab }} of {{ $('Read guests').params.spreadsheetId.cachedResultName }}.";
	const told = `Reads the tab Family of ${title}.`;

	test.each([3.1, 2.2])(
		'with AI Agent %d an expression in the description names it',
		async (version) => {
			model.answer(() => 'Nothing to do.');
			await runAgent([buildReader(named)], version);
			expect(model.requests[0]?.tools[0]?.description).toBe(told);
		},
	);

	test('for the clients of an MCP server, too', async () => {
		const callers = await n8n.api.createCredential('httpBearerAuth', 'Callers', {
			token: 'described',
		});
		const server = node(
			'MCP Server',
			'@n8n/n8n-nodes-langchain.mcpTrigger',
			{ authentication: 'bearerAuth', path: 'described' },
			{ typeVersion: 2, webhookId: randomUUID(), credentials: { httpBearerAuth: callers } },
		);
		const workflow = await n8n.api.createWorkflow({
			name: 'Described',
			nodes: [server, buildReader(named)],
			connections: connectTools(['Read guests'], 'MCP Server'),
		});
		await n8n.api.activate(workflow);
		const client = new McpClient(`${n8n.url}/mcp/described`, 'described');
		await client.connect();
		expect((await client.tools()).map(({ description }) => description)).toEqual([told]);
	});
});

test('a model that may only save drafts, and write to some people alone, does neither more', async () => {
	const allowedRecipients = 'example.com';
	const scopes = [...standardScopes, 'gmail.compose'];
	const withDrafts = await storeSignIn(n8n.api, google, scopes);
	const drafts = {
		inputMode: 'json',
		allowedOperations: ['mail.sendDraft'],
		inputObject: fromModel('Input_Object', 'json'),
	};
	const tools = [
		toolNode('Drafts', { ...drafts, allowedRecipients }, withDrafts),
		toolNode(
			'Send email',
			{ ...toolParameters['Send email'], options: { allowedRecipients } },
			workspace,
		),
	];
	const mail = { operation: 'send', subject: 'Hi', body: 'By a model' };
	const [friend, stranger] = ['ann@example.com', 'evil@evil.example'];
	const draft = (given: object) => ({
		tool: 'Drafts',
		args: { Input_Object: { ...mail, ...given } },
	});
	const send = (To: string) => ({
		tool: 'Send_email',
		args: { To, Subject: 'Hi', Body: 'By a model' },
	});
	const calls = [
		draft({ to: friend }),
		draft({ to: stranger, saveAsDraft: true }),
		draft({ to: friend, headers: { Bcc: stranger }, saveAsDraft: true }),
		draft({ to: friend, saveAsDraft: true }),
		send(stranger),
		send(`${friend}, ${stranger}`),
		send(friend),
	];
	model.answer(({ toolAnswers }) => {
		const next = calls[toolAnswers.length];
		return next ? [next] : 'All done.';
	});
	const { sent, drafts: saved } = google.gmail;
	const before = [sent.length, saved.length];
	await runAgent(tools, 3.1);
	const answers = model.requests.at(-1)?.toolAnswers ?? [];
	expect(answers).toHaveLength(calls.length);
	expect(answers[0]).toMatch(/not allowed here without 'saveAsDraft'/);
	for (const at of [1, 4, 5]) expect(answers[at]).toContain(`does not include ${stranger}`);
	for (const at of [3, 6]) expect(answers[at]).not.toMatch(/error/i);
	expect(sent.slice(before[0]).map(({ recipients }) => recipients)).toEqual([[friend]]);
	expect(saved.slice(before[1]).map(({ recipients }) => recipients)).toEqual([[friend]]);
});

describe('one tool for any input object', () => {
	const anything = (more: object = {}) => ({
		...toolNode(
			'Workspace',
			{ inputMode: 'json', inputObject: fromModel('Input_Object', 'json') },
			workspace,
		),
		...more,
	});

	test('names operations and keys in its description', async () => {
		model.answer(() => 'Nothing to do.');
		await runAgent([anything()], 3.1);
		expect(model.requests[0]?.tools[0]?.description).toMatch(
			/mail send: replyToMessageId, to, subject, body\*/,
		);
	});

	/** Up to 2.x the agent hands its model an empty text for whatever a tool throws, of any node: there the tool is set to go on. */
	test.each([
		[3.1, {}],
		[2.2, { onError: 'continueRegularOutput' }],
	])(
		'with AI Agent %d a wrong key is put right by the model from the message alone',
		async (version, more) => {
			const wrong = {
				operation: 'send',
				to: 'ann@example.com',
				mailSubject: 'Corrected',
				body: 'Text',
			};
			model.answer(({ toolAnswers }) => {
				const last = toolAnswers.at(-1);
				if (last === undefined)
					return [{ tool: 'Workspace', args: { Input_Object: wrong } }];
				const [, unknown] = /'(mailSubject)'/.exec(last) ?? [];
				const allowed = /Allowed keys: ([^.]*)/.exec(last)?.[1]?.split(', ') ?? [];
				const right = allowed.find((key) =>
					unknown?.toLowerCase().includes(key.toLowerCase()),
				);
				if (right === undefined) return `Failed or done: ${last}`;
				const { mailSubject, ...rest } = wrong;
				return [
					{
						tool: 'Workspace',
						args: { Input_Object: { ...rest, [right]: mailSubject } },
					},
				];
			});
			const before = google.gmail.sent.length;
			await runAgent([anything(more)], version);
			expect(model.requests[1]?.toolAnswers[0]).toMatch(
				/mailSubject.*Allowed keys: .*subject/s,
			);
			expect(google.gmail.sent).toHaveLength(before + 1);
		},
	);
});
