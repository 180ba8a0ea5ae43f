import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { readExample } from '../../dev/examples.ts';
import { type Credentials, secrets, storeAgent } from './credentials';
import { items, manualTrigger, node, useSharedN8n, type SharedN8n } from './startTestN8n';
import { until } from './station';
import { agentType, inRow, outputOf } from './workflows';

const { apiKey, signature, userPublicKey } = secrets;
let service: AgentService;
let n8n: SharedN8n;
let credentials: Credentials;

beforeAll(async () => {
	service = await startAgentService({ apiKey });
	n8n = await useSharedN8n();
	credentials = await storeAgent(n8n.api, service);
});
afterAll(async () => {
	await service.close();
});
beforeEach(() => {
	service.requests.length = 0;
});

function agent(parameters: object, more: object = {}, name = 'Agent') {
	const given = { startStepName: 'start', task: 'Say hello', ...parameters };
	return node(name, agentType, given, { credentials, ...more });
}

const workflow = (name: string, values: readonly object[], ...agents: ReturnType<typeof agent>[]) =>
	inRow(name, manualTrigger(), items('Items', values), ...agents);

const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));

test('the example workflow shows the answer of the agent', async () => {
	const example = await readExample('run-an-agent.json');
	const nodes = example.nodes.map((one) =>
		one.type === agentType ? { ...one, credentials } : one,
	);
	const execution = await n8n.api.runOnce({ ...example, nodes });
	expect(execution.status).toBe('success');
	const [shown] = outputOf(execution, 'Agent Execute');
	expect(shown?.json).toMatchObject({
		statusCode: 200,
		sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
	});
	expect(service.requests).toHaveLength(1);
});

describe('Continue on Fail with three items of which one fails', () => {
	const parameters = { sessionId: '={{ "s" + $json.n }}', options: { parallelRequests: 1 } };
	const failSecond = () => {
		service.script({}, { status: 404 }, {});
	};

	test('on the regular output the failed item carries the error object', async () => {
		failSecond();
		const execution = await n8n.api.runOnce(
			workflow(
				'regular',
				numbered(3),
				agent(parameters, { onError: 'continueRegularOutput' }),
			),
		);
		expect(execution.status).toBe('success');
		const all = outputOf(execution, 'Agent');
		expect(
			all.map(({ json, pairedItem }) => [json.error ?? json.sessionId, pairedItem]),
		).toEqual([
			['s0', { item: 0 }],
			[expect.objectContaining({ code: 404, status: 'NOT_FOUND' }), { item: 1 }],
			['s2', { item: 2 }],
		]);
	});

	test('the error output gets it, with the fields of its input item', async () => {
		failSecond();
		const execution = await n8n.api.runOnce(
			workflow(
				'error output',
				numbered(3),
				agent(parameters, { onError: 'continueErrorOutput' }),
			),
		);
		const [good, bad] = [0, 1].map((output) => outputOf(execution, 'Agent', output));
		expect(good?.map(({ json }) => json.sessionId)).toEqual(['s0', 's2']);
		expect(bad).toHaveLength(1);
		expect(bad?.[0]?.json).toMatchObject({ n: 1, error: { code: 404, status: 'NOT_FOUND' } });
	});
});

test('Retry On Fail sends only what has not succeeded before', async () => {
	service.script({}, { status: 422 }, {}, {});
	const parameters = { sessionId: '={{ "s" + $json.n }}', options: { parallelRequests: 1 } };
	const retry = { retryOnFail: true, maxTries: 3, waitBetweenTries: 10 };
	const execution = await n8n.api.runOnce(
		workflow('retry', numbered(3), agent(parameters, retry)),
	);
	expect(execution.status).toBe('success');
	const sent = outputOf(execution, 'Agent').map(({ json }) => json.sessionId);
	expect(sent).toEqual(['s0', 's1', 's2']);
	const sessions = service.requests.map(({ body }) => (body as { sessionId: string }).sessionId);
	expect(sessions).toEqual(['s0', 's1', 's1', 's2']);
});

describe('with the execution n8n keeps', () => {
	const answers = (...texts: string[]) => {
		service.script(...texts.map((text) => ({ body: { text } })));
	};

	test('the sessions of all its agents, by which it is found', async () => {
		answers('Forty-two.', 'Forty-three.', 'Done.');
		const each = agent({
			sessionId: '={{ "tagged-" + $json.n }}',
			options: { parallelRequests: 1 },
		});
		const next = agent({ sessionId: 'tagged-next' }, { executeOnce: true }, 'Next agent');
		const { status, resultData } = await n8n.api.runOnce(
			workflow('tagged', numbered(2), each, next),
		);
		expect(status).toBe('success');
		expect(resultData.metadata).toEqual({ session_id: 'tagged-0, tagged-1, tagged-next' });
		expect(resultData.runData.Agent?.[0]?.metadata?.tracing).toEqual({
			session_id: 'tagged-0, tagged-1',
		});
	});

	test('as many sessions as fit, none of them cut', async () => {
		const sessionId = `={{ "${'long-'.repeat(10)}" + $json.n }}`;
		const { resultData } = await n8n.api.runOnce(
			workflow('many sessions', numbered(10), agent({ sessionId })),
		);
		const kept = resultData.metadata?.session_id?.split(', ') ?? [];
		expect(kept).toHaveLength(4);
		for (const id of kept) expect(id).toMatch(/^(long-){10}\d$/);
	});
});

