import { readFileSync } from 'node:fs';
import type { IDataObject, IRun } from 'n8n-workflow';

import {
	closeListener,
	replaceListener,
	waitWhileStopping,
} from '../../../nodes/Agent/AgentSessionTrigger/triggerState';
import { PublishedListener } from '../../../nodes/Agent/AgentSessionTrigger/listener';
import { readTriggerSettings } from '../../../nodes/Agent/AgentSessionTrigger/fields';
import { NodeError } from '../../../nodes/core/errors';
import { forgetStops } from '../../sharedState';
import { FakeClock, settled } from '../session/fakeClock';
import { FakeSession } from '../session/fakeSession';
import { FakeChannels } from './fakeChannels';
import { type Emitted, type TriggerOptions, TriggerRun, until } from './triggerRun';

const service = { url: 'http://agent.example', webSocketUrl: 'ws://agent.example', apiKey: 'key' };

let nodeCount = 0;

/** A node that remembers no start before. */
function nodeOfItsOwn() {
	return { clock: new FakeClock(), workflowId: `listener ${++nodeCount}` };
}

function listen(
	parameters: IDataObject = {},
	options: Partial<TriggerOptions> = {},
	{ clock, workflowId } = nodeOfItsOwn(),
) {
	const standard = { service, workflowId, run: () => undefined };
	const run = new TriggerRun({ ...standard, parameters, ...options });
	const channels = new FakeChannels();
	const listening = new PublishedListener({
		context: run.context,
		settings: readTriggerSettings(run.context),
		readConnectRequest: () => Promise.reject(new Error('not read')),
		clock,
		connect: channels.connect,
	});
	listening.start();
	return { run, clock, channels, listening };
}

/** An n8n that takes no message. */
const refusing: Partial<TriggerOptions> = {
	run: ({ done }) => done?.reject(new Error('no database')),
};
const endsAtOnce: Partial<TriggerOptions> = { run: ({ done }) => done?.resolve({} as IRun) };
const oneAtATime = { options: { maxConcurrentExecutions: 1 } };
const twoAtATime = { options: { maxConcurrentExecutions: 2 } };
const messagesOf = ({ failedExecutions }: TriggerRun) =>
	failedExecutions.map(({ message }) => message);
const byId = { options: { deduplicationField: 'id' } };
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

beforeEach(forgetStops);

describe('the watchdog', () => {
	test('gives the place of an execution free whose end n8n never tells (#19877)', async () => {
		const { run, clock, channels } = listen(oneAtATime);
		channels.send('1');
		channels.send('2');
		await clock.advance(3_629_999);
		expect(run.emitted).toHaveLength(1);
		await clock.advance(1);
		expect(run.messages).toEqual([1, 2]);
		expect(messagesOf(run)).toEqual(['n8n does not say what became of 1 execution']);
	});

	test.each([
		[120, 150_000],
		[-1, 3_630_000],
	])("follows the workflow's own limit of %d s", async (executionTimeout, milliseconds) => {
		const { run, clock, channels } = listen(oneAtATime, { settings: { executionTimeout } });
		channels.send('1');
		channels.send('2');
		await clock.advance(milliseconds - 1);
		expect(run.emitted).toHaveLength(1);
		await clock.advance(1);
		expect(run.emitted).toHaveLength(2);
	});

	test('does not start the next one before n8n has stopped one at its timeout, and tells nothing', async () => {
		const { run, clock, channels } = listen(oneAtATime, { settings: { executionTimeout: 60 } });
		channels.send('1');
		channels.send('2');
		await clock.advance(65_000);
		expect(run.emitted).toHaveLength(1);
		run.emitted[0]?.done?.resolve({} as IRun);
		await clock.advance(0);
		expect(run.messages).toEqual([1, 2]);
		expect([...run.logged, ...run.failedExecutions]).toEqual([]);
	});
});

