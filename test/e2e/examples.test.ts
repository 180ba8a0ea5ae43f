import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import type { ExecuteFields } from '../../dev/agent-service/request.ts';
import { type ChatModel, startChatModel } from '../../dev/chat-model/server.ts';
import {
	ensureCredentials,
	readExample,
	type StoredCredential,
	withCredentials,
	withDemo,
} from '../../dev/examples.ts';
import { demoSpreadsheet, seedDemo } from '../../dev/google/demo.ts';
import { headerOf, textOf } from '../../dev/google/gmail/mime.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { standardScopes } from '../../dev/google/tokens.ts';
import type { WorkflowDefinition } from '../../dev/n8n/n8nApi.ts';
import { McpClient } from './mcpClient';
import { useSharedN8n, type SharedN8n } from './startTestN8n';
import { everyTool, valueIn } from './workspaceTools';

const apiKey = 'examples-key';
const token = 'examples-token';
const folder = path.join(__dirname, '..', '..', 'examples');
let agent: AgentService;
let google: GoogleServer;
let model: ChatModel;
let n8n: SharedN8n;
let stored: StoredCredential[];
let others: Record<string, Record<string, object>>;

beforeAll(async () => {
	agent = await startAgentService({ apiKey });
	google = await startGoogle();
	model = await startChatModel();
	// One example saves drafts.
	const grant = { scopes: [...standardScopes, 'gmail.compose'] };
	n8n = await useSharedN8n();
	const { api } = n8n;
	stored = await ensureCredentials(api, {
		agent: { url: agent.url, webSocketUrl: agent.webSocketUrl, apiKey },
		google: {
			url: google.url,
			accessToken: google.tokens.issue(grant),
			refreshToken: google.tokens.issueRefresh(grant),
		},
	});
	const bearer = await api.createCredential('httpBearerAuth', 'Callers', { token });
	const header = await api.createCredential('httpHeaderAuth', 'Callers', { name: 'x-token', value: token });
	const openAi = await api.createCredential('openAiApi', 'Model', { apiKey: 'none', url: model.url });
	others = {
		'@n8n/n8n-nodes-langchain.mcpTrigger': { httpBearerAuth: bearer },
		'n8n-nodes-base.webhook': { httpHeaderAuth: header },
		'@n8n/n8n-nodes-langchain.lmChatOpenAi': { openAiApi: openAi },
	};
});
afterEach(() => {
	expectNoViolations(google);
});
afterAll(async () => {
	await model.close();
	await google.close();
	await agent.close();
});

type Change = Record<string, Record<string, unknown>>;

/** An example with credentials, and with what its note says to change, by node. */
function example(file: string, changes: Change = {}): WorkflowDefinition {
	const workflow = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as WorkflowDefinition;
	const nodes = workflow.nodes.map((node) => {
		const parameters = { ...(node['parameters'] as object), ...changes[String(node['name'])] };
		const known = others[String(node['type'])];
		return withCredentials({ ...node, parameters, ...(known && { credentials: known }) }, stored);
	});
	return { ...workflow, nodes };
}

async function publish(file: string, changes?: Change): Promise<void> {
	const workflow = await n8n.api.createWorkflow(example(file, changes));
	await n8n.api.activate(workflow);
}

