import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { buildSignedInCredential } from '../../dev/google/credential.ts';
import { type Credentials, storeAgent } from '../e2e/credentials';
import { node, startTestN8n, type TestN8n, withoutCode } from '../e2e/startTestN8n';
import { until } from '../e2e/station';
import { agentType, inRow, triggerType, workspaceType } from '../e2e/workflows';
import { frameMakers, isInvalidUtf8 } from './frames';
import { markdownMakers } from './markdown';
import { listLength, startOutside } from './outside';
import { type Polled, startPolling } from './polling';
import { made } from './random';

/** Texts of each of the six kinds: enough for each maker to have a turn. `npm run test:hostile` makes 1,200 in all. */
const perKind = Number(process.env.HOSTILE ?? 24);
const seed = Number(process.env.HOSTILE_SEED ?? 11);
const perRun = 10;

let outside: Awaited<ReturnType<typeof startOutside>>;
let channels: AgentService;
let n8n: TestN8n;
let pid: number;
/** By the type of the node. */
let credentials: Record<string, Credentials>;
let endPolling: (() => Promise<Polled>) | undefined;

// Two polls are not enough to say anything of a test that is over at once.
jest.setTimeout(900_000);

beforeAll(async () => {
	outside = await startOutside(seed);
	channels = await startAgentService({ keepLog: false });
	// What n8n keeps of an execution is n8n's own work.
	n8n = await startTestN8n({
		env: {
			...withoutCode,
			EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'none',
			EXECUTIONS_DATA_SAVE_ON_ERROR: 'none',
		},
	});
	const { api } = n8n;
	pid = n8n.pid;
	const tokens = { accessToken: 'ya29.test', refreshToken: 'test' };
	const { url } = outside;
	const signIn = buildSignedInCredential(url, tokens);
	const { apiKey, webSocketUrl } = channels;
	credentials = {
		[workspaceType]: {
			workspaceOAuth2Api: await api.createCredential('workspaceOAuth2Api', 'W', signIn),
		},
		[agentType]: await storeAgent(api, { url, webSocketUrl, apiKey }),
	};
});
afterAll(async () => {
	await n8n.remove();
	await channels.close();
	await outside.close();
});
beforeEach(() => {
	outside.asked.length = 0;
});
afterEach(async () => {
	const { count, slowest } = (await endPolling?.()) ?? { count: 0, slowest: [] };
	endPolling = undefined;
	const [worst] = slowest;
	if (!worst) throw new Error('Nothing was polled');
	// A figure and no assertion: it depends on the machine, too. What must not happen is that n8n does not answer at all.
	const long = slowest.filter(({ took }) => took >= 1000).map(withCauses);
	const name = expect.getState().currentTestName ?? '';
	const causes = long.length === 0 ? '' : `, a second or more beside ${JSON.stringify(long)}`;
	process.stdout.write(`${name}: ${count} polls, the longest wait ${worst.took} ms${causes}\n`);
	expect(slowest.filter(({ trouble }) => trouble !== undefined)).toEqual([]);
	// The same process as at the beginning.
	process.kill(pid, 0);
	expect(n8n.output()).not.toMatch(/heap out of memory|Last session crashed/);
});

/** What n8n was given shortly before it did not answer. */
function withCauses({ at, took }: Polled['slowest'][number]) {
	const given = outside.asked.filter((one) => one.at > at - 3000 && one.at < at + took);
	return { took, given: given.map(({ what }) => what) };
}

/** What nobody foresaw, in the words of JavaScript. */
const unforeseen =
	/call stack|is not a function|is not iterable|Cannot read properties|undefined|Invalid (array|string) length|gave no result/;

/** Each text came to an item with a result, or to one that says what is wrong. */
function expectSaid(outcomes: readonly unknown[], count: number): void {
	expect(outcomes).toHaveLength(count);
	const wrong = (one: unknown) =>
		typeof one !== 'string' || one.trim() === '' || unforeseen.test(one);
	expect(outcomes.filter(wrong)).toEqual([]);
}

/** Not before: n8n loads its own nodes when a workflow first has them, and does nothing else meanwhile. */
function begin(): void {
	endPolling ??= startPolling(n8n.url);
}

let webhooks = 0;

/** Gives a node the items, ten at a time, by a webhook. @returns what became of each */
async function feed(
	type: string,
	parameters: object,
	items: readonly object[],
): Promise<unknown[]> {
	const path = `hostile-${++webhooks}`;
	const hook = { httpMethod: 'POST', path, responseMode: 'lastNode', responseData: 'allEntries' };
	const outcome = {
		id: 'outcome',
		name: 'outcome',
		type: 'string',
		value: "={{ $json.error?.message ?? 'read' }}",
	};
	const more = { credentials: credentials[type], onError: 'continueRegularOutput' };
	const assignments = { assignments: { assignments: [outcome] }, options: {} };
	const stored = await n8n.api.createWorkflow(
		inRow(
			path,
			node('Hook', 'n8n-nodes-base.webhook', hook, { typeVersion: 2, webhookId: path }),
			node('Split', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'body.items' }),
			node('Node', type, { ...parameters }, more),
			node('Out', 'n8n-nodes-base.set', assignments, { typeVersion: 3.4 }),
		),
	);
	await n8n.api.activate(stored);
	// Published is not yet registered.
	const isRegistered = async () =>
		(await fetch(`${n8n.url}/webhook/${path}`, { method: 'POST' })).status !== 404;
	await until(isRegistered);
	begin();
	const outcomes: unknown[] = [];
	for (let at = 0; at < items.length; at += perRun) {
		const body = JSON.stringify({ items: items.slice(at, at + perRun) });
		const headers = { 'content-type': 'application/json' };
		const answer = await fetch(`${n8n.url}/webhook/${path}`, { method: 'POST', headers, body });
		const text = await answer.text();
		if (!answer.ok)
			throw new Error(`The workflow failed: ${answer.status} ${text.slice(0, 2000)}`);
		const given = JSON.parse(text) as Array<{ outcome: string }>;
		outcomes.push(...given.map(({ outcome: one }) => one));
	}
	await n8n.api.deactivate(stored);
	return outcomes;
}