describe('executions whose end n8n never tells, as after Redis has lost its data', () => {
	/** The first executions end after some time, the later ones never. */
	async function lose(maxConcurrentExecutions: number, endCount: number, milliseconds = 1500) {
		const all = listen({ options: { maxConcurrentExecutions } }, { run: () => undefined });
		const { run, clock, channels } = all;
		for (let n = 1; n <= 30; n++) channels.send(`${n}`);
		await clock.advance(milliseconds);
		for (const { done } of run.emitted.slice(0, endCount)) done?.resolve({} as IRun);
		await clock.advance(0);
		return { ...all, startedCount: run.emitted.length };
	}

	test('frees the places of executions whose end n8n never tells, once nothing has ended for far longer than usual, and tells', async () => {
		const { run, clock, startedCount } = await lose(10, 5);
		expect(startedCount).toBe(15);
		await clock.advance(29_999);
		expect(run.emitted).toHaveLength(15);
		await clock.advance(1);
		expect(run.messages).toEqual(upTo(25));
		expect(messagesOf(run)).toEqual(['n8n does not say what became of 10 executions']);
		expect(run.logged.join()).toContain('n8n does not say what became of 10 executions');
	});

	test('waits twice as long each further time, so that long executions do not pile up', async () => {
		const { run, clock } = await lose(10, 5);
		await clock.advance(30_000 + 59_999);
		expect(run.emitted).toHaveLength(25);
		await clock.advance(1);
		expect(run.messages).toEqual(upTo(30));
		expect(run.failedExecutions).toHaveLength(2);
	});

	test('waits ten times as long as the longest so far took', async () => {
		const { run, clock } = await lose(10, 5, 60_000);
		await clock.advance(599_999);
		expect(run.failedExecutions).toEqual([]);
		await clock.advance(1);
		expect(run.failedExecutions).toHaveLength(1);
	});

	test('one at a time, only tells, because the order goes first', async () => {
		const { run, clock } = await lose(1, 1);
		await clock.advance(120_000);
		expect(run.messages).toEqual([1, 2]);
		expect(messagesOf(run)).toEqual(['n8n does not say what became of 1 execution']);
		await clock.advance(3_630_000);
		expect(run.messages).toEqual([1, 2, 3]);
	});

	test('none is lost while nothing waits, nor in the first 15 minutes before one has ended', async () => {
		const idle = listen({}, { run: () => undefined });
		for (let n = 1; n <= 10; n++) idle.channels.send(`${n}`);
		idle.run.emitted[0]?.done?.resolve({} as IRun);
		await idle.clock.advance(600_000);
		const fresh = await lose(10, 0);
		await fresh.clock.advance(15 * 60_000 - 1501);
		expect([...idle.run.failedExecutions, ...fresh.run.failedExecutions]).toEqual([]);
		expect(fresh.run.emitted).toHaveLength(10);
		await fresh.clock.advance(1);
		expect(fresh.run.emitted).toHaveLength(20);
		expect(messagesOf(fresh.run)).toEqual(['n8n does not say what became of 10 executions']);
	});

	test('an end that comes after all frees nothing twice', async () => {
		const { run, clock } = await lose(10, 5);
		await clock.advance(30_000);
		for (const { done } of run.emitted.slice(5, 15)) done?.resolve({} as IRun);
		await clock.advance(0);
		expect(run.emitted).toHaveLength(25);
	});

	test('an end that comes after all tells how long executions take', async () => {
		const { run, clock } = await lose(10, 1, 1000);
		await clock.advance(59_000);
		expect(run.emitted).toHaveLength(21);
		for (const { done } of run.emitted.slice(1, 11)) done?.resolve({} as IRun);
		await clock.advance(580_000);
		expect(run.failedExecutions).toHaveLength(1);
	});

	test.each<[string, (done: Emitted['done']) => void]>([
		['one that n8n did not start', (done) => done?.reject(new Error('no database'))],
		['one with a key that n8n knows', (done) => done?.resolve(undefined as never)],
	])('%s does not tell how long executions take', async (_, end) => {
		const { run, clock } = await lose(10, 0);
		end(run.emitted[0]?.done);
		await clock.advance(15 * 60_000 - 1);
		expect(run.emitted).toHaveLength(11);
		// The place of one that was refused was free only after 10 s.
		await clock.advance(10_001);
		expect(run.emitted).toHaveLength(21);
	});

	test('a message that n8n refuses when nothing waits for it any more is lost like any other', async () => {
		const { run, clock, channels } = listen(byId, { settings: { executionTimeout: 120 } });
		channels.send('{"id":1}');
		await clock.advance(150_000);
		run.emitted[0]?.done?.reject(new Error('no database'));
		await clock.advance(0);
		expect(messagesOf(run)).toEqual(['1 message was not accepted by n8n']);
		channels.send('{"id":1}');
		expect(run.emitted).toHaveLength(2);
	});
});

test('messages that n8n does not take are counted by session, and told again when it takes some', async () => {
	let isDown = true;
	const { run, clock, channels } = listen(
		{ sessionIds: 'a,b' },
		{
			run: ({ done }) =>
				isDown ? done?.reject(new Error('no database')) : done?.resolve({} as IRun),
		},
	);
	for (let n = 0; n < 22; n++) channels.send(`${n}`, n < 20 ? 0 : 1);
	await clock.advance(25_000);
	expect(run.failedExecutions).toMatchObject([{ message: '1 message was not accepted by n8n' }]);
	isDown = false;
	channels.send('23');
	channels.send('24');
	await clock.advance(30_000);
	expect(run.failedExecutions.slice(1)).toMatchObject([
		{
			message: '22 messages were not accepted by n8n',
			description: 'n8n accepts messages again. Sessions: a (20), b (2).',
		},
	]);
	expect(run.logged.join()).toContain('22 messages were not accepted by n8n');
});