/** A published address is there a moment after its workflow. */
async function untilThere(url: string, init: RequestInit): Promise<Response> {
	for (;;) {
		const answer = await fetch(url, init);
		const isMissing = answer.status === 404 && /not registered|<!DOCTYPE/.test(await answer.clone().text());
		if (!isMissing) return answer;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}

const mailsSent = () => google.gmail.sent.length;
const byId = (value: string) => ({ __rl: true, mode: 'id', value });

test('every example has a note that says what to change, in words of its own', () => {
	for (const file of readdirSync(folder)) {
		const notes = example(file).nodes.filter(({ type }) => type === 'n8n-nodes-base.stickyNote');
		expect(`${file}: ${JSON.stringify(notes.map(({ parameters }) => parameters))}`).toMatch(
			/\*\*(Change|Publish)/,
		);
	}
});

test('mail-digest: one email with what no earlier digest had', async () => {
	google.gmail.seed({ from: 'Ann <ann@example.com>', subject: 'Lunch?' });
	const workflow = await n8n.api.createWorkflow(
		example('mail-digest.json', {
			'Your settings': {
				assignments: {
					assignments: [{ id: 'a1', name: 'sendTo', type: 'string', value: 'me@example.com' }],
				},
			},
		}),
	);
	const before = mailsSent();
	expect((await n8n.api.run(workflow)).status).toBe('success');
	expect(mailsSent()).toBe(before + 1);
	await n8n.api.run(workflow);
	// The digest itself may lie in the mailbox as a new mail; the mail of the first digest is in none of the later ones.
	const texts = google.gmail.sent.slice(before + 1).map(({ raw }) => raw.toString());
	for (const text of texts) expect(text).not.toContain('Lunch?');
});

test('answer-emails-as-drafts: an answer to each new email waits in its conversation, and nothing is sent', async () => {
	const text = 'Shall we meet?\n\nOn Mon, Nov 23, 2026 at 10:15 AM Sam <me@example.com> wrote:\n> Hello';
	const id = google.gmail.seed({ from: 'Ann <ann@example.com>', subject: 'Meeting', text });
	const workflow = await n8n.api.createWorkflow(example('answer-emails-as-drafts.json'));
	const sent = mailsSent();
	agent.requests.length = 0;
	for (let run = 0; run < 2; run++) expect((await n8n.api.run(workflow)).status).toBe('success');
	const drafts = google.gmail.drafts.filter(({ threadId }) => threadId === id);
	expect(drafts.map(({ recipients }) => recipients)).toEqual([['ann@example.com']]);
	expect(drafts.map(({ mime }) => headerOf(mime.headers, 'Subject'))).toEqual(['Re: Meeting']);
	expect(drafts.map(({ mime }) => textOf(mime))).toEqual([
		expect.stringMatching(/^Done: [^]*\n\r?\nOn .* wrote:\r?\n\r?\n> Shall we meet\?/),
	]);
	const tasks = agent.requests.map(({ body }) => (body as ExecuteFields).initialPayload);
	const task = tasks.find((payload) => payload.includes('Meeting')) ?? '';
	expect(task).toContain('Shall we meet?');
	expect(task).not.toContain('wrote:');
	expect(mailsSent()).toBe(sent);
});

test('chat-with-the-agent: what the agent sends comes piece by piece, turn by turn in one session', async () => {
	await publish('chat-with-the-agent.json', { Chat: { public: true, mode: 'webhook' } });
	const { nodes } = example('chat-with-the-agent.json');
	const webhookId = String(nodes.find(({ name }) => name === 'Chat')?.['webhookId']);
	const say = async (chatInput: string) => {
		const answer = await untilThere(`${n8n.url}/webhook/${webhookId}/chat`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ action: 'sendMessage', sessionId: 'chat-session-1', chatInput }),
		});
		const lines = (await answer.text()).split('\n').filter((line) => line.trim() !== '');
		return lines.map((line) => JSON.parse(line) as { type: string; content?: string });
	};
	agent.requests.length = 0;
	for (const words of ['first turn', 'second turn']) {
		const chunks = await say(words);
		expect(chunks.map(({ type }) => type)).toEqual(expect.arrayContaining(['begin', 'item', 'end']));
		const shown = chunks.filter(({ type }) => type === 'item').map(({ content = '' }) => content.trim());
		expect(shown.slice(0, 3)).toEqual(['Let me see.', 'This takes a moment.', `Done: ${words}`]);
	}
	expect(agent.requests.map(({ body }) => (body as ExecuteFields).sessionId)).toEqual([
		'chat-session-1',
		'chat-session-1',
	]);
});

