import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import type { ExecuteFields } from '../../dev/agent-service/request.ts';
import { type ChatModel, startChatModel } from '../../dev/chat-model/server.ts';
import { ensureCredentials, type StoredCredential, withCredentials } from '../../dev/examples.ts';
import { collectParts, findHeader, readText } from '../../dev/google/gmail/mime.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { fetchPublished, submitForm } from '../../dev/n8n/forms.ts';
import type { WorkflowDefinition } from '../../dev/n8n/n8nApi.ts';
import { fillIn, untilShown } from './formPages';
import { McpClient } from './mcpClient';
import { useSharedN8n, type SharedN8n } from './startTestN8n';
import {
	everyTool,
	expectWholeTable,
	findNextCall,
	seedLongTable,
	valueIn,
} from './workspaceTools';

const apiKey = 'examples-key';
const token = 'examples-token';
const folder = path.join(__dirname, '..', '..', 'examples');
let agent: AgentService;
let google: GoogleServer;
let model: ChatModel;
let n8n: SharedN8n;
let stored: StoredCredential[];

beforeAll(async () => {
	agent = await startAgentService({ apiKey });
	google = await startGoogle();
	model = await startChatModel();
	n8n = await useSharedN8n();
	const { api } = n8n;
	stored = await ensureCredentials(api, {
		agent: { url: agent.url, webSocketUrl: agent.webSocketUrl, apiKey },
		google,
		callers: token,
		modelUrl: model.url,
	});
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
	const workflow = JSON.parse(
		readFileSync(path.join(folder, file), 'utf8'),
	) as WorkflowDefinition;
	const nodes = workflow.nodes.map((node) => {
		const parameters = { ...(node['parameters'] as object), ...changes[String(node['name'])] };
		return withCredentials({ ...node, parameters }, stored);
	});
	return { ...workflow, nodes };
}

/** The options of an example's node, and one more. */
async function publish(file: string, changes?: Change): Promise<void> {
	const workflow = await n8n.api.createWorkflow(example(file, changes));
	await n8n.api.activate(workflow);
}

const mailsSent = () => google.gmail.sent.length;
/** The text of the document at a link; undefined without one. */
const textAt = (link: unknown) => {
	const id = /\/document\/d\/([^/]+)\/edit$/.exec(String(link))?.[1];
	return id === undefined ? undefined : google.docs.text(id);
};
const byId = (value: string) => ({ __rl: true, mode: 'id', value });

test('every example has a note that says what to change, in words of its own', () => {
	for (const file of readdirSync(folder)) {
		const notes = example(file).nodes.filter(
			({ type }) => type === 'n8n-nodes-base.stickyNote',
		);
		expect(`${file}: ${JSON.stringify(notes.map(({ parameters }) => parameters))}`).toMatch(
			/\*\*(Change|Publish)/,
		);
	}
});

test('new-emails-into-rows: each unread email becomes a row once, with a date that the sheet can sort by, and is read then', async () => {
	const email = google.gmail.seed({ from: 'Ann <ann@example.com>', subject: 'Lunch?' });
	const header = ['id', 'Received', 'From', 'Subject'];
	const id = google.sheets.seed({ title: 'Log', tabs: [{ title: 'Emails', rows: [header] }] });
	const changes = { 'Add the rows': { spreadsheetId: byId(id) } };
	const workflow = await n8n.api.createWorkflow(example('new-emails-into-rows.json', changes));
	const run = async () => {
		expect((await n8n.api.run(workflow, 'When clicking ‘Execute workflow’')).status).toBe(
			'success',
		);
		return google.sheets.values(id, 'Emails');
	};
	const rows = await run();
	expect(rows).toContainEqual([
		email,
		expect.any(Number),
		expect.stringContaining('Ann'),
		'Lunch?',
	]);
	const marked = google.requests.filter(
		({ method }) => method === 'gmail.users.messages.batchModify',
	);
	expect(marked.flatMap(({ body }) => (body as { ids: string[] }).ids)).toContain(email);
	expect(await run()).toEqual(rows);
});

test('answer-emails-as-drafts: an answer to each new email waits in its conversation, and nothing is sent', async () => {
	const text =
		'Shall we meet?\n\nOn Mon, Nov 23, 2026 at 10:15 AM Sam <me@example.com> wrote:\n> Hello';
	const id = google.gmail.seed({ from: 'Ann <ann@example.com>', subject: 'Meeting', text });
	const workflow = await n8n.api.createWorkflow(example('answer-emails-as-drafts.json'));
	const sent = mailsSent();
	agent.requests.length = 0;
	for (let run = 0; run < 2; run++) expect((await n8n.api.run(workflow)).status).toBe('success');
	const drafts = google.gmail.drafts.filter(({ threadId }) => threadId === id);
	expect(drafts.map(({ recipients }) => recipients)).toEqual([['ann@example.com']]);
	expect(drafts.map(({ mime }) => findHeader(mime.headers, 'Subject'))).toEqual(['Re: Meeting']);
	// Gmail's page breaks the lines of a draft that is only plain text, so it carries HTML, too.
	const plainParts = drafts.flatMap(({ mime }) =>
		collectParts(mime).filter(({ mimeType }) => mimeType === 'text/plain'),
	);
	expect(plainParts.map(readText)).toEqual([
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
		const answer = await fetchPublished(`${n8n.url}/webhook/${webhookId}/chat`, {
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
		expect(chunks.map(({ type }) => type)).toEqual(
			expect.arrayContaining(['begin', 'item', 'end']),
		);
		const shown = chunks
			.filter(({ type }) => type === 'item')
			.map(({ content = '' }) => content.trim());
		expect(shown.slice(0, 3)).toEqual([
			'Let me see.',
			'This takes a moment.',
			`Done: ${words}`,
		]);
	}
	expect(agent.requests.map(({ body }) => (body as ExecuteFields).sessionId)).toEqual([
		'chat-session-1',
		'chat-session-1',
	]);
});

test('workspace-over-http: an input object in, the result or the error with its status out', async () => {
	await publish('workspace-over-http.json');
	const post = async (body: object) =>
		await fetchPublished(`${n8n.url}/webhook/workspace`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'x-token': token },
			body: JSON.stringify(body),
		});
	const listed = await post({ operation: 'list', maxResults: 100 });
	expect([listed.status, await listed.json()]).toEqual([
		200,
		[{ messages: expect.any(Array) as unknown[] }],
	]);
	const missing = await post({ operation: 'read', messageId: 'abcdef' });
	expect([missing.status, await missing.json()]).toEqual([
		404,
		{ code: 404, message: expect.any(String) as string, status: 'NOT_FOUND' },
	]);
	const before = mailsSent();
	const refused = await post({ operation: 'send', to: 'a@example.com', subject: 'x', body: 'y' });
	expect(refused.status).toBe(400);
	expect(JSON.stringify(await refused.json())).toContain('is not allowed here');
	expect(mailsSent()).toBe(before);
});

test('attachments-to-drive: each file once', async () => {
	const buildEmail = (text: string) => [
		'From: Ann <ann@example.com>',
		'To: me@example.com',
		'Subject: Plan',
		'MIME-Version: 1.0',
		'Content-Type: multipart/mixed; boundary=b',
		'',
		'--b\r\nContent-Type: text/plain\r\n\r\nText',
		`--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=plan.txt\r\n\r\n${text}`,
		'--b--',
		'',
	];
	for (const text of ['Hello', 'Other'])
		google.gmail.seed({ raw: buildEmail(text).join('\r\n'), date: new Date() });
	const workflow = await n8n.api.createWorkflow(example('attachments-to-drive.json'));
	for (let run = 0; run < 2; run++) expect((await n8n.api.run(workflow)).status).toBe('success');
	expect(google.files.listAll().filter(({ name }) => name === 'plan.txt')).toHaveLength(2);
});

test('rows-to-agent: an answer for each open row, as a document whose link stands in the row, and a second run asks nothing', async () => {
	const rows = [
		['task', 'state', 'document'],
		['one', 'open'],
		['none', 'done'],
		['two', 'open'],
	];
	const id = google.sheets.seed({ title: 'Work', tabs: [{ title: 'Questions', rows }] });
	const book = { spreadsheetId: byId(id) };
	const workflow = await n8n.api.createWorkflow(
		example('rows-to-agent.json', { 'Read the open tasks': book, 'Write the link back': book }),
	);
	expect((await n8n.api.run(workflow)).status).toBe('success');
	const changed = google.sheets.values(id, 'Questions');
	expect(changed.slice(1).map(([task, state, link]) => [task, state, textAt(link)])).toEqual([
		['one', 'done', 'Done: one\n'],
		['none', 'done', undefined],
		['two', 'done', 'Done: two\n'],
	]);
	agent.requests.length = 0;
	expect((await n8n.api.run(workflow)).status).toBe('success');
	expect(agent.requests).toEqual([]);
});

test('rows-by-key: known rows are updated in place, new ones come below, and a second run adds none', async () => {
	const header = ['id', 'customer', 'state'];
	const id = google.sheets.seed({
		title: 'Shop',
		tabs: [
			{ title: 'New orders', rows: [header, ['A-1', 'Ann', 'paid'], ['A-2', 'Ben', 'open']] },
			{ title: 'Orders', rows: [header, ['A-1', 'Ann', 'open'], ['A-0', 'Cleo', 'paid']] },
		],
	});
	const book = { spreadsheetId: byId(id) };
	const changes = { 'Read the new orders': book, 'Update or add': book };
	const workflow = await n8n.api.createWorkflow(example('rows-by-key.json', changes));
	for (let run = 0; run < 2; run++) {
		expect((await n8n.api.run(workflow)).status).toBe('success');
		expect(google.sheets.values(id, 'Orders')).toEqual([
			header,
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
		example('keep-a-list-up-to-date.json', {
			'Read the open rows': book,
			'Write them back': book,
		}),
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
		['id', 'customer', 'letter'],
		['A-1', 'Ann'],
		['A-2', 'Ben'],
	];
	const id = google.sheets.seed({ title: 'Shop', tabs: [{ title: 'Orders', rows }] });
	const template = google.docs.seed({ title: 'Template', tabs: [{ title: 'Tab 1' }] });
	google.docs.type(template, 'Dear {{customer}}, thank you for order {{ id }}.');
	const workflow = await n8n.api.createWorkflow(
		example('fill-a-template.json', {
			'Read the rows': { spreadsheetId: byId(id) },
			'Fill the template': { templateId: byId(template) },
			'Add the link': { spreadsheetId: byId(id) },
		}),
	);
	expect((await n8n.api.run(workflow)).status).toBe('success');
	const filled = google.sheets.values(id, 'Orders');
	expect(filled.map(([, , link]) => textAt(link))).toEqual([
		undefined,
		'Dear Ann, thank you for order A-1.\n',
		'Dear Ben, thank you for order A-2.\n',
	]);
	const documents = google.files.listAll().length;
	expect((await n8n.api.run(workflow)).status).toBe('success');
	expect(google.sheets.values(id, 'Orders')).toEqual(filled);
	expect(google.files.listAll()).toHaveLength(documents);
});

test('invoice-by-email: each open row goes out once, as a PDF from the template, and is marked as sent', async () => {
	const rows = [
		['id', 'customer', 'email', 'state'],
		['I-7', 'Ann', 'ann@example.com', 'open'],
		['I-2', 'Ben', 'ben@example.com', 'sent'],
	];
	const id = google.sheets.seed({ title: 'Shop', tabs: [{ title: 'Invoices', rows }] });
	const template = google.docs.seed({ title: 'Template', tabs: [{ title: 'Tab 1' }] });
	google.docs.type(template, 'Invoice {{id}} for {{customer}}');
	const file = 'invoice-by-email.json';
	const workflow = await n8n.api.createWorkflow(
		example(file, {
			'Read the open invoices': { spreadsheetId: byId(id) },
			'Fill the template': { templateId: byId(template) },
			'Mark as sent': { spreadsheetId: byId(id) },
		}),
	);
	const before = mailsSent();
	for (let run = 0; run < 2; run++) {
		const { status, resultData } = await n8n.api.run(workflow);
		expect(`${status} ${resultData.error?.message ?? ''}`).toBe('success ');
		expect(google.sheets.values(id, 'Invoices').map((row) => row[3])).toEqual([
			'state',
			'sent',
			'sent',
		]);
	}
	const sent = google.gmail.sent.slice(before);
	expect(sent.map(({ recipients }) => recipients)).toEqual([['ann@example.com']]);
	expect(sent[0]?.raw.toString()).toMatch(
		/application\/pdf[^]*Invoice I-7\.pdf|Invoice I-7\.pdf[^]*application\/pdf/,
	);
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
	await submitForm(page, '2027');
	await untilShown(page, 'In which currency?');
	await submitForm(page, 'Euros');
	await untilShown(page, '42 euros in 2027.');
	const bodies = agent.requests.map(({ body }) => body as ExecuteFields);
	const inputs = bodies.map(
		({ initialPayload }) => (JSON.parse(initialPayload) as { input: string }).input,
	);
	expect(inputs).toEqual(['Estimate the cost.', '2027', 'Euros']);
	expect(bodies.map(({ startStepName }) => startStepName)).toEqual([
		'ask',
		'continue',
		'continue',
	]);
	expect(new Set(bodies.map(({ sessionId }) => sessionId)).size).toBe(1);
});

describe('approve-before-sending', () => {
	beforeAll(async () => {
		await publish('approve-before-sending.json');
	});

	async function decide(decision: string, told: string): Promise<void> {
		const ask = `${n8n.url}/form/draft-a-mail`;
		const page = await fillIn(ask, 'ann@example.com', 'Hello', 'A greeting');
		await untilShown(page, 'Send this email?');
		await submitForm(page, 'Hello Ann', decision);
		await untilShown(page, told);
	}

	test('an approved draft goes out', async () => {
		const before = mailsSent();
		await decide('Send', 'The email is on its way.');
		expect(mailsSent()).toBe(before + 1);
	});

	test('a rejected one does not', async () => {
		const before = mailsSent();
		await decide('Do not send', 'Nothing went out.');
		expect(mailsSent()).toBe(before);
	});
});

test('mcp-server: a client finds a described tool for each operation, completes all of them, and reads a long table to its end', async () => {
	await publish('mcp-server.json');
	const client = new McpClient(`${n8n.url}/mcp/workspace-mcp`, token);
	await client.connect();
	const tools = await client.tools();
	expect(tools.map(({ name }) => name).sort()).toEqual(everyTool.map(({ tool }) => tool).sort());
	for (const { description } of tools) expect(description.length).toBeGreaterThan(25);
	const ids: Record<string, string> = {};
	for (const { tool, args, gives } of everyTool) {
		const { isError, content } = await client.call(tool, args(ids));
		const text = content.map((part) => part.text).join('');
		expect([tool, isError ?? false, text]).toEqual([
			tool,
			false,
			expect.not.stringMatching(/error/i),
		]);
		if (gives) ids[gives[0]] = valueIn(text, gives[1]);
	}
	const answers: string[] = [];
	const first = seedLongTable(google);
	for (
		let next: typeof first | undefined = first;
		next && answers.length < 20;
		next = findNextCall(first, answers.at(-1))
	) {
		const { content } = await client.call(next.tool, next.args);
		answers.push(content.map((part) => part.text).join(''));
	}
	expectWholeTable(answers);
	const failed = await client.call('Read_email', { Message_ID: 'abcdef', Start_Character: 0 });
	expect(failed.content[0]?.text).toContain('The email is not in this mailbox.');
});
