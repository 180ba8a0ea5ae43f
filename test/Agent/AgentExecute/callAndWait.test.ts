import { inspect } from 'node:util';
import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import {
	type AgentService,
	type AgentServiceOptions,
	startAgentService,
} from '../../../dev/agent-service/server';
import { AgentExecute } from '../../../nodes/Agent/AgentExecute/AgentExecute.node';
import {
	createExecuteContext,
	failureOf,
	loadBinaryData,
	withBinaryData,
} from '../../createExecuteContext';
import { arrangeOptions } from './executeRun';
import { withoutSniffing } from './waitBinary';

const apiKey = 'canary-api-key-31bd';
const signer = { userId: '0xa1', userPublicKey: '0xcanary-94b1d7', signature: '0xcanary-5be1c07a' };
const node = new AgentExecute();
const answers = [{ type: 'step' }, { type: 'answer', text: 'done' }];
let service: AgentService;

async function serve(options: AgentServiceOptions = {}): Promise<void> {
	service = await startAgentService({ apiKey, messages: () => answers, ...options });
}

beforeAll(withBinaryData);
beforeEach(() => serve());
afterEach(async () => {
	await until(() => service.countOpenChannels() === 0);
	await service.close();
});

interface RunOptions {
	readonly parameters?: IDataObject;
	readonly options?: IDataObject;
	readonly items?: INodeExecutionData[];
	readonly node?: Partial<INode>;
	readonly signal?: AbortSignal;
	readonly api?: IDataObject;
	/** Gets the lines of n8n's log at level info. */
	readonly logged?: string[];
}

async function run(options: RunOptions = {}): Promise<INodeExecutionData[]> {
	const context = createExecuteContext({
		nodeType: node,
		credentials: {
			agentApi: {
				deploymentUrl: service.url,
				webSocketUrl: service.webSocketUrl,
				apiKey,
				...options.api,
			},
			agentSignatureApi: signer,
		},
		authenticate: { agentApi: { 'x-api-key': apiKey } },
		items: options.items,
		node: options.node,
		signal: options.signal,
		parameters: arrangeOptions({
			startStepName: 'start',
			task: 'Do it',
			waitForMessages: true,
			waitUntil: 'match',
			matchField: 'type',
			matchValue: 'answer',
			...options.parameters,
			options: options.options ?? {},
		}),
	});
	withoutSniffing(context);
	const { logged } = options;
	if (logged) context.logger.info = (text) => logged.push(text);
	const [items = []] = await node.execute.call(context);
	return await loadBinaryData(items);
}

