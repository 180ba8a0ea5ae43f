import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { signedIn } from '../../dev/google/credential.ts';
import { inRow, node, startTestN8n, type TestN8n } from '../e2e/n8n';
import { until } from '../e2e/station';
import { frameMakers } from './frames';
import { markdownMakers } from './markdown';
import { Outside } from './outside';
import { type Polled, startPolling } from './polling';
import { made } from './random';

/** All of them with `npm run test:hostile`. */
const isWhole = process.env.HOSTILE === 'all';
const perKind = isWhole ? 200 : 30;
const seed = Number(process.env.HOSTILE_SEED ?? 11);
const perRun = 10;
const workspace = 'n8n-nodes-agent-workspace.workspace';
const apiKey = 'test-api-key';

let outside: Outside;
let channels: AgentService;
let n8n: TestN8n;
let credentials: Record<string, { id: string; name: string }>;
let endPolling: () => Promise<Polled>;

// Two polls are not enough to say anything of a test that is over at once.
jest.setTimeout(900_000);

beforeAll(async () => {
	outside = new Outside(seed);
	await outside.listen();
	channels = await startAgentService({ apiKey, keepLog: false });
	// What n8n keeps of an execution is n8n's own work.
	n8n = await startTestN8n({
		env: { EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'none', EXECUTIONS_DATA_SAVE_ON_ERROR: 'none' },
	});
	const { api } = n8n;
	const tokens = { accessToken: 'ya29.test', refreshToken: 'test' };
	credentials = {
		workspaceOAuth2Api: await api.createCredential('workspaceOAuth2Api', 'W', signedIn(outside.url, tokens)),
		agentApi: await api.createCredential('agentApi', 'A', {
			deploymentUrl: outside.url,
			webSocketUrl: channels.webSocketUrl,
			apiKey,
		}),
		agentSignatureApi: await api.createCredential('agentSignatureApi', 'S', {
			userId: '0xa1',
			userPublicKey: '0xfeedbeef12345678',
			signature: '0xc0ffee1234567890',
		}),
	};
});
afterAll(async () => {
	await n8n.remove();
	await channels.close();
	await outside.close();
});
beforeEach(() => {
	outside.asked.length = 0;
	endPolling = startPolling(n8n.url);
});
afterEach(async () => {
	const { count, slowest } = await endPolling();
	const [worst] = slowest;
	if (!worst) throw new Error('Nothing was polled');
	console.log(
		`${expect.getState().currentTestName ?? ''}: ${count} polls, the longest wait ${worst.took} ms`,
	);
	expect(slowest.filter(({ trouble }) => trouble !== undefined)).toEqual([]);
	if (isWhole) expect(slowest.filter(({ took }) => took >= 1000).map(withCauses)).toEqual([]);
});

/** What n8n was given shortly before it did not answer. */
function withCauses({ at, took }: Polled['slowest'][number]) {
	const given = outside.asked.filter((one) => one.at > at - 3000 && one.at < at + took);
	return { took, given: given.map(({ what }) => what) };
}

let webhooks = 0;

