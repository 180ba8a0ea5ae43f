// Which messages belong to the turn of a call, and how it ends.
import type { WaitSettings } from '../../../nodes/Agent/AgentExecute/parameters';
import type { WaitEndReason } from '../../../nodes/Agent/AgentExecute/wait/turn';
import { NodeError } from '../../../nodes/core/errors';
import { settled } from '../session/fakeClock';
import { begin } from './fakeWait';

let sessions = 0;

/** A wait whose call is not sent yet, of a session of its own unless the test names one. */
async function collect(
	ending: Partial<WaitSettings>,
	session = `session ${++sessions} of this file`,
) {
	const { clock, channels, call, outcome, stop, waitingCall } = begin(ending, undefined, session);
	let answer = () => {};
	let prepareAttempt = () => Promise.resolve();
	call.mockImplementation((prepare) => {
		prepareAttempt = prepare;
		return new Promise<void>((resolve) => (answer = resolve));
	});
	const told: WaitEndReason[] = [];
	void outcome.then((turn) => {
		if (!(turn instanceof NodeError) && turn?.endReason) told.push(turn.endReason);
	});
	await clock.advance(0);
	channels.open();
	const add = (...messages: unknown[]) => {
		for (const message of messages) channels.send(JSON.stringify(message));
	};
	const messages = () => waitingCall.turn?.messages ?? [];
	return {
		...{ clock, channels, told, outcome, add },
		texts: () => messages().map(({ message }) => message),
		count: () => messages().length,
		addBytes: (length: number) => {
			channels.send('x'.repeat(length), 0, undefined, true);
		},
		/** The call goes out. */
		send: () => clock.advance(2000),
		/** The call was not accepted, and goes out again. */
		sendAgain: async () => {
			void prepareAttempt();
			await settled();
		},
		answer: async () => {
			answer();
			await clock.advance(0);
			await settled();
		},
		stop: async () => {
			stop.abort();
			await outcome;
		},
	};
}

/** From the call on. */
async function collectFromCall(...given: Parameters<typeof collect>) {
	const all = await collect(...given);
	await all.send();
	return all;
}

/** From the answer to the call on. */
async function collectFromAnswer(...given: Parameters<typeof collect>) {
	const all = await collectFromCall(...given);
	await all.answer();
	return all;
}

const untilClose = { waitUntil: 'close', onWaitTimeout: 'output' } as const;
const mebibyte = 1024 * 1024;

test('ends at its number of messages, and takes no more', async () => {
	const end = { waitUntil: 'count', messageCount: 2 } as const;
	const { told, add, count, outcome } = await collectFromAnswer(end);
	add(1, 2, 3, 4);
	await outcome;
	expect([told, count()]).toEqual([['count'], 2]);
});

describe('silence', () => {
	const silence = { waitUntil: 'silence', silenceSeconds: 5 } as const;

	test('counts from the last message', async () => {
		const { clock, told, add } = await collectFromAnswer(silence);
		add(1);
		await clock.advance(4999);
		add(2);
		await clock.advance(4999);
		expect(told).toEqual([]);
		await clock.advance(1);
		expect(told).toEqual(['silence']);
		expect(clock.pending).toBe(0);
	});

	test('does not end before the call is answered', async () => {
		const { clock, told, answer, add } = await collectFromCall(silence);
		add(1);
		await clock.advance(60_000);
		expect(told).toEqual([]);
		await answer();
		expect(told).toEqual(['silence']);
	});

	test.each<[number, WaitEndReason]>([
		[1, 'silence'],
		[6, 'timeout'],
	])('of %d s and a timeout of 5 s: n8n was busy until both were over', async (seconds, end) => {
		const limits = { waitTimeoutSeconds: 5, onWaitTimeout: 'output' } as const;
		const ending = { ...silence, ...limits, silenceSeconds: seconds };
		const { clock, told, add } = await collectFromAnswer(ending);
		add(1);
		await settled();
		clock.stall(10_000);
		await clock.advance(0);
		expect(told).toEqual([end]);
	});
});

test('one message more than allowed is the limit', async () => {
	const { told, add, count, outcome } = await collectFromAnswer(untilClose);
	for (let n = 1; n <= 10_000; n++) add(n);
	await settled();
	expect(told).toEqual([]);
	add(10_001);
	await outcome;
	expect([told, count()]).toEqual([['limit'], 10_000]);
});

test('64 MiB to the byte are taken, all messages together', async () => {
	const { addBytes, told, count, outcome } = await collectFromAnswer(untilClose);
	for (let n = 0; n < 4; n++) addBytes(16 * mebibyte);
	await settled();
	expect([told, count()]).toEqual([[], 4]);
	addBytes(1);
	await outcome;
	expect([told, count()]).toEqual([['limit'], 4]);
});

test('the time limit starts with the answer, and leaves no timer when it is stopped', async () => {
	const { clock, told, answer, stop } = await collectFromCall({
		...untilClose,
		waitTimeoutSeconds: 10,
	});
	await clock.advance(60_000);
	await answer();
	await clock.advance(9999);
	expect(told).toEqual([]);
	await stop();
	expect(clock.pending).toBe(0);
});

