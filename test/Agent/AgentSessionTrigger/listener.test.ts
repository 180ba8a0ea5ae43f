import { readFileSync } from 'node:fs';
import type { IDataObject } from 'n8n-workflow';

import {
	closeListener,
	replaceListener,
} from '../../../nodes/Agent/AgentSessionTrigger/triggerState';
import { PublishedListener } from '../../../nodes/Agent/AgentSessionTrigger/listener';
import { readTriggerSettings } from '../../../nodes/Agent/AgentSessionTrigger/fields';
import { NodeError } from '../../../nodes/core/errors';
import { forgetStops } from '../../sharedState';
import { FakeClock, settled } from '../session/fakeClock';
import { FakeSession } from '../session/fakeSession';
import { FakeChannels } from './fakeChannels';
import { type Emitted, end, refuse, type TriggerOptions, TriggerRun, until } from './triggerRun';

const service = { url: 'http://agent.example', webSocketUrl: 'ws://agent.example', apiKey: 'key' };

let nodeCount = 0;

/** A node that remembers no start before. */
function nodeOfItsOwn() {
	return { clock: new FakeClock(), workflowId: `listener ${++nodeCount}` };
}

function listen(
	parameters: IDataObject = {},
	options: Partial<TriggerOptions> = {},
	node = nodeOfItsOwn(),
) {
	const { clock, workflowId } = node;
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
	/** A stop hands over for a second, and has 200 ms to store a failed execution. */
	const close = async () => {
		const closing = listening.close();
		await clock.advance(1200);
		await closing;
	};
	return { node, run, clock, channels, listening, close };
}

/** Starts the node of an earlier start again. */
const restart = (
	{ node }: ReturnType<typeof listen>,
	parameters: IDataObject = {},
	options: Partial<TriggerOptions> = {},
) => listen(parameters, options, node);

/** An n8n that takes no message. */
const refusing = { run: refuse };
const endsAtOnce = { run: end };
const oneAtATime = { options: { maxConcurrentExecutions: 1 } };
const twoAtATime = { options: { maxConcurrentExecutions: 2 } };
/** Executions, counted from 0, end. */
const endOf = ({ emitted }: TriggerRun, from: number, to = from + 1) => {
	emitted.slice(from, to).forEach(end);
};
const messagesOf = ({ failedExecutions }: TriggerRun) =>
	failedExecutions.map(({ message }) => message);
const textsOf = ({ failedExecutions }: TriggerRun) =>
	failedExecutions.map(({ message, description }) => `${message}: ${description ?? ''}`);
const byId = { options: { deduplicationField: 'id' } };
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

beforeEach(forgetStops);

describe('the watchdog', () => {
	test('gives the place of an execution free whose end n8n never tells (#19877)', async () => {
		const { run, clock, channels } = listen(oneAtATime);
		channels.sendNumbers(2);
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
		channels.sendNumbers(2);
		await clock.advance(milliseconds - 1);
		expect(run.emitted).toHaveLength(1);
		await clock.advance(1);
		expect(run.emitted).toHaveLength(2);
	});

	test('does not start the next one before n8n has stopped one at its timeout, and tells nothing', async () => {
		const { run, clock, channels } = listen(oneAtATime, { settings: { executionTimeout: 60 } });
		channels.sendNumbers(2);
		await clock.advance(65_000);
		expect(run.emitted).toHaveLength(1);
		endOf(run, 0);
		await clock.advance(0);
		expect(run.messages).toEqual([1, 2]);
		expect([...run.logged, ...run.failedExecutions]).toEqual([]);
	});
});