test('an outage of n8n costs only what it refused before it was back, not what waits', async () => {
	let isDown = false;
	const { run, clock, channels } = listen(twoAtATime, {
		run: ({ done }) => {
			if (isDown) done?.reject(new Error('no database'));
			else clock.callAfter(10_000, () => done?.resolve({} as IRun));
		},
	});
	for (const n of upTo(20)) channels.send(`${n}`);
	isDown = true;
	await clock.advance(11_000);
	expect(run.emitted).toHaveLength(4);
	// Each refusal keeps its place for 10 s.
	await clock.advance(16_000);
	expect(run.emitted).toHaveLength(6);
	isDown = false;
	await clock.advance(100_000);
	expect(run.emitted).toHaveLength(20);
});

test('a connection event that n8n does not take is no lost message', async () => {
	const { run, channels, clock } = listen({ options: { connectionEvents: true } }, refusing);
	const event = { event: 'connected', at: '2026-01-01T00:00:00.000Z', gapMs: null } as const;
	channels.listeners[0]?.onEvent?.({ ...event, sessionId: 's1', reason: null });
	await clock.advance(120_000);
	expect(run.emitted.length).toBeGreaterThan(0);
	expect(run.failedExecutions).toEqual([]);
});

test('messages that n8n does not take are told with their number, too, if no other comes', async () => {
	const { run, clock, channels, listening } = listen({}, refusing);
	channels.send('1');
	channels.send('2');
	await clock.advance(30_000);
	channels.send('3');
	await clock.advance(59_999);
	expect(run.failedExecutions).toMatchObject([
		{ description: 'No execution was started: no database. Sessions: s1 (1).' },
	]);
	await clock.advance(1);
	expect(run.failedExecutions.slice(1)).toMatchObject([
		{
			message: '3 messages were not accepted by n8n',
			description: 'No further message has arrived since then. Sessions: s1 (3).',
		},
	]);
	channels.send('4');
	await settled();
	const closed = listening.close();
	await clock.advance(2000);
	await closed;
	expect(clock.pending).toBe(0);
	expect(run.failedExecutions.slice(2)).toMatchObject([
		{ description: 'The trigger was stopped. Sessions: s1 (4).' },
	]);
});

test('a message with an id that n8n does not take is tried three times with the same key, then reported', async () => {
	const { run, clock, channels } = listen(byId, refusing);
	channels.send('{"id":1}');
	// After 2 s and then after 4 s.
	for (const [milliseconds, count] of [
		[1999, 1],
		[1, 2],
		[3999, 2],
		[60_000, 3],
	] as const) {
		await clock.advance(milliseconds);
		expect(run.emitted).toHaveLength(count);
	}
	expect(new Set(run.emitted.map(({ key }) => key)).size).toBe(1);
	expect(run.failedExecutions).toMatchObject([{ httpCode: '500' }]);
	await clock.advance(60_000);
	expect(clock.pending).toBe(0);
});

test('what n8n rejects with something that is no error is told as it is', async () => {
	const { run, clock, channels } = listen(
		{},
		{ run: ({ done }) => done?.reject('no database' as never) },
	);
	channels.send('1');
	await clock.advance(0);
	expect(run.failedExecutions[0]?.description).toContain('no database');
});

test('in a batch, an id that n8n did not take may come again', async () => {
	const options = { deduplicationField: 'id', batchSize: 2 };
	const { run, clock, channels } = listen({ options }, refusing);
	for (let n = 0; n < 2; n++) {
		channels.send('{"id":1}');
		channels.send('{"id":2}');
		await clock.advance(10);
	}
	expect(run.emitted).toHaveLength(2);
});

