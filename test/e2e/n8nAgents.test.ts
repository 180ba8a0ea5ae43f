// n8n's own agents outside of workflows: its Agents, which run a node by itself, and its Chat Hub, which makes a workflow for each turn.
import { randomUUID } from 'node:crypto';

import type { ExecuteFields } from '../../dev/agent-service/request.ts';
import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { type ChatModel, startChatModel } from '../../dev/chat-model/server.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { fetchPublished } from '../../dev/n8n/forms.ts';
import { type Credentials, storeAgent, storeSignIn } from './credentials';
import { useSharedN8n, type SharedN8n } from './startTestN8n';
import {
	expectWholeTable,
	findNextCall,
	fromModel,
	seedLongTable,
	toolParameters,
} from './workspaceTools';

let service: AgentService;
let google: GoogleServer;
let model: ChatModel;
let n8n: SharedN8n;
let openAi: { id: string; name: string };
let credentials: Record<string, Credentials>;

beforeAll(async () => {
	service = await startAgentService();
	google = await startGoogle();
	model = await startChatModel();
	n8n = await useSharedN8n();
	const { api } = n8n;
	openAi = await api.createCredential('openAiApi', 'Model of agents', {
		apiKey: 'none',
		url: model.url,
	});
	credentials = {
		agentExecuteTool: await storeAgent(api, service),
		workspaceTool: await storeSignIn(api, google),
	};
});
beforeEach(() => {
	service.requests.length = 0;
	model.requests.length = 0;
});
afterEach(() => {
	expectNoViolations(google);
});
afterAll(async () => {
	await model.close();
	await google.close();
	await service.close();
});

interface Tool {
	readonly name: string;
	readonly type: 'agentExecuteTool' | 'workspaceTool';
	readonly parameters: Record<string, unknown>;
}

const askAgent: Tool = {
	name: 'Ask agent',
	type: 'agentExecuteTool',
	parameters: {
		startStepName: 'start',
		task: 'Calculate',
		input: fromModel('Input'),
		waitForMessages: true,
		waitUntil: 'match',
		matchField: 'type',
		matchValue: 'answer',
	},
};
const sendEmail: Tool = {
	name: 'Send email',
	type: 'workspaceTool',
	parameters: {
		resource: 'mail',
		operation: 'send',
		to: fromModel('To'),
		subject: fromModel('Subject'),
		body: fromModel('Body'),
	},
};
const readRows: Tool = {
	name: 'Read rows',
	type: 'workspaceTool',
	parameters: toolParameters['Read rows'] ?? {},
};
const mail = { To: 'ann@example.com', Subject: 'Hi', Body: 'By a model' };

interface Call {
	readonly tool: string;
	readonly args: Record<string, unknown>;
}

/**
 * The model calls one tool after another, goes on as the last answer says, then repeats what the last one gave.
 * @param findNext finds the call that an answer asks for
 */
function callsTools(
	calls: readonly Call[],
	findNext?: (answer?: string) => Call | undefined,
): void {
	model.answer(({ tools, toolAnswers }) => {
		// Asked for a title of the chat, it has no tools.
		const next =
			tools.length > 0
				? (calls[toolAnswers.length] ?? findNext?.(toolAnswers.at(-1)))
				: undefined;
		return next ? [next] : `The tool gave: ${toolAnswers.at(-1) ?? ''}`;
	});
}

const inputs = () =>
	service.requests.map(({ body }) => {
		const { initialPayload } = body as ExecuteFields;
		return (JSON.parse(initialPayload) as { input: string }).input;
	});