test('workspace-over-http: an input object in, the result or the error with its status out', async () => {
	await publish('workspace-over-http.json');
	const post = async (body: object) =>
		await untilThere(`${n8n.url}/webhook/workspace`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'x-token': token },
			body: JSON.stringify(body),
		});
	const listed = await post({ operation: 'list', maxResults: 100 });
	expect([listed.status, await listed.json()]).toEqual([200, { messages: expect.any(Array) as unknown[] }]);
	const missing = await post({ operation: 'read', messageId: 'abcdef' });
	expect([missing.status, await missing.json()]).toEqual([
		404,
		{ error: { code: 404, message: expect.any(String) as string, status: 'NOT_FOUND' } },
	]);
	const before = mailsSent();
	const refused = await post({ operation: 'send', to: 'a@example.com', subject: 'x', body: 'y' });
	expect(refused.status).toBe(400);
	expect(JSON.stringify(await refused.json())).toContain('is not allowed here');
	expect(mailsSent()).toBe(before);
});

test('attachments-to-drive: each file once', async () => {
	const raw = [
		'From: Ann <ann@example.com>',
		'To: me@example.com',
		'Subject: Plan',
		'MIME-Version: 1.0',
		'Content-Type: multipart/mixed; boundary=b',
		'',
		'--b\r\nContent-Type: text/plain\r\n\r\nText',
		'--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=plan.txt\r\n\r\nHello',
		'--b--',
		'',
	];
	google.gmail.seed({ raw: raw.join('\r\n'), date: new Date() });
	const workflow = await n8n.api.createWorkflow(example('attachments-to-drive.json'));
	for (let run = 0; run < 2; run++) expect((await n8n.api.run(workflow)).status).toBe('success');
	expect(google.files.all().filter(({ name }) => name === 'plan.txt')).toHaveLength(1);
});

test('rows-to-agent: an answer for each row, in the second tab', async () => {
	const id = google.sheets.seed({
		title: 'Work',
		tabs: [{ title: 'Tasks', rows: [['task'], ['one'], ['two']] }, { title: 'Answers' }],
	});
	const book = { spreadsheetId: byId(id) };
	const workflow = example('rows-to-agent.json', { 'Read the tasks': book, 'Append the answers': book });
	expect((await n8n.api.runOnce(workflow)).status).toBe('success');
	expect(google.sheets.values(id, 'Answers')).toEqual([
		['task', 'answer'],
		['one', 'Done: one'],
		['two', 'Done: two'],
	]);
});

test('rows-by-key: known rows are updated in place, new ones come below, and a second run adds none', async () => {
	const id = google.sheets.seed({
		title: 'Shop',
		tabs: [
			{
				title: 'Orders',
				rows: [
					['id', 'customer', 'state'],
					['A-1', 'Ann', 'open'],
					['A-0', 'Cleo', 'paid'],
				],
			},
		],
	});
	const changes = { 'Update or add': { spreadsheetId: byId(id) } };
	const workflow = await n8n.api.createWorkflow(example('rows-by-key.json', changes));
	for (let run = 0; run < 2; run++) {
		expect((await n8n.api.run(workflow)).status).toBe('success');
		expect(google.sheets.values(id, 'Orders')).toEqual([
			['id', 'customer', 'state'],
			['A-1', 'Ann', 'paid'],
			['A-0', 'Cleo', 'paid'],
			['A-2', 'Ben', 'open'],
		]);
	}
});

test('keep-a-list-up-to-date: each open row is changed in place, nothing else moves, and a second run changes nothing', async () => {
	const rows = [
		['task', 'state', 'cost'],
		['write', 'open', '=1+1'],
		['read', 'done', 2],
		['send', 'open', 3],
	];
	const id = google.sheets.seed({ title: 'Work', tabs: [{ title: 'Tasks', rows }] });
	const book = { spreadsheetId: byId(id) };
	const workflow = await n8n.api.createWorkflow(
		example('keep-a-list-up-to-date.json', { 'Read the open rows': book, 'Write them back': book }),
	);
	expect((await n8n.api.run(workflow)).status).toBe('success');
	const today = expect.any(Number) as number;
	const changed = google.sheets.values(id, 'Tasks');
	expect(changed).toEqual([
		['task', 'state', 'cost', 'done on'],
		['write', 'done', '=1+1', today],
		['read', 'done', 2],
		['send', 'done', 3, today],
	]);
	expect((await n8n.api.run(workflow)).status).toBe('success');
	expect(google.sheets.values(id, 'Tasks')).toEqual(changed);
});