describe('failed executions', () => {
	const refusedFor = (sessionId: string) =>
		new NodeError({ code: 401, message: `session ${sessionId} refused`, description: 'Ask.' });
	const texts = ({ failedExecutions }: TriggerRun) =>
		failedExecutions.map(({ message, description }) => `${message}: ${description ?? ''}`);

	test('a session that is refused does not silence the next', () => {
		const { run, channels } = listen({ sessionIds: 'a,b' });
		for (const id of ['a', 'b']) channels.alert(id, refusedFor(id), 'refused');
		expect(texts(run)).toEqual(['session a refused: Ask.', 'session b refused: Ask.']);
	});

	const ids = Array.from({ length: 40 }, (_, n) => `s${n}`);

	test('of many sessions within a minute are ten, and the others stand in the log', async () => {
		const { run, clock, channels } = listen({ sessionIds: ids });
		for (const id of ids) channels.alert(id, refusedFor(id), 'refused');
		expect(texts(run)).toHaveLength(10);
		expect(run.logged.join()).toContain('session s39 refused. Ask.');
		await clock.advance(60_000);
		channels.alert('s39', refusedFor('s39'), 'outage');
		expect(texts(run).slice(10)).toEqual(['session s39 refused: Ask.']);
	});
});

describe('a filter', () => {
	const filter = { filterField: 'type', filterValue: 'answer, error' };
	const message = (type: string, n: number) => JSON.stringify({ type, n });

	test('lets only what it names start an execution, and the rest costs no queue', () => {
		const { run, channels } = listen({ ...filter, options: { maxConcurrentExecutions: 1 } });
		channels.send(message('answer', 1));
		for (let n = 2; n < 100; n++) channels.send(message('step', n));
		channels.send(message('error', 100));
		run.emitted[0]?.done?.resolve({} as IRun);
		return settled().then(() => {
			expect(run.items.map(({ json }) => json.sequence)).toEqual([1, 100]);
		});
	});

	test('of texts takes those that equal one', () => {
		const { run, channels } = listen({ filterValue: '[DONE]' });
		for (const text of ['[DONE]', 'done', '{"type":"[DONE]"}']) channels.send(text);
		expect(run.messages).toEqual(['[DONE]']);
	});

	test('takes a value with a comma in double quotes', () => {
		const { run, channels } = listen({ filterValue: 'done, "yes, done", "say ""no"""' });
		for (const text of ['yes, done', 'yes', 'done', 'say "no"']) channels.send(text);
		expect(run.messages).toEqual(['yes, done', 'done', 'say "no"']);
	});

	test('and an ID count in JSON of binary frames, too', () => {
		const { run, channels } = listen({ ...filter, options: { deduplicationField: 'n' } });
		const answer = message('answer', 1);
		for (const text of [answer, message('step', 2), answer, 'no JSON'])
			channels.send(text, 0, undefined, true);
		expect(run.emitted).toHaveLength(0);
		return settled().then(() => {
			expect(run.items).toHaveLength(1);
		});
	});

	test('passes a gap on to the next message that starts one', () => {
		const { run, channels } = listen(filter);
		channels.send(message('step', 1), 0, 500);
		channels.send(message('step', 2), 0, 300);
		channels.send(message('answer', 3));
		channels.send(message('answer', 4));
		expect(run.items.map(({ json }) => json.gapMs)).toEqual([800, undefined]);
	});
});

test('a gap before a message that came before is told by the next one', () => {
	const { run, channels } = listen(byId);
	channels.send('{"id":1}');
	channels.send('{"id":1}', 0, 700);
	channels.send('{"id":2}');
	expect(run.items.map(({ json }) => json.gapMs)).toEqual([undefined, 700]);
});

test('a message with an ID that came before stands in the log', () => {
	const { run, channels } = listen(byId);
	for (let n = 0; n < 5; n++) channels.send('{"id":1}');
	expect(run.logged.filter((text) => text.includes('an ID that came before'))).toHaveLength(4);
});

describe('each line of the log that docs/self-hosting.md names', () => {
	const page = readFileSync('docs/self-hosting.md', 'utf8');
	const rows = Array.from(
		page.matchAll(/^\| (?:List of executions, l|L)og \(`(\w+)`\) +\| "(.+?)" +\|/gm),
		([, level, text = '']) => [level, text] as const,
	);

	/** What leads to each of them. */
	const causes: Record<string, () => Promise<readonly string[]>> = {
		'… not accepted by n8n': () => linesOf(refusing, {}, 1),
		'n8n does not say what became of … executions': async () => {
			const { run, clock, channels } = listen();
			for (const n of upTo(11)) channels.send(`${n}`);
			await clock.advance(15 * 60_000);
			return run.leveled;
		},
		'The trigger was stopped while … waiting': () => linesOf({}, oneAtATime, 2),
		'n8n takes no more messages': () => linesOf(refusing, byId, 1),
		'Session channel …: …; next attempt in … s': async () => {
			const { network, account } = await new FakeSession().opened();
			network.last.end();
			return account.log;
		},
		'… also listens to this session': async () => {
			const { listening } = listen();
			await replaceListener(listening);
			const { run } = listen();
			await closeListener(listening);
			return run.leveled;
		},
		'a message with an ID that came before starts no execution': () =>
			linesOf(endsAtOnce, byId, 2),
		'the queue is full, reading is paused': () => linesOf({}, oneAtATime, 10_001),
	};

	/** Sends equal messages, and stops. */
	async function linesOf(
		options: Partial<TriggerOptions>,
		parameters: IDataObject,
		count: number,
	) {
		const { run, clock, channels, listening } = listen(parameters, options);
		for (let n = 0; n < count; n++) channels.send('{"id":1}');
		await clock.advance(0);
		void listening.close();
		await clock.advance(2000);
		return run.leveled;
	}

	test('is known here', () => {
		expect(rows.map(([, text]) => text)).toEqual(Object.keys(causes));
	});

	test.each(rows)('has its level: %s, %s', async (level, text) => {
		const pattern = new RegExp(text.replaceAll('…', '.*'));
		const lines = (await causes[text]?.()) ?? [];
		const levels = lines.filter((line) => pattern.test(line)).map((line) => line.split(' ')[0]);
		expect([...new Set(levels)]).toEqual([level]);
	});
});

