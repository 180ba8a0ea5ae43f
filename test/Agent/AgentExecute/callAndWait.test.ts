import { inspect } from 'node:util';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { AgentService } from '../../../dev/agent-service/server';
import { failureOf } from '../../createExecuteContext';
import { useSteadyClock } from '../../steadyClock';
import { until } from '../session/tap';
import {
	apiKey,
	expectFailure,
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

test("the channel is opened for the call's new session, and with the item's own values", async () => {
	const own = { userPublicKey: '0xother', signature: '0xsigned' };
	const timestamp = 1_767_225_600_123;
	const [item] = await run({ options: { userId: '0xb', ...own, timestamp } });
	const { sessionId } = item?.json ?? {};
	const expected = { ...own, sessionId, apiKey, timestamp: '1767225600' };
	expect(service.upgrades.map(({ query }) => query)).toEqual([expected]);
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

test('ends at its time limit with what came, if On Wait Timeout says so', async () => {
	const options = { waitTimeoutSeconds: 0.1, onWaitTimeout: 'output' };
	const [item] = await run({ parameters: count(3), options });
	expect([item?.json.endedBy, texts(item)]).toEqual(['timeout', answers]);
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

describe('fails', () => {
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