describe('executions whose end n8n never tells, as after Redis has lost its data', () => {
	/** The first executions end after some time, the later ones never. */
	async function lose(maxConcurrentExecutions: number, endCount: number, milliseconds = 1500) {
		const all = listen({ options: { maxConcurrentExecutions } });
		const { run, clock, channels } = all;
		channels.sendNumbers(30);
		await clock.advance(milliseconds);
		endOf(run, 0, endCount);
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
		const idle = listen();
		idle.channels.sendNumbers(10);
		endOf(idle.run, 0);
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
		endOf(run, 5, 15);
		await clock.advance(0);
		expect(run.emitted).toHaveLength(25);
	});

	test('an end that comes after all tells how long executions take', async () => {
		const { run, clock } = await lose(10, 1, 1000);
		await clock.advance(59_000);
		expect(run.emitted).toHaveLength(21);
		endOf(run, 1, 11);
		await clock.advance(580_000);
		expect(run.failedExecutions).toHaveLength(1);
	});

	test.each<[string, (emitted: Emitted) => void]>([
		['one that n8n did not start', refuse],
		['one with a key that n8n knows', ({ done }) => done?.resolve(undefined as never)],
	])('%s does not tell how long executions take', async (_, endFirst) => {
		const { run, clock } = await lose(10, 0);
		run.emitted.slice(0, 1).forEach(endFirst);
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
		run.emitted.forEach(refuse);
		await clock.advance(0);
		expect(messagesOf(run)).toEqual(['1 message was not accepted by n8n']);
		channels.send('{"id":1}');
		expect(run.emitted).toHaveLength(2);
	});
});

test('messages that n8n does not take are counted by session, and told again when it takes some', async () => {
	let answer = refuse;
	const options = { run: (emitted: Emitted) => answer(emitted) };
	const { run, clock, channels } = listen({ sessionIds: 'a,b' }, options);
	for (let n = 0; n < 22; n++) channels.send(`${n}`, n < 20 ? 0 : 1);
	await clock.advance(25_000);
	expect(messagesOf(run)).toEqual(['1 message was not accepted by n8n']);
	answer = end;
	channels.sendNumbers(2);
	await clock.advance(30_000);
	const told = '22 messages were not accepted by n8n';
	const state = 'n8n accepts messages again. Sessions: a (20), b (2).';
	expect(textsOf(run).slice(1)).toEqual([`${told}: ${state}`]);
	expect(run.logged.join()).toContain(told);
});

test('an outage of n8n costs only what it refused before it was back, not what waits', async () => {
	let isDown = false;
	const { run, clock, channels } = listen(twoAtATime, {
		run: (emitted) => {
			if (isDown) refuse(emitted);
			else clock.callAfter(10_000, () => end(emitted));
		},
	});
	channels.sendNumbers(20);
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
	channels.open();
	await clock.advance(120_000);
	expect(run.emitted.length).toBeGreaterThan(0);
	expect(run.failedExecutions).toEqual([]);
});