const numbers = (digits: number) =>
	Array.from({ length: perKind }, (_, at) => ({ number: String(at).padStart(digits, '0') }));

test('emails', async () => {
	const options = { downloadAttachments: true, newTextOnly: true };
	const parameters = {
		resource: 'mail',
		operation: 'read',
		messageId: '=18c0000000{{ $json.number }}',
		options,
	};
	expectSaid(await feed(workspaceType, parameters, numbers(6)), perKind);
	expect(outside.asked).not.toHaveLength(0);
});

test.each([
	['their headers', {}],
	['their texts', { includeBody: true }],
])('lists of emails with %s', async (_what, options) => {
	const count = Math.ceil(perKind / listLength / 2);
	const parameters = {
		resource: 'mail',
		operation: 'list',
		from: '={{ $json.number }}',
		options,
	};
	const outcomes = await feed(workspaceType, parameters, numbers(6).slice(0, count));
	expectSaid(outcomes, count * listLength);
});

test('documents', async () => {
	const documentId = {
		__rl: true,
		mode: 'id',
		value: '=hostile-document-with-a-long-id-{{ $json.number }}',
	};
	const parameters = { resource: 'document', operation: 'read', documentId, format: 'markdown' };
	expectSaid(await feed(workspaceType, parameters, numbers(6)), perKind);
	expect(outside.asked).not.toHaveLength(0);
});

test.each([
	['', {}],
	[' by a filter', { filters: { filter: [{ column: 'a', condition: 'isNotEmpty' }] } }],
])('rows%s', async (_how, filtered) => {
	const parameters = {
		resource: 'spreadsheet',
		operation: 'read',
		spreadsheetId: { __rl: true, mode: 'id', value: '=hostile-spreadsheet-{{ $json.number }}' },
		options: { range: 'Sheet1!A:ZZZ', maxRows: 50 },
		...filtered,
	};
	const count = Math.ceil(perKind / 2);
	const outcomes = await feed(workspaceType, parameters, numbers(6).slice(0, count));
	expectSaid(outcomes, outcomes.length);
	expect(outside.asked.length).toBeGreaterThanOrEqual(count);
});

test('Markdown', async () => {
	const options = { bodyFormat: 'markdown' };
	const mail = {
		resource: 'mail',
		operation: 'send',
		to: 'a@example.com',
		subject: 'S',
		body: '={{ $json.text }}',
	};
	const half = Math.ceil(perKind / 2);
	const items = Array.from({ length: perKind }, (_, at) => ({
		text: made(markdownMakers, seed, at),
	}));
	expectSaid(await feed(workspaceType, { ...mail, options }, items.slice(0, half)), half);
	const document = {
		resource: 'document',
		title: 'T',
		content: '={{ $json.text }}',
		contentFormat: 'markdown',
	};
	expectSaid(await feed(workspaceType, document, items.slice(half)), perKind - half);
});

test('answers of the agent service', async () => {
	const options = { timeLimits: { limits: { maxRetryWaitSeconds: 0, timeoutSeconds: 20 } } };
	const parameters = {
		sessionId: '={{ $json.number }}',
		startStepName: 'start',
		task: 'Say hello',
		options,
	};
	expectSaid(await feed(agentType, parameters, numbers(1)), perKind);
	expect(outside.asked).toHaveLength(perKind);
});

test('frames', async () => {
	const sessions = Array.from({ length: 10 }, (_, at) => `hostile-${at}`);
	const trigger = node(
		'Trigger',
		triggerType,
		{ sessionIds: sessions.join(',') },
		{ credentials: credentials[agentType] },
	);
	const url = `=${outside.url}/frames?format={{ $json.format }}`;
	const tell = node('Tell', 'n8n-nodes-base.httpRequest', { url }, { typeVersion: 4.2 });
	const stored = await n8n.api.createWorkflow(inRow('frames', trigger, tell));
	await n8n.api.activate(stored);
	begin();
	await Promise.all(
		sessions.map(async (session, lane) => {
			for (let at = lane; at < perKind; at += sessions.length) {
				await until(() => channels.countOpenChannels(session) === 1);
				outside.asked.push({ at: Date.now(), what: `frame ${at}` });
				channels.send(session, made(frameMakers, seed, at));
				if (isInvalidUtf8(at)) await until(() => channels.countOpenChannels(session) === 0);
			}
		}),
	);
	// All that are messages, whatever they hold, start an execution.
	const messages = Array.from({ length: perKind }, (_, at) => at).filter(
		(at) => !isInvalidUtf8(at),
	);
	await until(() => outside.frames.length >= messages.length);
	expect(outside.frames.length).toBe(messages.length);
	expect(new Set(outside.frames)).toEqual(new Set(['json', 'text', 'binary']));
	await n8n.api.deactivate(stored);
});