test('fill-a-template: a row becomes a document from the template, its link stands in the row, and a second run makes none', async () => {
	const rows = [
		['id', 'customer'],
		['A-1', 'Ann'],
		['A-2', 'Ben'],
	];
	const id = google.sheets.seed({ title: 'Shop', tabs: [{ title: 'Orders', rows }] });
	const content = 'Dear [customer], thank you for order [id].\n';
	const body = [{ paragraph: { elements: [{ textRun: { content } }] } }];
	const template = google.docs.seed({ title: 'Template', tabs: [{ title: 'Tab 1', body }] });
	const { nodes } = example('fill-a-template.json');
	const { options } = nodes.find(({ name }) => name === 'Fill the template')?.['parameters'] as {
		options: object;
	};
	const changes = {
		'Read the rows': { spreadsheetId: byId(id) },
		'Fill the template': { options: { ...options, templateId: byId(template) } },
		'Add the link': { spreadsheetId: byId(id) },
	};
	const workflow = await n8n.api.createWorkflow(example('fill-a-template.json', changes));
	expect((await n8n.api.run(workflow)).status).toBe('success');
	const filled = google.sheets.values(id, 'Orders');
	const texts = filled.slice(1).map(([, , link]) => {
		const [, documentId = ''] = /\/document\/d\/([^/]+)\/edit$/.exec(String(link)) ?? [];
		return google.docs.text(documentId);
	});
	expect(filled[0]).toEqual(['id', 'customer', 'letter']);
	expect(texts).toEqual(['Dear Ann, thank you for order A-1.\n', 'Dear Ben, thank you for order A-2.\n']);
	expect((await n8n.api.run(workflow)).status).toBe('success');
	expect(google.sheets.values(id, 'Orders')).toEqual(filled);
});

test('what npm start has put there is what the examples with sheets read', async () => {
	seedDemo(google);
	const files = ['keep-a-list-up-to-date', 'fill-a-template', 'rows-by-key', 'rows-to-agent'];
	for (const file of files) {
		const workflow = await n8n.api.createWorkflow(withDemo(await readExample(`${file}.json`), stored));
		const { status, resultData } = await n8n.api.run(workflow);
		expect(`${file}: ${status} ${resultData.error?.message ?? ''}`).toBe(`${file}: success `);
	}
	const rows = (tab: string) => google.sheets.values(demoSpreadsheet.id, tab);
	expect(rows('Tasks').map(([, state]) => state)).toEqual(['state', 'done', 'done']);
	expect(rows('Answers')).toHaveLength(3);
	const [, letter = ''] = /\/d\/([^/]+)/.exec(String(rows('Orders')[1]?.[3])) ?? [];
	expect(google.docs.text(letter)).toBe('Dear Ann,\n\nthank you for your order A-1.\n');
});

test('every example is run by some test', () => {
	const tests = ['e2e', 'browser'].flatMap((suite) => {
		const here = path.join(__dirname, '..', suite);
		return readdirSync(here)
			.filter((name) => name.endsWith('.test.ts'))
			.map((name) => readFileSync(path.join(here, name), 'utf8'));
	});
	const run = (file: string) => tests.some((text) => text.includes(`'${file}'`));
	expect(readdirSync(folder).filter((file) => !run(file))).toEqual([]);
});

/** Sends a page of a form. */
async function submit(url: string, ...fields: string[]): Promise<Response> {
	const form = new FormData();
	for (const [index, value] of fields.entries()) form.append(`field-${index}`, value);
	return await untilThere(url, { method: 'POST', body: form });
}