test('messages that n8n does not take are told with their number, too, if no other comes', async () => {
	const { run, clock, channels, listening } = listen({}, refusing);
	channels.sendNumbers(2);
	await clock.advance(30_000);
	channels.send('3');
	await clock.advance(59_999);
	expect(run.failedExecutions).toHaveLength(1);
	await clock.advance(1);
	channels.send('4');
	await settled();
	const closed = listening.close();
	await clock.advance(2000);
	await closed;
	expect(clock.pending).toBe(0);
	expect(textsOf(run)).toEqual([
		'1 message was not accepted by n8n: No execution was started: no database. Sessions: s1 (1).',
		'3 messages were not accepted by n8n: No further message has arrived since then. Sessions: s1 (3).',
		'4 messages were not accepted by n8n: The trigger was stopped. Sessions: s1 (4).',
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
	const options: Partial<TriggerOptions> = {
		run: ({ done }) => done?.reject('no database' as never),
	};
	const { run, clock, channels } = listen({}, options);
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
	const ids = Array.from({ length: 40 }, (_, n) => `s${n}`);

	test('of many sessions within a minute are ten, and the others stand in the log', async () => {
		const { run, clock, channels } = listen({ sessionIds: ids });
		ids.forEach((id, index) => {
			channels.end({ failure: refusedFor(id), mustAlert: true }, index);
		});
		expect(textsOf(run)).toHaveLength(10);
		expect(run.logged.join()).toContain('session s39 refused. Ask.');
		await clock.advance(60_000);
		channels.end({ failure: refusedFor('s39'), mustAlert: true }, 39);
		expect(textsOf(run).slice(10)).toEqual(['session s39 refused: Ask.']);
	});
});

describe('a filter', () => {
	const filter = { filterField: 'type', filterValue: 'answer, error' };
	const message = (type: string, n: number) => JSON.stringify({ type, n });

	test('lets only what it names start an execution, and the rest costs no queue', async () => {
		const { run, channels } = listen({ ...filter, ...oneAtATime });
		channels.send(message('answer', 1));
		for (let n = 2; n < 100; n++) channels.send(message('step', n));
		channels.send(message('error', 100));
		endOf(run, 0);
		await settled();
		expect(run.items.map(({ json }) => json.sequence)).toEqual([1, 100]);
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

	test('and an ID count in JSON of binary frames, too', async () => {
		const { run, channels } = listen({ ...filter, options: { deduplicationField: 'n' } });
		const answer = message('answer', 1);
		for (const text of [answer, message('step', 2), answer, 'no JSON'])
			channels.send(text, 0, undefined, true);
		expect(run.emitted).toHaveLength(0);
		await settled();
		expect(run.items).toHaveLength(1);
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
			channels.sendNumbers(11);
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
	const options = { batchSize: 6000, maxConcurrentExecutions: 1 };
	const { run, channels } = listen({ sessionIds: 'a,b', options });
	for (let n = 0; n < 15_999; n++) channels.send('1');
	expect(channels.log).toEqual([]);
	channels.send('2');
	expect(channels.log).toEqual(['pause a', 'pause b']);
	endOf(run, 0);
	await settled();
	expect(channels.log.slice(2)).toEqual(['resume a', 'resume b']);
});

describe('closing', () => {
	const sendAll = (channels: FakeChannels, count: number) => {
		for (const n of upTo(count)) channels.send(`{"n":${n},"secret":"canary"}`);
	};
	const numbersOf = ({ messages }: TriggerRun) =>
		messages.map((message) => (message as { n: number }).n);

	test('ends the pause after a refusal', async () => {
		const { run, clock, channels, listening } = listen(oneAtATime, refusing);
		channels.sendNumbers(2);
		await settled();
		void listening.close();
		await settled();
		expect(run.messages).toEqual([1, 2]);
		await clock.advance(1200);
	});

	test('ends what is waited for, leaves no timer, and starts nothing again', async () => {
		const { run, clock, channels, listening } = listen(twoAtATime);
		channels.sendNumbers(3);
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
		const { run, clock, channels, close } = listen();
		let store = () => {};
		const stored = new Promise<void>((resolve) => (store = resolve));
		const { helpers } = run.context;
		const prepare = helpers.prepareBinaryData.bind(helpers);
		helpers.prepareBinaryData = async (...given) => {
			await stored;
			return await prepare(...given);
		};
		channels.send('a', 0, undefined, true);
		await close();
		store();
		await until(() => run.emitted.length === 1);
		await clock.advance(0);
		expect(clock.pending).toBe(0);
	});

	test('names the session of a message that n8n refuses later, and takes it again', async () => {
		const first = listen(byId);
		first.channels.send('{"id":1}');
		await first.close();
		first.run.emitted.forEach(refuse);
		await first.clock.advance(0);
		expect(first.run.logged).toContain(
			'Session channel s1: n8n takes no more messages: no database',
		);
		const second = restart(first, byId);
		second.channels.send('{"id":1}');
		expect(second.run.emitted).toHaveLength(1);
	});

	test('waits for no execution, and hands over what the server sends until it has seen the goodbye', async () => {
		const { run, clock, channels, listening } = listen();
		channels.send('1');
		channels.lastWords.push('2', '3');
		await listening.close();
		expect(run.messages).toEqual([1, 2, 3]);
		expect(clock.pending).toBe(0);
	});

	test('goes on within the limit for a second at most', async () => {
		const { run, clock, channels, listening } = listen(oneAtATime);
		sendAll(channels, 200);
		const closing = listening.close();
		for (let n = 0; n < 9; n++) {
			endOf(run, n);
			await clock.advance(100);
		}
		expect(numbersOf(run)).toEqual(upTo(10));
		await clock.advance(100);
		endOf(run, 9);
		await clock.advance(1200);
		await closing;
		expect(numbersOf(run)).toEqual(upTo(10));
	});

	test('of a long queue runs 50 executions at once, and no more', async () => {
		const { run, clock, channels, close } = listen(twoAtATime);
		sendAll(channels, 10_000);
		await close();
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
		endOf(run, 0);
		await clock.advance(2000);
		await closing;
		expect(numbersOf(run)).toEqual([1, 2]);
		const message = 'The trigger was stopped while 2 messages were waiting';
		expect(run.failedExecutions).toMatchObject([{ httpCode: '429', message }]);
		expect(run.failedExecutions[0]?.description).toMatch(/^What waits is processed if/);
	});

	test.each([
		[3, 'The trigger was stopped while 2 messages were waiting'],
		[0, 'The trigger was stopped before it had read all messages'],
	])(
		'tells of messages that could not be read in time (after %d others)',
		async (read, message) => {
			const { run, clock, channels, listening } = listen(oneAtATime);
			channels.isRead = false;
			sendAll(channels, read);
			void listening.close();
			await clock.advance(2000);
			expect(run.failedExecutions).toMatchObject([{ httpCode: '429', message }]);
			const description = run.failedExecutions[0]?.description ?? '';
			expect(description).toContain(
				'The service sent messages that could not be read in time. They are lost.',
			);
			expect(description.startsWith('What waits')).toBe(read > 0);
		},
	);

	test('the next start tells since when no channel was open, and the gaps that no item has told', async () => {
		const filter = { filterField: 'type', filterValue: 'answer' };
		const first = listen({ sessionIds: 'a,b', ...filter });
		first.channels.send('{"type":"step"}', 1, 300);
		const loss = { lostAt: 5000, reason: 'the trigger was stopped' };
		for (const history of first.channels.histories) history.loss = loss;
		await first.listening.close();
		const second = restart(first, { sessionIds: 'b,a,c', ...filter });
		expect(second.channels.histories.map((history) => history.loss)).toEqual([
			...[loss, loss],
			undefined,
		]);
		for (const index of [0, 1]) second.channels.open(index, 1000);
		for (const index of [0, 1, 2]) second.channels.send('{"type":"answer"}', index);
		expect(second.run.items.map(({ json }) => json.sequence)).toEqual([1, 1, 1]);
		expect(second.run.items.map(({ json }) => json.gapMs)).toEqual([1300, 1000, undefined]);
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
		const told = 'The trigger was stopped while 9999 messages were waiting';
		expect(messagesOf(run)).toEqual([told]);
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
		const first = listen(twoAtATime);
		sendAll(first.channels, 1000);
		await first.close();
		await first.clock.advance(59_799);
		const options = { maxConcurrentExecutions: 2, batchSize: 500 };
		const second = restart(first, { options });
		second.channels.send('{"n":1001}');
		await second.clock.advance(0);
		expect([...numbersOf(first.run), ...numbersOf(second.run)]).toEqual(upTo(1001));
		await second.clock.advance(120_000);
		expect(second.run.failedExecutions).toEqual([]);
	});

	test('leaves nothing to sessions that were taken out of the node, and tells', async () => {
		const first = listen({ ...twoAtATime, sessionIds: 'a,b' });
		for (const n of upTo(2)) first.channels.send(`"running ${n}"`);
		for (const n of upTo(100)) first.channels.send(`${n}`, n % 2);
		await first.close();
		const second = restart(first, { sessionIds: 'b,c', options: { batchSize: 100 } });
		await first.clock.advance(0);
		expect(new Set(second.run.items.map(({ json }) => json.sessionId))).toEqual(new Set(['b']));
		expect(second.run.messages).toHaveLength(26);
		const told = "'Session IDs' no longer contains their session: 26";
		expect(second.run.logged.join()).toContain(told);
		expect(second.run.failedExecutions).toEqual([]);
	});

	test.each([false, true])(
		'leaves what n8n refuses at the stop, and hands over no more (tried before: %s)',
		async (isTried) => {
			const options = { maxConcurrentExecutions: 2, deduplicationField: 'n' };
			let isPublished = true;
			const run: TriggerOptions['run'] = ({ done }) =>
				isPublished || done?.reject(new Error('Published version not found'));
			const first = listen({ options }, { run });
			sendAll(first.channels, 100);
			isPublished = false;
			if (isTried) first.run.emitted[1]?.done?.reject(new Error('the database is locked'));
			else endOf(first.run, 0);
			await first.clock.advance(0);
			await first.close();
			expect(first.run.failedExecutions).toHaveLength(1);
			const reason = isTried ? 'the database is locked' : 'Published version';
			expect(first.run.logged.join()).toContain(reason);
			const second = restart(first, { options: { batchSize: 200 } });
			await first.clock.advance(0);
			const taken = isTried ? [1] : [1, 2];
			expect(numbersOf(second.run)).toEqual(upTo(100).filter((n) => !taken.includes(n)));
		},
	);

	test('keeps the numbers of what goes on, and numbers what comes then from 1 on, by session', async () => {
		const options = { maxConcurrentExecutions: 1, batchSize: 60 };
		const parameters = { sessionIds: 'a,b', options };
		const first = listen({ ...twoAtATime, sessionIds: 'a,b' });
		for (const n of upTo(105)) first.channels.send(`${n}`, n % 3 === 0 ? 1 : 0);
		await first.close();
		const second = restart(first, parameters);
		second.channels.send('"new"', 0);
		second.channels.send('"new"', 1);
		await second.close();
		const sequences = (sessionId: string) =>
			second.run.items
				.filter(({ json }) => json.sessionId === sessionId)
				.map(({ json }) => json.sequence);
		for (const [sessionId, sent] of [
			['a', 70],
			['b', 35],
		] as const) {
			const numbers = sequences(sessionId);
			const left = upTo(sent).slice(1 - numbers.length);
			expect(left.length).toBeGreaterThan(10);
			expect(numbers).toEqual([...left, 1]);
		}
	});

	test('gives what goes on the keys of the new settings', async () => {
		const first = listen({ options: { deduplicationField: 'n', maxConcurrentExecutions: 1 } });
		sendAll(first.channels, 100);
		await first.close();
		const second = restart(first, { options: { maxConcurrentExecutions: 1 } });
		await first.clock.advance(0);
		expect(second.run.emitted.length).toBeGreaterThan(0);
		expect(second.run.emitted.filter(({ key }) => key !== undefined)).toEqual([]);
	});

	test.each([1, 50])(
		'what goes on after batches of %d is known in batches',
		async (batchSize) => {
			const common = { deduplicationField: 'id', maxConcurrentExecutions: 1 };
			const first = listen({ options: { ...common, batchSize } });
			for (const id of upTo(5000)) first.channels.send(`{"id":${id}}`);
			if (batchSize === 1) first.channels.send('{"id":5000}');
			await first.close();
			const options = { ...common, batchSize: 5000, maxConcurrentExecutions: 9 };
			const second = restart(first, { options });
			for (const id of [4999, 5000, 5001]) second.channels.send(`{"id":${id}}`);
			await first.clock.advance(0);
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
		await clock.advance(50_001);
		const next = listen(oneAtATime, {}, { ...nodeOfItsOwn(), clock });
		sendAll(next.channels, 10);
		let isClosed = false;
		void next.listening.close().then(() => (isClosed = true));
		await clock.advance(1000);
		expect(isClosed).toBe(false);
	});

	test('a minute later the next start has nothing to go on with, and takes again what was lost', async () => {
		const options = { maxConcurrentExecutions: 1, deduplicationField: 'n' };
		const first = listen({ options });
		sendAll(first.channels, 100);
		void first.listening.close();
		await first.clock.advance(61_000);
		expect(first.run.failedExecutions).toHaveLength(1);
		const second = restart(first, { options });
		expect(second.run.emitted).toEqual([]);
		for (const n of [1, 100]) second.channels.send(`{"n":${n}}`);
		expect(numbersOf(second.run)).toEqual([100]);
	});
});