const until = async (condition: () => boolean) => {
	while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const texts = (item?: INodeExecutionData) =>
	(item?.json.messages as Array<{ message: unknown }>).map(({ message }) => message);

test('a wait says in the log what it waits for, and how long at most', async () => {
	const logged: string[] = [];
	await run({ logged, parameters: { sessionId: 's1' }, options: { waitTimeoutSeconds: 40 } });
	expect(logged).toContain(
		'Agent Execute: starts the agent and waits up to 40 s for messages of session s1',
	);
});

test('the channel is open before the call, so that no message is lost', async () => {
	const [item] = await run({ parameters: { sessionId: 's1' } });
	const [upgrade] = service.upgrades;
	expect(upgrade?.query).toMatchObject({ sessionId: 's1', signature: signer.signature, apiKey });
	expect(upgrade?.receivedAt).toBeLessThanOrEqual(service.requests[0]?.receivedAt ?? 0);
	expect(item).toEqual({
		json: {
			output: 'done',
			sessionId: 's1',
			userId: '0xa1',
			startStepName: 'start',
			timestamp: (service.requests[0]?.body as { timestamp: number }).timestamp,
			statusCode: 200,
			response: { sessionId: 's1', startStepName: 'start', status: 'accepted' },
			lastMessage: { type: 'answer', text: 'done' },
			messages: [
				{ sequence: 1, receivedAt: iso, format: 'json', message: { type: 'step' } },
				{
					sequence: 2,
					receivedAt: iso,
					format: 'json',
					message: { type: 'answer', text: 'done' },
				},
			],
			endedBy: 'match',
		},
		pairedItem: { item: 0 },
	});
});

test('a new session has the same id on the channel and in the call', async () => {
	const [item] = await run();
	expect(service.upgrades[0]?.query.sessionId).toBe(item?.json.sessionId);
});

test('the overrides of the item apply to its channel, too', async () => {
	const own = { userPublicKey: '0xother', signature: '0xsigned', timestamp: 1_767_225_600_123 };
	await run({ options: { userId: '0xb', ...own } });
	expect(service.upgrades[0]?.query).toMatchObject({
		userPublicKey: '0xother',
		signature: '0xsigned',
		timestamp: '1767225600',
	});
});

test('opened after the call, it gets what the service sends then', async () => {
	await service.close();
	await serve({ replay: 10 });
	const [item] = await run({ options: { openChannel: 'after' } });
	expect(service.requests[0]?.receivedAt).toBeLessThanOrEqual(
		service.upgrades[0]?.receivedAt ?? 0,
	);
	expect(texts(item)).toEqual(answers);
	expect(item?.json).not.toHaveProperty('gap');
});

test.each<[string, IDataObject, IDataObject]>([
	['count', { waitUntil: 'count', messageCount: 2 }, {}],
	['silence', { waitUntil: 'silence', silenceSeconds: 0.1 }, {}],
	[
		'timeout',
		{ waitUntil: 'count', messageCount: 3 },
		{ waitTimeoutSeconds: 0.1, onWaitTimeout: 'output' },
	],
])('ends by %s', async (endedBy, parameters, options) => {
	const [item] = await run({ parameters, options });
	expect(item?.json.endedBy).toBe(endedBy);
	expect(texts(item)).toEqual(answers);
});

test.each([1000, 1008, 4000])('ends by a close frame with code %d', async (code) => {
	const waiting = run({ parameters: { waitUntil: 'close' } });
	await until(() => service.requests.length === 1);
	service.closeChannels(code);
	const [item] = await waiting;
	expect([item?.json.endedBy, texts(item)]).toEqual(['close', answers]);
	expect(service.upgrades).toHaveLength(1);
});

test('a reset is no end: the channel comes back, and the gap is told', async () => {
	const waiting = run({ parameters: { waitUntil: 'close', sessionId: 's1' } });
	await until(() => service.requests.length === 1 && service.countOpenChannels() === 1);
	service.dropChannels();
	await until(() => service.upgrades.length === 2 && service.countOpenChannels() === 1);
	service.send('s1', 'late');
	service.closeChannels(1000);
	const [item] = await waiting;
	expect(texts(item)).toEqual([...answers, 'late']);
	expect(item?.json).toMatchObject({ endedBy: 'close', gap: true });
	expect(service.requests).toHaveLength(1);
});

test('a channel that opens at the second attempt ends by silence, too', async () => {
	service.scriptUpgrades({ status: 503, retryAfter: 0 });
	const [item] = await run({ parameters: { waitUntil: 'silence', silenceSeconds: 0.1 } });
	expect([item?.json.endedBy, texts(item)]).toEqual(['silence', answers]);
	expect(service.upgrades).toHaveLength(2);
});

test('bytes of a message come as a file beside those of the answer', async () => {
	await service.close();
	await serve({ messages: () => ['text', Buffer.from([0xff])] });
	service.script({ body: Buffer.from([1]), contentType: 'image/png' });
	const [item] = await run({ parameters: { waitUntil: 'count', messageCount: 2 } });
	expect(texts(item)).toEqual(['text', null]);
	expect(item?.binary).toMatchObject({
		data: { mimeType: 'image/png' },
		message_2: { data: '/w==' },
	});
});

test('several items wait beside each other, each on a channel of its own', async () => {
	await service.close();
	await serve({
		messages: ({ sessionId }) => [{ type: 'answer', sessionId }],
		messageIntervalMilliseconds: 30,
	});
	const items = Array.from({ length: 20 }, (_, n) => ({ json: { n } }));
	const output = await run({
		items,
		parameters: { sessionId: '=s{{ $json.n }}' },
		options: { parallelRequests: 20 },
	});
	expect(output.map((item) => texts(item))).toEqual(
		items.map((_, n) => [{ type: 'answer', sessionId: `s${n}` }]),
	);
});

describe('fails', () => {
	test('without a call when the channel is refused, and says so', async () => {
		service.scriptUpgrades({ status: 403 }, { status: 403 });
		const error = await failureOf(run());
		expect(error).toMatchObject({
			httpCode: '403',
			message: expect.stringContaining('403') as string,
			description: expect.stringContaining('The agent was not started') as string,
		});
		expect(service.requests).toHaveLength(0);
	});

	test('after the call when the channel is refused then', async () => {
		const running = failureOf(run({ parameters: { matchValue: 'never' } }));
		await until(() => service.requests.length === 1);
		service.closeChannels(1008);
		const error = await running;
		expect(error).toMatchObject({
			message: expect.stringContaining('1008') as string,
			description: expect.stringContaining('The agent was started') as string,
		});
		expect(service.requests).toHaveLength(1);
	});

	test('when the call fails: at once, and without its channel', async () => {
		service.fail(500);
		expect(await failureOf(run())).toMatchObject({ httpCode: '500' });
	});

	test('when the messages do not end in time', async () => {
		const error = await failureOf(
			run({ parameters: { matchValue: 'never' }, options: { waitTimeoutSeconds: 0.1 } }),
		);
		expect(error).toMatchObject({
			httpCode: '504',
			message: 'The wait for messages did not end within 0.1 s. Messages received: 2',
			description: expect.stringContaining(
				"Values of 'type' received: step, answer.",
			) as string,
		});
	});

	test('with Continue on Fail as an item, beside one that succeeds', async () => {
		service.scriptUpgrades({ closeCode: 1003 }, {});
		const items = [{ json: { n: 0 } }, { json: { n: 1 } }];
		const output = await run({
			items,
			node: { onError: 'continueRegularOutput' },
			options: { parallelRequests: 1 },
		});
		expect(output.map(({ json }) => Object.keys(json)[0])).toEqual(['error', 'output']);
	});

	test.each<[string, IDataObject, IDataObject, IDataObject, string]>([
		[
			'nothing to match',
			{ matchField: '', matchValue: '' },
			{},
			{},
			"'Final Message Field' and 'Final Message Values' are empty",
		],
		['no number to count', { waitUntil: 'count', messageCount: 0 }, {}, {}, "'Message Count'"],
		['no end', { waitUntil: 'sunset' }, {}, {}, "'Wait Until'"],
		['no time', {}, { waitTimeoutSeconds: -1 }, {}, "'Wait Timeout (Seconds)'"],
		['no WebSocket address', {}, {}, { webSocketUrl: 'mailto:x' }, 'WebSocket URL'],
	])('before anything is sent with %s', async (_, parameters, options, api, message) => {
		const error = await failureOf(run({ parameters, options, api }));
		expect(error.message).toContain(message);
		expect([service.connections, error.httpCode]).toEqual([0, '400']);
	});

	test('without a secret in what it says', async () => {
		service.scriptUpgrades(
			{ status: 401, body: `${apiKey} ${signer.signature}` },
			{ status: 401 },
		);
		const shown = inspect(await failureOf(run()), { depth: 9 });
		for (const secret of [apiKey, signer.signature, signer.userPublicKey])
			expect(shown).not.toContain(secret);
	});
});

describe('stopping the execution', () => {
	const nothingSent = {
		message: 'The execution was stopped',
		description: 'The agent was not started.',
	};

	test('ends the wait, and leaves no channel', async () => {
		const stop = new AbortController();
		const waiting = failureOf(
			run({ parameters: { matchValue: 'never' }, signal: stop.signal }),
		);
		await until(() => service.requests.length === 1);
		stop.abort();
		expect(await waiting).toMatchObject({
			message: 'The execution was stopped',
			description: expect.stringMatching(/was started|may have started/) as string,
		});
	});

	test('ends the opening of the channel, and sends nothing', async () => {
		service.scriptUpgrades({ fault: 'silence' });
		const stop = new AbortController();
		const waiting = failureOf(run({ signal: stop.signal }));
		await until(() => service.upgrades.length === 1);
		stop.abort();
		expect(await waiting).toMatchObject(nothingSent);
		expect(service.requests).toHaveLength(0);
	});
});