/** Gives a node the items, ten at a time, by a webhook. @returns what became of each */
async function feed(type: string, parameters: object, items: readonly object[]): Promise<unknown[]> {
	const path = `hostile-${++webhooks}`;
	const { workspaceOAuth2Api, agentApi, agentSignatureApi } = credentials;
	const own = type === workspace ? { workspaceOAuth2Api } : { agentApi, agentSignatureApi };
	const hook = { httpMethod: 'POST', path, responseMode: 'lastNode', responseData: 'allEntries' };
	const outcome = {
		id: 'outcome',
		name: 'outcome',
		type: 'string',
		value: "={{ $json.error?.message ?? 'read' }}",
	};
	const stored = await n8n.api.createWorkflow({
		name: path,
		nodes: [
			node('Hook', 'n8n-nodes-base.webhook', hook, { typeVersion: 2, webhookId: path }),
			node('Split', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'body.items' }),
			node('Node', type, { ...parameters }, { credentials: own, onError: 'continueRegularOutput' }),
			node(
				'Out',
				'n8n-nodes-base.set',
				{ assignments: { assignments: [outcome] }, options: {} },
				{ typeVersion: 3.4 },
			),
		],
		connections: inRow('Hook', 'Split', 'Node', 'Out'),
	});
	await n8n.api.activate(stored);
	// Published is not yet registered.
	const isRegistered = async () =>
		(await fetch(`${n8n.url}/webhook/${path}`, { method: 'POST' })).status !== 404;
	await until(isRegistered);
	const outcomes: unknown[] = [];
	for (let at = 0; at < items.length; at += perRun) {
		const body = JSON.stringify({ items: items.slice(at, at + perRun) });
		const headers = { 'content-type': 'application/json' };
		const answer = await fetch(`${n8n.url}/webhook/${path}`, { method: 'POST', headers, body });
		const text = await answer.text();
		if (!answer.ok) throw new Error(`The workflow failed: ${answer.status} ${text.slice(0, 2000)}`);
		const given = JSON.parse(text) as Array<{ outcome: string }>;
		outcomes.push(...given.map(({ outcome: one }) => one));
	}
	await n8n.api.deactivate(stored);
	return outcomes;
}

const numbers = (digits: number) =>
	Array.from({ length: perKind }, (_, at) => ({ number: String(at).padStart(digits, '0') }));

test('mails', async () => {
	const parameters = { resource: 'mail', operation: 'read', messageId: '=18c0000000{{ $json.number }}' };
	expect(await feed(workspace, parameters, numbers(6))).toHaveLength(perKind);
	expect(outside.asked).not.toHaveLength(0);
});

test('documents', async () => {
	const documentId = { __rl: true, mode: 'id', value: '=hostile-document-with-a-long-id-{{ $json.number }}' };
	const options = { contentFormat: 'markdown' };
	const parameters = { resource: 'document', operation: 'read', documentId, options };
	expect(await feed(workspace, parameters, numbers(6))).toHaveLength(perKind);
	expect(outside.asked).not.toHaveLength(0);
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
	const items = Array.from({ length: perKind }, (_, at) => ({ text: made(markdownMakers, seed, at) }));
	expect(await feed(workspace, { ...mail, options }, items.slice(0, half))).toHaveLength(half);
	const document = {
		resource: 'document',
		title: 'T',
		content: '={{ $json.text }}',
		options: { contentFormat: 'markdown' },
	};
	expect(await feed(workspace, document, items.slice(half))).toHaveLength(perKind - half);
});

test('answers of the agent service', async () => {
	const options = { maxTries: 1, timeoutSeconds: 20 };
	const parameters = { sessionId: '={{ $json.number }}', startStepName: 'start', options };
	const given = await feed('n8n-nodes-agent-workspace.agentExecute', parameters, numbers(1));
	expect(given).toHaveLength(perKind);
	expect(outside.asked).toHaveLength(perKind);
});

test('frames', async () => {
	const sessions = Array.from({ length: 10 }, (_, at) => `hostile-${at}`);
	const { agentApi, agentSignatureApi } = credentials;
	const type = 'n8n-nodes-agent-workspace.agentSessionTrigger';
	const options = { reconnectMaxDelaySeconds: 1 };
	const trigger = node(
		'Trigger',
		type,
		{ sessionIds: sessions.join(','), options },
		{ credentials: { agentApi, agentSignatureApi } },
	);
	const nodes = [trigger, node('Done', 'n8n-nodes-base.noOp')];
	const stored = await n8n.api.createWorkflow({
		name: 'frames',
		nodes,
		connections: inRow('Trigger', 'Done'),
	});
	await n8n.api.activate(stored);
	await Promise.all(
		sessions.map(async (session, lane) => {
			for (let at = lane; at < perKind; at += sessions.length) {
				await until(() => channels.openSockets(session) === 1);
				outside.asked.push({ at: Date.now(), what: `frame ${at}` });
				channels.send(session, made(frameMakers, seed, at));
			}
			await until(() => channels.openSockets(session) === 1);
		}),
	);
	await n8n.api.deactivate(stored);
});