test('a message of the failure value ends the wait as one, before it matches', async () => {
	const { add, outcome } = await collectFromAnswer({
		waitUntil: 'match',
		matchCondition: { field: 'type', values: ['failed'] },
		failureCondition: { field: 'type', values: ['error', 'failed'] },
	});
	add({ type: 'failed' });
	expect(await outcome).toMatchObject({ message: 'The agent reported a failure' });
});

test.each<[WaitEndReason, Partial<WaitSettings>]>([
	['match', { waitUntil: 'match', matchCondition: { field: '', values: ['old', 'new'] } }],
	['count', { waitUntil: 'count', messageCount: 1 }],
	['silence', { waitUntil: 'silence', silenceSeconds: 5 }],
	['limit', untilClose],
])('what came before the call was sent does not end the wait by %s', async (endedBy, end) => {
	const { clock, told, add, addBytes, count, ...wait } = await collectFromCall(end);
	addBytes(64 * mebibyte);
	add('old');
	// The call before was not accepted, or the service repeats an earlier turn.
	await wait.sendAgain();
	await wait.answer();
	await clock.advance(60_000);
	expect([told, count()]).toEqual([[], 0]);
	if (endedBy === 'limit') addBytes(64 * mebibyte);
	add('new');
	await clock.advance(5000);
	expect([told, count()]).toEqual([[endedBy], 1]);
});

describe('a filter', () => {
	const filterCondition = { field: 'type', values: ['answer'] };
	const failureCondition = { field: 'type', values: ['error'] };

	test('leaves out all messages but its own and those that report a failure', async () => {
		const filter = { filterCondition, failureCondition };
		const count = { waitUntil: 'count', messageCount: 2 } as const;
		const { told, add, texts, outcome, ...wait } = await collect({ ...count, ...filter });
		add({ type: 'progress' }, { type: 'answer' });
		await wait.send();
		await wait.answer();
		add({ type: 'progress' }, { type: 'answer' }, { type: 'heartbeat' });
		await settled();
		expect([told, texts()]).toEqual([[], [{ type: 'answer' }]]);
		add({ type: 'error' });
		expect(await outcome).toMatchObject({ message: 'The agent reported a failure' });
	});

	test('what it leaves out breaks no silence', async () => {
		const silence = { waitUntil: 'silence', silenceSeconds: 5 } as const;
		const { clock, told, add } = await collectFromAnswer({ ...silence, filterCondition });
		add({ type: 'answer' });
		await clock.advance(4000);
		add({ type: 'heartbeat' });
		await clock.advance(1000);
		expect(told).toEqual(['silence']);
	});
});

test('a message that was too large is the limit, unless it came before the call', async () => {
	const { clock, channels, told, send, answer, outcome } = await collect(untilClose);
	channels.end({ closeReason: { kind: 'tooLarge' } });
	channels.open();
	await send();
	await answer();
	await clock.advance(0);
	expect(told).toEqual([]);
	channels.end({ closeReason: { kind: 'tooLarge' } });
	await outcome;
	expect(told).toEqual(['limit']);
});

describe('IDs', () => {
	const count = { waitUntil: 'count', messageCount: 2, deduplicationField: 'id' } as const;
	const turn = (session: string) => collectFromAnswer(count, session);
	const ids = (...all: number[]) => all.map((id) => ({ id }));

	test('a message whose ID came in the turn, before its call or in an earlier turn does not count', async () => {
		const first = await turn('session 1');
		first.add(...ids(1, 2));
		await first.outcome;
		const later = await collect(count, 'session 1');
		later.add(...ids(1, 3));
		await later.send();
		await later.answer();
		later.add(...ids(2, 3, 4, 1, 4));
		await settled();
		expect([later.told, later.texts()]).toEqual([[], ids(4)]);
		later.add(...ids(5));
		await later.outcome;
		expect([later.told, later.texts()]).toEqual([['count'], ids(4, 5)]);
	});

	test('a message that came when the wait was over, which nobody saw, still counts', async () => {
		const first = await turn('session 3');
		first.add(...ids(1, 2, 3));
		await first.outcome;
		const later = await turn('session 3');
		later.add(...ids(3));
		expect(later.texts()).toEqual(ids(3));
		await later.stop();
	});

	test('waits that run at the same time, and other sessions, each get it', async () => {
		const first = await turn('session 4');
		const beside = await turn('session 4');
		first.add(...ids(1));
		await first.stop();
		for (const other of [beside, await turn('session 5')]) {
			other.add(...ids(1));
			expect(other.texts()).toEqual(ids(1));
			await other.stop();
		}
	});

	test('a wait that begins after one of them has ended does not get it again', async () => {
		const first = await turn('session 7');
		const beside = await turn('session 7');
		for (const { add } of [first, beside]) add(...ids(1));
		await first.stop();
		const later = await turn('session 7');
		await beside.stop();
		later.add(...ids(1));
		expect(later.texts()).toEqual([]);
		await later.stop();
	});

	test('the latest 50,000 are known', async () => {
		const first = await collect({ ...count, ...untilClose }, 'session 6');
		for (let id = 0; id <= 50_000; id++) first.add({ id });
		await first.stop();
		const later = await turn('session 6');
		later.add(...ids(0, 1, 50_000));
		expect(later.texts()).toEqual(ids(0));
		await later.stop();
	});
});