/** @returns the address of the form's further pages */
async function fillIn(url: string, ...fields: string[]): Promise<string> {
	const { formWaitingUrl } = (await (await submit(url, ...fields)).json()) as { formWaitingUrl: string };
	return formWaitingUrl;
}

/** While the execution runs, n8n never answers whoever asks for the page. */
async function untilShown(page: string, text: string): Promise<void> {
	const shown = async () => {
		const answer = await fetch(page, { signal: AbortSignal.timeout(2000) });
		return (await answer.text()).includes(text);
	};
	while (!(await shown().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 100));
}

test('agent-asks-a-person: each question goes to the person, each answer to the same session, until the agent is done', async () => {
	await publish('agent-asks-a-person.json');
	const said = (type: string, text: string) => ({ messages: [{ type: 'step' }, { type, text }] });
	agent.script(
		said('question', 'For which year?'),
		said('question', 'In which currency?'),
		said('answer', '42 euros in 2027.'),
	);
	agent.requests.length = 0;
	const page = await fillIn(`${n8n.url}/form/ask-the-agent`, 'Estimate the cost.');
	await untilShown(page, 'For which year?');
	await submit(page, '2027');
	await untilShown(page, 'In which currency?');
	await submit(page, 'Euros');
	await untilShown(page, '42 euros in 2027.');
	const bodies = agent.requests.map(({ body }) => body as ExecuteFields);
	const inputs = bodies.map(({ initialPayload }) => (JSON.parse(initialPayload) as { input: string }).input);
	expect(inputs).toEqual(['Estimate the cost.', '2027', 'Euros']);
	expect(bodies.map(({ startStepName }) => startStepName)).toEqual(['ask', 'continue', 'continue']);
	expect(new Set(bodies.map(({ sessionId }) => sessionId)).size).toBe(1);
});

describe('approve-before-sending', () => {
	beforeAll(async () => {
		await publish('approve-before-sending.json');
	});

	async function decide(decision: string): Promise<void> {
		const ask = `${n8n.url}/form/draft-a-mail`;
		const page = await fillIn(ask, 'ann@example.com', 'Hello', 'A greeting');
		await state(page, 'form-waiting');
		await submit(page, '', decision);
		await state(page, 'form-waiting', 'success');
	}

	async function state(page: string, ...wanted: string[]): Promise<void> {
		const url = new URL(page);
		url.pathname += '/n8n-execution-status';
		while (!wanted.includes(await (await fetch(url)).text()))
			await new Promise((resolve) => setTimeout(resolve, 100));
	}

	test('an approved draft goes out', async () => {
		const before = mailsSent();
		await decide('Send');
		expect(mailsSent()).toBe(before + 1);
	});

	test('a rejected one does not', async () => {
		const before = mailsSent();
		await decide('Do not send');
		expect(mailsSent()).toBe(before);
	});
});

test('mcp-server: a client finds a described tool for each operation, and completes all of them', async () => {
	await publish('mcp-server.json');
	const client = new McpClient(`${n8n.url}/mcp/workspace-mcp`, token);
	await client.connect();
	const tools = await client.tools();
	expect(tools.map(({ name }) => name).sort()).toEqual(everyTool.map(({ tool }) => tool).sort());
	for (const { description } of tools) expect(description.length).toBeGreaterThan(40);
	const ids: Record<string, string> = {};
	for (const { tool, args, gives } of everyTool) {
		const { isError, content } = await client.call(tool, args(ids));
		const text = content.map((part) => part.text).join('');
		expect([tool, isError ?? false, text]).toEqual([tool, false, expect.not.stringMatching(/error/i)]);
		if (gives) ids[gives[0]] = valueIn(text, gives[1]);
	}
	const failed = await client.call('Read_email', { Message_ID: 'abcdef' });
	expect(failed.content[0]?.text).toMatch(/Check|ID/);
});