test('a frame is parsed once, for filter, deduplication and item', () => {
	const { run, channels } = listen({
		...{ filterField: 'type', filterValue: 'answer' },
		options: { deduplicationField: 'id' },
	});
	const parse = jest.spyOn(JSON, 'parse');
	channels.send('{"type":"answer","id":1}');
	const parsed = parse.mock.calls.filter(([text]) => text.includes('answer'));
	parse.mockRestore();
	expect(run.emitted).toHaveLength(1);
	expect(parsed).toHaveLength(1);
});

test('messages without an ID always start an execution', () => {
	const { run, channels } = listen(byId);
	for (const text of ['{}', '{}', 'text', 'text']) channels.send(text);
	expect(run.emitted.map(({ key }) => key)).toEqual(Array(4).fill(undefined));
});

test('ids that are longer than a number holds are none, so that no message is lost', () => {
	const { run, channels } = listen(byId);
	channels.send('{"id":9007199254740992}');
	channels.send('{"id":9007199254740993}');
	expect(run.emitted.map(({ key }) => key)).toEqual([undefined, undefined]);
});

test('an n8n that does not tell the settings of the workflow has none', () => {
	const run = new TriggerRun({ service });
	Object.defineProperty(run.context, 'getWorkflowSettings', { value: undefined });
	expect(readTriggerSettings(run.context).maxExecutionSeconds).toBe(3600);
});

test('the settings reach every channel', () => {
	const options = { heartbeatSeconds: 0, initialMessage: 'hi', pingText: 'ping' };
	const { channels } = listen({ sessionIds: 'a,b', options });
	expect(channels.options).toMatchObject([
		{ ...options, sessionId: 'a' },
		{ ...options, sessionId: 'b' },
	]);
});

test('a full queue pauses every channel, and resumes it', async () => {
	const { run, channels } = listen(
		{ sessionIds: 'a,b', options: { batchSize: 6000, maxConcurrentExecutions: 1 } },
		{ run: () => undefined },
	);
	for (let n = 0; n < 15_999; n++) channels.send('1');
	expect(channels.log).toEqual([]);
	channels.send('2');
	expect(channels.log).toEqual(['pause a', 'pause b']);
	run.emitted[0]?.done?.resolve({} as IRun);
	await settled();
	expect(channels.log.slice(2)).toEqual(['resume a', 'resume b']);
});