test('an item without a signature of its own is not sent with that of the credential for another user', async () => {
	const values = [{ user: '0xb', signature: '0xc' }, { user: '0xd' }, {}];
	const override = {
		userId: '={{ $json.user }}',
		userPublicKey: '0xd',
		signature: '={{ $json.signature }}',
		timestamp: 1_795_253_731_904,
	};
	const options = { signatureOverride: { values: override }, parallelRequests: 1 };
	const execution = await n8n.api.runOnce(
		workflow('two users', values, agent({ options }, { onError: 'continueRegularOutput' })),
	);
	const shown = outputOf(execution, 'Agent').map(
		({ json }) => json.userId ?? (json.error as { message: string }).message,
	);
	expect(shown).toEqual([
		'0xb',
		expect.stringMatching(/^The signature is missing\. .*'Signature Override'/),
		expect.stringMatching(/^The user ID is missing\. .*'Signature Override'/),
	]);
	const bodies = service.requests.map(
		({ body }) => body as { userId: string; signature: string },
	);
	expect(bodies.map((body) => [body.userId, body.signature])).toEqual([['0xb', '0xc']]);
});

test('stopping the execution in the editor ends the call in flight', async () => {
	service.script({ fault: 'silence' });
	const stored = await n8n.api.createWorkflow(workflow('stopped', numbered(1), agent({})));
	const id = await n8n.api.startRun(stored, 'Start');
	await until(() => service.requests.length > 0);
	await n8n.api.stopExecution(id);
	expect((await n8n.api.untilDone(id)).status).toBe('canceled');
});

test('a wait that is stopped in the editor ends with its channel; n8n itself keeps nothing of what the nodes gave', async () => {
	service.script({ messages: [{ type: 'step', text: 'half of it' }] });
	const parameters = { sessionId: 'stopped-wait', waitForMessages: true, waitUntil: 'close' };
	const stored = await n8n.api.createWorkflow(
		workflow('stopped wait', numbered(1), agent(parameters)),
	);
	const id = await n8n.api.startRun(stored, 'Start');
	await until(() => service.sessions.get('stopped-wait')?.sent === 1);
	// Answered behind the message.
	const [channel] = service.getChannels('stopped-wait');
	const answered = new Promise((resolve) => channel?.once('pong', resolve));
	channel?.ping();
	await answered;
	await n8n.api.stopExecution(id);
	const execution = await n8n.api.untilDone(id);
	expect(execution.status).toBe('canceled');
	await until(() => service.countOpenChannels('stopped-wait') === 0);
	// Of no node, those that were done included.
	expect(execution.resultData.runData).toEqual({});
	expect(service.requests).toHaveLength(1);
});

describe('the Test button', () => {
	const right = () => ({
		deploymentUrl: service.url,
		webSocketUrl: service.webSocketUrl,
		apiKey,
	});

	test('is green when the service answers, and starts no agent', async () => {
		expect(await n8n.api.testCredential('agentApi', 'Agent', right())).toMatchObject({
			status: 'OK',
		});
		expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(0);
	});

	test('names a refused key, and does not repeat it', async () => {
		const wrong = { ...right(), apiKey: 'canary-of-a-wrong-key' };
		const result = await n8n.api.testCredential('agentApi', 'Agent', wrong);
		expect(result).toMatchObject({
			status: 'Error',
			message: expect.stringContaining('refused the API key') as string,
		});
		expect(result.message).not.toContain(wrong.apiKey);
	});

	test('of the signature checks its form', async () => {
		const data = { userId: '0xa1', userPublicKey, signature };
		expect(await n8n.api.testCredential('agentSignatureApi', 'S', data)).toMatchObject({
			status: 'OK',
		});
		expect(
			await n8n.api.testCredential('agentSignatureApi', 'S', {
				...data,
				signature: 'no hex',
			}),
		).toMatchObject({
			status: 'Error',
			message: expect.stringContaining("'Signature'") as string,
		});
	});
});

test("n8n evaluates a credential's expressions for each item, also if the first one falls back", async () => {
	const users = ['0xcanary-a1', '0xcanary-b2'];
	const agentSignatureApi = await n8n.api.createCredential('agentSignatureApi', 'By item', {
		userId: "={{ $json.user || 'guest' }}",
		userPublicKey,
		signature,
	});
	const values = [{}, ...users.map((user) => ({ user }))];
	const more = { credentials: { ...credentials, agentSignatureApi } };
	await n8n.api.runOnce(workflow('credential by item', values, agent({}, more)));
	const sent = service.requests.map(({ body }) => (body as { userId?: string }).userId);
	expect(sent).toEqual(['guest', ...users]);
});
