import { inspect } from 'node:util';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { AgentService } from '../../../dev/agent-service/server';
import { failureOf } from '../../createExecuteContext';
import { useSteadyClock } from '../../steadyClock';
import { until } from '../session/tap';
import {
	apiKey,
	expectFailure,
	goOn,
	numbered,
	oneAtATime,
	runExecute,
	type RunOptions,
	serveEach,
	signer,
} from './executeRun';

const answers = [{ type: 'step' }, { type: 'answer', text: 'done' }];
let service: AgentService;
const serve = serveEach((started) => (service = started), { messages: () => answers });
beforeEach(() => serve());
useSteadyClock();

const match = { waitUntil: 'match', matchField: 'type', matchValue: 'answer' };
const never = { matchValue: 'never' };
const silence = { waitUntil: 'silence', silenceSeconds: 0.1 };
const count = (messageCount: number) => ({ waitUntil: 'count', messageCount });

type Waiting = RunOptions & { readonly options?: IDataObject };

const run = ({ parameters, options = {}, ...rest }: Waiting = {}) =>
	runExecute(service, {
		...rest,
		parameters: { waitForMessages: true, ...match, ...parameters, options },
	});

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const texts = (item?: INodeExecutionData) =>
	(item?.json.messages as Array<{ message: unknown }>).map(({ message }) => message);

test('a wait says in the log what it waits for, and how long at most', async () => {
	const logged: string[] = [];
	const onLog = (text: string) => logged.push(text);
	await run({ onLog, parameters: { sessionId: 's1' }, options: { waitTimeoutSeconds: 40 } });
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
			lastMessage: answers[1],
			messages: [
				{ sequence: 1, receivedAt: iso, format: 'json', message: { type: 'step' } },
				{ sequence: 2, receivedAt: iso, format: 'json', message: answers[1] },
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
	const opened = service.upgrades[0]?.receivedAt ?? 0;
	expect(service.requests[0]?.receivedAt).toBeLessThanOrEqual(opened);
	expect(texts(item)).toEqual(answers);
	expect(item?.json).not.toHaveProperty('gap');
});

test.each<[string, IDataObject, IDataObject]>([
	['count', count(2), {}],
	['silence', silence, {}],
	['timeout', count(3), { waitTimeoutSeconds: 0.1, onWaitTimeout: 'output' }],
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
	const [item] = await run({ parameters: silence });
	expect([item?.json.endedBy, texts(item)]).toEqual(['silence', answers]);
	expect(service.upgrades).toHaveLength(2);
});

test('bytes of a message come as a file beside those of the answer', async () => {
	await service.close();
	await serve({ messages: () => ['text', Buffer.from([0xff])] });
	service.script({ body: Buffer.from([1]), contentType: 'image/png' });
	const [item] = await run({ parameters: count(2) });
	expect(texts(item)).toEqual(['text', null]);
	expect(item?.binary).toMatchObject({
		data: { mimeType: 'image/png' },
		message_2: { data: '/w==' },
	});
});

test('several items wait beside each other, each on a channel of its own', async () => {
	await service.close();
	const answer = (sessionId: string) => [{ type: 'answer', sessionId }];
	await serve({
		messages: ({ sessionId }) => answer(sessionId),
		messageIntervalMilliseconds: 30,
	});
	const items = numbered(20);
	const parameters = { sessionId: '=s{{ $json.n }}' };
	const output = await run({ items, parameters, options: { parallelRequests: 20 } });
	expect(output.map((item) => texts(item))).toEqual(items.map((_, n) => answer(`s${n}`)));
});

describe('fails', () => {
	test('without a call when the channel is refused, and says so', async () => {
		service.scriptUpgrades({ status: 403 }, { status: 403 });
		await expectFailure(run(), 403, '403', 'The agent was not started');
		expect(service.requests).toHaveLength(0);
	});

	test('after the call when the channel is refused then', async () => {
		const running = failureOf(run({ parameters: never }));
		await until(() => service.requests.length === 1);
		service.closeChannels(1008);
		const error = await running;
		expect(error.message).toContain('1008');
		expect(error.description).toContain('The agent was started');
		expect(service.requests).toHaveLength(1);
	});

	test('when the call fails: at once, and without its channel', async () => {
		service.fail(500);
		await expectFailure(run(), 500, '');
	});

	test('when the messages do not end in time', async () => {
		const running = run({ parameters: never, options: { waitTimeoutSeconds: 0.1 } });
		const message = 'The wait for messages did not end within 0.1 s. Messages received: 2';
		await expectFailure(running, 504, message, "Values of 'type' received: step, answer.");
	});

	test('with Continue on Fail as an item, beside one that succeeds', async () => {
		service.scriptUpgrades({ closeCode: 1003 }, {});
		const output = await run({ items: numbered(2), node: goOn, options: oneAtATime });
		expect(output.map(({ json }) => Object.keys(json)[0])).toEqual(['error', 'output']);
	});

	const empty = "'Final Message Field' and 'Final Message Values' are empty";

	test.each<[string, IDataObject, IDataObject, IDataObject, string]>([
		['nothing to match', { matchField: '', matchValue: '' }, {}, {}, empty],
		['no number to count', count(0), {}, {}, "'Message Count'"],
		['no end', { waitUntil: 'sunset' }, {}, {}, "'Wait Until'"],
		['no time', {}, { waitTimeoutSeconds: -1 }, {}, "'Wait Timeout (Seconds)'"],
		['no WebSocket address', {}, {}, { webSocketUrl: 'mailto:x' }, 'WebSocket URL'],
	])('before anything is sent with %s', async (_, parameters, options, api, message) => {
		await expectFailure(run({ parameters, options, api }), 400, message);
		expect(service.connections).toBe(0);
	});

	test('without a secret in what it says', async () => {
		const body = `${apiKey} ${signer.signature}`;
		service.scriptUpgrades({ status: 401, body }, { status: 401 });
		const shown = inspect(await failureOf(run()), { depth: 9 });
		for (const secret of [apiKey, signer.signature, signer.userPublicKey])
			expect(shown).not.toContain(secret);
	});
});

describe('stopping the execution', () => {
	test('ends the wait, and leaves no channel', async () => {
		const stop = new AbortController();
		const waiting = failureOf(run({ parameters: never, signal: stop.signal }));
		await until(() => service.requests.length === 1);
		stop.abort();
		const error = await waiting;
		expect(error.message).toBe('The execution was stopped');
		expect(error.description).toMatch(/was started|may have started/);
	});

	test('ends the opening of the channel, and sends nothing', async () => {
		service.scriptUpgrades({ fault: 'silence' });
		const stop = new AbortController();
		const waiting = failureOf(run({ signal: stop.signal }));
		await until(() => service.upgrades.length === 1);
		stop.abort();
		expect(await waiting).toMatchObject({
			message: 'The execution was stopped',
			description: 'The agent was not started.',
		});
		expect(service.requests).toHaveLength(0);
	});
});