describe('closing', () => {
	const sendAll = (channels: FakeChannels, count: number) => {
		for (const n of upTo(count)) channels.send(`{"n":${n},"secret":"canary"}`);
	};
	/** A stop hands over for a second, and has 200 ms to store a failed execution. */
	const closeIn = async (clock: FakeClock, listening: PublishedListener) => {
		const closing = listening.close();
		await clock.advance(1200);
		await closing;
	};
	const numbersOf = ({ messages }: TriggerRun) =>
		messages.map((message) => (message as { n: number }).n);

	test('ends the pause after a refusal', async () => {
		const { run, clock, channels, listening } = listen(oneAtATime, refusing);
		for (const n of upTo(2)) channels.send(`${n}`);
		await settled();
		void listening.close();
		await settled();
		expect(run.messages).toEqual([1, 2]);
		await clock.advance(1200);
	});

	test('ends what is waited for, leaves no timer, and starts nothing again', async () => {
		const { run, clock, channels, listening } = listen(twoAtATime);
		for (const n of upTo(3)) channels.send(`${n}`);
		const closing = listening.close();
		await clock.advance(1200);
		await closing;
		expect(listening.close()).toBe(closing);
		expect(run.messages).toEqual([1, 2, 3]);
		await clock.advance(60_000);
		expect(clock.pending).toBe(0);
		listening.start();
		expect(channels.options).toHaveLength(1);
	});

	test('waits for no execution that begins late, because its data was stored late', async () => {
		const { run, clock, channels, listening } = listen();
		let store = () => {};
		const stored = new Promise<void>((resolve) => (store = resolve));
		const { helpers } = run.context;
		const prepare = helpers.prepareBinaryData.bind(helpers);
		helpers.prepareBinaryData = async (...given) => {
			await stored;
			return await prepare(...given);
		};
		channels.send('a', 0, undefined, true);
		await closeIn(clock, listening);
		store();
		await until(() => run.emitted.length === 1);
		await clock.advance(0);
		expect(clock.pending).toBe(0);
	});

	test('names the session of a message that n8n refuses later, and takes it again', async () => {
		const node = nodeOfItsOwn();
		const first = listen(byId, {}, node);
		first.channels.send('{"id":1}');
		await closeIn(node.clock, first.listening);
		first.run.emitted[0]?.done?.reject(new Error('no database'));
		await node.clock.advance(0);
		expect(first.run.logged).toContain(
			'Session channel s1: n8n takes no more messages: no database',
		);
		const second = listen(byId, {}, node);
		second.channels.send('{"id":1}');
		expect(second.run.emitted).toHaveLength(1);
	});

	test('waits for nothing when nothing is queued', async () => {
		const { clock, channels, listening } = listen();
		channels.send('1');
		await listening.close();
		expect(clock.pending).toBe(0);
	});

	test('hands over what the server sends until it has seen the goodbye', async () => {
		const { run, channels, listening } = listen();
		channels.send('1');
		channels.lastWords.push('2', '3');
		await listening.close();
		expect(run.messages).toEqual([1, 2, 3]);
	});

	test('goes on within the limit for a second at most', async () => {
		const ends: Array<() => void> = [];
		const { run, clock, channels, listening } = listen(oneAtATime, {
			run: ({ done }) => void ends.push(() => done?.resolve({} as IRun)),
		});
		sendAll(channels, 200);
		const closing = listening.close();
		for (let n = 0; n < 9; n++) {
			ends[n]?.();
			await clock.advance(100);
		}
		expect(numbersOf(run)).toEqual(upTo(10));
		await clock.advance(100);
		ends[9]?.();
		await clock.advance(1200);
		await closing;
		expect(numbersOf(run)).toEqual(upTo(10));
	});

	test('of a long queue runs 50 executions at once, and no more', async () => {
		const { run, clock, channels, listening } = listen(twoAtATime);
		sendAll(channels, 10_000);
		await closeIn(clock, listening);
		expect(numbersOf(run)).toEqual(upTo(50));
		expect(run.logged.join()).not.toContain('canary');
		await clock.advance(60_000);
		expect(clock.pending).toBe(0);
	});

	test('closes the channels at once, and hands over what came until then', async () => {
		const { run, clock, channels, listening } = listen(oneAtATime);
		sendAll(channels, 2);
		channels.lastWords.push('{"n":3}', '{"n":4}');
		const closing = listening.close();
		expect(channels.log).toEqual(['close s1']);
		run.emitted[0]?.done?.resolve({} as IRun);
		await clock.advance(2000);
		await closing;
		expect(numbersOf(run)).toEqual([1, 2]);
		const message = 'The trigger was stopped while 2 messages were waiting';
		expect(run.failedExecutions).toMatchObject([{ httpCode: '429', message }]);
		expect(run.failedExecutions[0]?.description).toMatch(/^What waits is processed if/);
	});

	test('tells of messages that the service had sent and that could not be read in time', async () => {
		const unread =
			'The service sent more messages that could not be read in time. They are lost.';
		const { run, clock, channels, listening } = listen(oneAtATime);
		channels.isRead = false;
		sendAll(channels, 3);
		void listening.close();
		await clock.advance(2000);
		const other = listen();
		other.channels.isRead = false;
		void other.listening.close();
		await other.clock.advance(2000);
		expect(run.failedExecutions[0]?.description).toContain(unread);
		const message = 'The trigger was stopped while 0 messages were waiting';
		expect(other.run.failedExecutions).toMatchObject([{ httpCode: '429', message }]);
		expect(other.run.failedExecutions[0]?.description).toContain(unread);
	});

	test('the next start tells since when no channel was open, and the gaps that no item has told', async () => {
		const node = nodeOfItsOwn();
		const filter = { filterField: 'type', filterValue: 'answer' };
		const first = listen({ sessionIds: 'a,b', ...filter }, {}, node);
		first.channels.send('{"type":"step"}', 1, 300);
		for (const frames of first.channels.frames)
			frames.recordLoss(5000, 'the trigger was stopped');
		await first.listening.close();
		const second = listen({ sessionIds: 'b,a,c', ...filter }, {}, node);
		for (const [index, frames] of second.channels.frames.entries()) {
			frames.recordOpen(6000);
			second.channels.send('{"type":"answer"}', index);
		}
		expect(second.run.items.map(({ json }) => json.sequence)).toEqual([1, 1, 1]);
		expect(second.run.items.map(({ json }) => json.gapMs)).toEqual([1300, 1000, undefined]);
	});

	test('one at a time, hands over nothing out of order: all of it goes on one after the other', async () => {
		const node = nodeOfItsOwn();
		const first = listen(oneAtATime, {}, node);
		sendAll(first.channels, 10);
		await closeIn(node.clock, first.listening);
		expect(numbersOf(first.run)).toEqual([1]);
		const second = listen(oneAtATime, endsAtOnce, node);
		await node.clock.advance(0);
		expect(numbersOf(second.run)).toEqual(upTo(10).slice(1));
	});

	test('tells by a failed execution what waits, once, while n8n can still store it', async () => {
		const { run, clock, channels, listening } = listen(oneAtATime);
		sendAll(channels, 10_000);
		let closed = false;
		void listening.close().then(() => (closed = true));
		// A second to hand over, then 200 ms to store the failed execution.
		await clock.advance(999);
		expect(run.failedExecutions).toEqual([]);
		await clock.advance(1);
		expect(messagesOf(run)).toEqual([
			'The trigger was stopped while 9999 messages were waiting',
		]);
		expect(run.failedExecutions[0]?.description).toMatch(
			/^What waits is processed if the trigger starts again in the same n8n process within 60 s, and lost otherwise\./,
		);
		await clock.advance(199);
		expect(closed).toBe(false);
		await clock.advance(1);
		expect(closed).toBe(true);
		const logged = 'while 9999 messages were waiting. What waits is processed if';
		expect(run.logged.join()).toContain(logged);
		await clock.advance(60_000);
		expect(run.failedExecutions).toHaveLength(1);
	});

	test('leaves what is too much to the next start within a minute: nothing is lost or doubled', async () => {
		const node = nodeOfItsOwn();
		const { clock } = node;
		const first = listen(twoAtATime, {}, node);
		sendAll(first.channels, 1000);
		await closeIn(clock, first.listening);
		await clock.advance(58_000);
		const options = { maxConcurrentExecutions: 2, batchSize: 500 };
		const second = listen({ options }, {}, node);
		second.channels.send('{"n":1001}');
		await clock.advance(0);
		expect([...numbersOf(first.run), ...numbersOf(second.run)]).toEqual(upTo(1001));
		await clock.advance(120_000);
		expect(second.run.failedExecutions).toEqual([]);
	});

	test('leaves nothing to sessions that were taken out of the node, and tells', async () => {
		const node = nodeOfItsOwn();
		const first = listen({ ...twoAtATime, sessionIds: 'a,b' }, {}, node);
		for (const n of upTo(2)) first.channels.send(`"running ${n}"`);
		for (const n of upTo(100)) first.channels.send(`${n}`, n % 2);
		await closeIn(node.clock, first.listening);
		const second = listen({ sessionIds: 'b,c', options: { batchSize: 100 } }, {}, node);
		await node.clock.advance(0);
		expect(new Set(second.run.items.map(({ json }) => json.sessionId))).toEqual(new Set(['b']));
		expect(second.run.messages).toHaveLength(26);
		const told = "'Session IDs' no longer contains their session: 26";
		expect(second.run.logged.join()).toContain(told);
		expect(second.run.failedExecutions).toEqual([]);
	});

	test.each([false, true])(
		'leaves what n8n refuses at the stop, and hands over no more (tried before: %s)',
		async (isTried) => {
			const node = nodeOfItsOwn();
			const options = { maxConcurrentExecutions: 2, deduplicationField: 'n' };
			let isPublished = true;
			const run: TriggerOptions['run'] = ({ done }) =>
				isPublished || done?.reject(new Error('Published version not found'));
			const first = listen({ options }, { run }, node);
			sendAll(first.channels, 100);
			isPublished = false;
			if (isTried) first.run.emitted[1]?.done?.reject(new Error('the database is locked'));
			else first.run.emitted[0]?.done?.resolve({} as IRun);
			await node.clock.advance(0);
			await closeIn(node.clock, first.listening);
			expect(first.run.failedExecutions).toHaveLength(1);
			const reason = isTried ? 'the database is locked' : 'Published version';
			expect(first.run.logged.join()).toContain(reason);
			const second = listen({ options: { batchSize: 200 } }, {}, node);
			await node.clock.advance(0);
			const taken = isTried ? [1] : [1, 2];
			expect(numbersOf(second.run)).toEqual(upTo(100).filter((n) => !taken.includes(n)));
		},
	);

	test('numbers what goes on and what comes then from 1 on, by session', async () => {
		const node = nodeOfItsOwn();
		const options = { maxConcurrentExecutions: 1, batchSize: 60 };
		const parameters = { sessionIds: 'a,b', options };
		const first = listen({ ...twoAtATime, sessionIds: 'a,b' }, {}, node);
		for (const n of upTo(105)) first.channels.send(`${n}`, n % 3 === 0 ? 1 : 0);
		await closeIn(node.clock, first.listening);
		const second = listen(parameters, {}, node);
		second.channels.send('"new"', 0);
		second.channels.send('"new"', 1);
		await closeIn(node.clock, second.listening);
		const sequences = (sessionId: string) =>
			second.run.items
				.filter(({ json }) => json.sessionId === sessionId)
				.map(({ json }) => json.sequence);
		const counts = [sequences('a'), sequences('b')].map(({ length }) => length);
		expect(Math.min(...counts)).toBeGreaterThan(10);
		expect([sequences('a'), sequences('b')]).toEqual(counts.map(upTo));
	});

	test.each([1, 50])(
		'what goes on after batches of %d is known in batches',
		async (batchSize) => {
			const node = nodeOfItsOwn();
			const common = { deduplicationField: 'id', maxConcurrentExecutions: 1 };
			const first = listen({ options: { ...common, batchSize } }, {}, node);
			for (const id of upTo(5000)) first.channels.send(`{"id":${id}}`);
			if (batchSize === 1) first.channels.send('{"id":5000}');
			await closeIn(node.clock, first.listening);
			const options = { ...common, batchSize: 5000, maxConcurrentExecutions: 9 };
			const second = listen({ options }, {}, node);
			for (const id of [4999, 5000, 5001]) second.channels.send(`{"id":${id}}`);
			await node.clock.advance(0);
			const messages = [...first.run.messages, ...second.run.messages];
			const ids = messages.map((message) => (message as { id: number }).id);
			expect(ids).toEqual(upTo(5001));
		},
	);

	test('of many triggers, one after the other, takes 10 s of a minute at most, and loses count of nothing', async () => {
		const clock = new FakeClock();
		const triggers = upTo(40).map(() => listen(oneAtATime, {}, { ...nodeOfItsOwn(), clock }));
		for (const { channels } of triggers) sendAll(channels, 10);
		let closed = 0;
		const stop = async () => {
			for (const { listening } of triggers) {
				await listening.close();
				closed++;
			}
		};
		void stop();
		await clock.advance(9000);
		expect(closed).toBeLessThan(40);
		await clock.advance(1000);
		expect(closed).toBe(40);
		expect(triggers.filter(({ run }) => run.failedExecutions.length !== 1)).toEqual([]);
		await clock.advance(60_001);
		const next = listen(oneAtATime, {}, { ...nodeOfItsOwn(), clock });
		sendAll(next.channels, 10);
		let isClosed = false;
		void next.listening.close().then(() => (isClosed = true));
		await clock.advance(1000);
		expect(isClosed).toBe(false);
	});

	test('the budget of the stops is whole again once the minute is over, and never less than nothing', async () => {
		const clock = new FakeClock();
		const measure = async () => {
			const begunAt = clock.getMonotonicMilliseconds();
			let waited = -1;
			void waitWhileStopping(clock, 6000, new Promise(() => {})).then(() => {
				waited = clock.getMonotonicMilliseconds() - begunAt;
			});
			await clock.advance(6000);
			return waited;
		};
		expect([await measure(), await measure(), await measure()]).toEqual([6000, 4000, 0]);
		await clock.advance(42_001);
		expect(await measure()).toBe(6000);
	});

	test('a minute later the next start has nothing to go on with, and takes again what was lost', async () => {
		const node = nodeOfItsOwn();
		const options = { maxConcurrentExecutions: 1, deduplicationField: 'n' };
		const first = listen({ options }, {}, node);
		sendAll(first.channels, 100);
		void first.listening.close();
		await node.clock.advance(62_000);
		expect(first.run.failedExecutions).toHaveLength(1);
		const second = listen({ options }, {}, node);
		expect(second.run.emitted).toEqual([]);
		for (const n of [1, 100]) second.channels.send(`{"n":${n}}`);
		expect(numbersOf(second.run)).toEqual([100]);
	});
});