describe("n8n's Agents", () => {
	interface Event {
		readonly type: string;
		readonly [key: string]: unknown;
	}
	let agents: string;
	let agentId: string;

	async function agentWith(tools: readonly Tool[], more: object = {}): Promise<void> {
		const { id } = await n8n.api.request<{ id: string }>('GET', 'projects/personal');
		agents = `projects/${id}/agents/v2`;
		const created = await n8n.api.request<{ id: string }>('POST', agents, { name: 'Helper' });
		agentId = created.id;
		const nodeTools = tools.map(({ name, type, parameters }) => ({
			type: 'node',
			name,
			description: `Runs ${name}`,
			node: {
				nodeType: `n8n-nodes-agent-workspace.${type}`,
				nodeTypeVersion: 1,
				nodeParameters: parameters,
				credentials: credentials[type],
			},
			...more,
		}));
		const instructions = 'Use your tools.';
		const config = {
			name: 'Helper',
			model: 'openai/scripted',
			credential: openAi.id,
			instructions,
			tools: nodeTools,
		};
		const before = await n8n.api.request<{ configHash: string }>(
			'GET',
			`${agents}/${agentId}/config`,
		);
		await n8n.api.request('PUT', `${agents}/${agentId}/config`, {
			config,
			baseConfigHash: before.configHash,
		});
	}

	/** What n8n streams to the chat of the agent. */
	async function stream(path: string, body: object): Promise<Event[]> {
		const answer = await fetchPublished(`${n8n.url}/rest/${agents}/${agentId}/${path}`, {
			method: 'POST',
			headers: {
				cookie: n8n.api.cookie,
				'browser-id': 'n8n-nodes-agent-workspace-dev',
				'content-type': 'application/json',
			},
			body: JSON.stringify(body),
		});
		const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: '));
		return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Event);
	}

	test('ask our agent, wait for its answer, and send an email', async () => {
		await agentWith([askAgent, sendEmail]);
		callsTools([
			{ tool: 'Ask_agent', args: { Input: '6 x 7' } },
			{ tool: 'Send_email', args: mail },
		]);
		const before = google.gmail.sent.length;
		const events = await stream('chat', { message: 'Work.' });
		expect(events.filter(({ type }) => type === 'error')).toEqual([]);
		expect(inputs()).toEqual(['6 x 7']);
		expect(model.requests.at(-1)?.toolAnswers[0]).toContain('Done: 6 x 7');
		expect(google.gmail.sent).toHaveLength(before + 1);
	});

	test('read from the message of a tool that fails what to do', async () => {
		const inputObject = fromModel('Input_Object', 'json');
		const parameters = { inputMode: 'json', inputObject, allowedOperations: ['mail.list'] };
		await agentWith([{ name: 'Mailbox', type: 'workspaceTool', parameters }]);
		const refused = { operation: 'send', to: 'ann@example.com', subject: 'Hi', body: 'Text' };
		callsTools([
			{ tool: 'Mailbox', args: { Input_Object: refused } },
			{ tool: 'Mailbox', args: { Input_Object: { operation: 'list', maxResults: 1 } } },
		]);
		const before = google.gmail.sent.length;
		await stream('chat', { message: 'Work.' });
		const [failed, listed] = model.requests.at(-1)?.toolAnswers ?? [];
		expect(failed).toMatch(/is not allowed here.*Allowed Operations/);
		expect(listed).toContain('0 of 0 emails are shown');
		expect(google.gmail.sent).toHaveLength(before);
	});

	test('tell the model the name of a tool, and not the description in its form', async () => {
		await agentWith([sendEmail], { description: undefined });
		callsTools([]);
		await stream('chat', { message: 'Work.' });
		const own = model.requests.at(-1)?.tools.find(({ name }) => name === 'Send_email');
		expect(own?.description).toBe('Execute the n8n-nodes-agent-workspace.workspaceTool node');
	});

	test('get a long table in parts, and all of it by what each part says', async () => {
		await agentWith([readRows]);
		const first = seedLongTable(google);
		callsTools([first], (answer) => findNextCall(first, answer));
		await stream('chat', { message: 'Work.' });
		expectWholeTable(model.requests.at(-1)?.toolAnswers ?? []);
	});

	test.each([
		['approved', true, 1],
		['declined', false, 0],
	])('ask a person first: a tool that is %s', async (_name, approved, mails) => {
		await agentWith([sendEmail], { requireApproval: true });
		callsTools([{ tool: 'Send_email', args: mail }]);
		const before = google.gmail.sent.length;
		const events = await stream('chat', { message: 'Work.' });
		const asked = events.find(({ type }) => type === 'tool-call-suspended');
		expect(google.gmail.sent).toHaveLength(before);
		const { runId, toolCallId } = asked?.payload as { runId: string; toolCallId: string };
		await stream('chat/resume', { runId, toolCallId, resumeData: { approved } });
		expect(google.gmail.sent).toHaveLength(before + mails);
	});
});

describe("n8n's Chat Hub", () => {
	test('asks our agent in a chat, waits for its answer, sends an email, and reads a long table', async () => {
		const before = google.gmail.sent.length;
		const settings = {
			provider: 'openai',
			enabled: true,
			credentialId: openAi.id,
			allowedModels: [],
			responsesApiEnabled: false,
			createdAt: new Date().toISOString(),
			updatedAt: null,
		};
		await n8n.api.request('PUT', 'chat/enabled', { enabled: true });
		await n8n.api.request('POST', 'chat/settings', { payload: settings });
		for (const { name, type, parameters } of [askAgent, sendEmail, readRows]) {
			const definition = {
				id: randomUUID(),
				name,
				type: `n8n-nodes-agent-workspace.${type}`,
				typeVersion: 1,
				position: [0, 0],
				parameters,
				credentials: credentials[type],
			};
			await n8n.api.request('POST', 'chat/tools', { definition });
		}
		const first = seedLongTable(google);
		const calls = [
			{ tool: 'Ask_agent', args: { Input: '6 x 7' } },
			{ tool: 'Send_email', args: mail },
			first,
		];
		callsTools(calls, (answer) => findNextCall(first, answer));
		const sessionId = randomUUID();
		await n8n.api.request('POST', 'chat/conversations/send', {
			messageId: randomUUID(),
			sessionId,
			message: 'Work.',
			model: { provider: 'openai', model: 'scripted' },
			previousMessageId: null,
			credentials: { openAiApi: openAi },
			attachments: [],
			timeZone: 'UTC',
		});
		interface Message {
			readonly type: string;
			readonly content: ReadonlyArray<{ readonly content: string }>;
		}
		const said = async () => {
			const { conversation } = await n8n.api.request<{
				conversation: { messages: Record<string, Message> };
			}>('GET', `chat/conversations/${sessionId}`);
			const { messages } = conversation;
			return Object.values(messages).flatMap(({ content }) =>
				content.map((part) => part.content),
			);
		};
		const isOver = async () =>
			(await said()).some((text) => text.startsWith('The tool gave: '));
		while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 100));
		expect(inputs()).toEqual(['6 x 7']);
		expect(model.requests.flatMap(({ toolAnswers }) => toolAnswers)).toContainEqual(
			expect.stringContaining('Done: 6 x 7'),
		);
		expect(google.gmail.sent).toHaveLength(before + 1);
		const reader = model.requests
			.flatMap(({ tools }) => tools)
			.find(({ name }) => name === 'Read_rows');
		expect(reader?.description).toMatch(/^Read rows in Google Sheets/);
		const longest = model.requests
			.map(({ toolAnswers }) => toolAnswers)
			.sort((a, b) => b.length - a.length)[0];
		expectWholeTable(longest?.slice(2) ?? []);
		// n8n removes the workflow of the turn, with its execution.
		const isKept = async () => {
			const { results } = await n8n.api.request<{
				results: Array<{ workflowName: string | null }>;
			}>('GET', 'executions?limit=100');
			return results.some(({ workflowName }) => workflowName?.includes(sessionId));
		};
		while (await isKept()) await new Promise((resolve) => setTimeout(resolve, 100));
	});
});
