import { parseMessageContent } from '../../../nodes/Agent/session/messages';
import {
	MessageCollector,
	type WaitEndReason,
} from '../../../nodes/Agent/AgentExecute/messageCollector';
import type { WaitSettings } from '../../../nodes/Agent/AgentExecute/parameters';
import { FakeClock } from '../session/fakeClock';

let sessions = 0;

/** A wait of a session of its own, unless the test names one. */
function collect(ending: Partial<WaitSettings>, session = `session ${++sessions} of this file`) {
	const clock = new FakeClock();
	const told: WaitEndReason[] = [];
	const standard = { waitTimeoutSeconds: 300, deduplicationField: '' };
	const settings = { ...standard, ...ending } as WaitSettings;
	const setup = { settings, sessionKey: session, clock, onMessage: () => {} };
	const collector: MessageCollector = new MessageCollector(setup, tell);
	let isAnswered = false;
	/** Tells what ended the wait, as soon as the call is answered, too. */
	function tell() {
		if (isAnswered && collector.endReason) told.push(collector.endReason);
	}
	const answer = () => {
		isAnswered = true;
		collector.markCallEnded();
		tell();
	};
	let sequence = 0;
	const add = (message: unknown, heldBytes = 10) => {
		const content = parseMessageContent(Buffer.from(JSON.stringify(message)), false);
		const place = { sessionId: 's', sequence: ++sequence, receivedAt: '', heldBytes };
		collector.add({ ...place, ...content });
	};
	const texts = () => collector.messages.map(({ message }) => message);
	return { clock, told, collector, answer, add, texts, count: () => collector.messages.length };
}

/** From the call on. */
function collectFromCall(...given: Parameters<typeof collect>) {
	const all = collect(...given);
	all.collector.markCallSent();
	return all;
}

/** From the answer to the call on. */
function collectFromAnswer(...given: Parameters<typeof collect>) {
	const all = collectFromCall(...given);
	all.answer();
	return all;
}

const untilClose = { waitUntil: 'close' } as const;
test('ends at its number of messages, and takes no more', () => {
	const { told, add, count } = collectFromAnswer({ waitUntil: 'count', messageCount: 2 });
	for (let n = 0; n < 4; n++) add(n);
	expect([told, count()]).toEqual([['count'], 2]);
});

describe('silence', () => {
	const silence = { waitUntil: 'silence', silenceSeconds: 5 } as const;

	test('counts from the last message', async () => {
		const { clock, told, add } = collectFromAnswer(silence);
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
		const { clock, told, answer, add } = collectFromCall(silence);
		add(1);
		await clock.advance(60_000);
		expect(told).toEqual([]);
		answer();
		await clock.advance(0);
		expect(told).toEqual(['silence']);
	});
});

test('one message more than allowed is the limit', () => {
	const { told, add, count } = collectFromAnswer(untilClose);
	for (let n = 1; n <= 10_000; n++) add(n);
	expect(told).toEqual([]);
	add(10_001);
	expect([told, count()]).toEqual([['limit'], 10_000]);
});

test('64 MiB to the byte are taken, all messages together', () => {
	const { told, add, count } = collectFromAnswer(untilClose);
	for (let n = 0; n < 4; n++) add(n, 16 * 1024 * 1024);
	expect([told, count()]).toEqual([[], 4]);
	add(4, 1);
	expect([told, count()]).toEqual([['limit'], 4]);
});

test('the time limit starts with the answer, and leaves no timer when it is stopped', async () => {
	const { clock, told, collector, answer } = collectFromCall({
		...untilClose,
		waitTimeoutSeconds: 10,
	});
	await clock.advance(60_000);
	answer();
	await clock.advance(9999);
	expect(told).toEqual([]);
	collector.stop();
	expect(clock.pending).toBe(0);
});

test('a message of the failure value ends the wait as one, before it matches', () => {
	const { told, add } = collectFromAnswer({
		waitUntil: 'match',
		matchCondition: { field: 'type', values: ['failed'] },
		failureCondition: { field: 'type', values: ['error', 'failed'] },
	});
	add({ type: 'failed' });
	expect(told).toEqual(['failure']);
});

test.each<[string, Partial<WaitSettings>]>([
	['match', { waitUntil: 'match', matchCondition: { field: '', values: ['old', 'new'] } }],
	['count', { waitUntil: 'count', messageCount: 1 }],
	['silence', { waitUntil: 'silence', silenceSeconds: 5 }],
	['limit', untilClose],
])('what came before the call was sent does not end the wait by %s', async (endedBy, end) => {
	const { clock, told, collector, answer, add, count } = collectFromCall(end);
	add('old', 64 * 1024 * 1024);
	// The call before was not accepted, or the service repeats an earlier turn.
	collector.markCallSent();
	answer();
	await clock.advance(60_000);
	expect([told, count()]).toEqual([[], 0]);
	add('new', endedBy === 'limit' ? 64 * 1024 * 1024 : 1);
	if (endedBy === 'limit') add('more');
	await clock.advance(5000);
	expect([told, count()]).toEqual([[endedBy], 1]);
});

describe('a filter', () => {
	const filterCondition = { field: 'type', values: ['answer'] };
	const failureCondition = { field: 'type', values: ['error'] };

	test('leaves out all messages but its own and those that report a failure', () => {
		const filter = { filterCondition, failureCondition };
		const count = { waitUntil: 'count', messageCount: 2 } as const;
		const { told, collector, answer, add, texts } = collect({ ...count, ...filter });
		for (const type of ['progress', 'answer']) add({ type });
		collector.markCallSent();
		answer();
		for (const type of ['progress', 'answer', 'heartbeat']) add({ type });
		expect([told, texts()]).toEqual([[], [{ type: 'answer' }]]);
		add({ type: 'error' });
		expect(told).toEqual(['failure']);
	});

	test('what it leaves out breaks no silence', async () => {
		const silence = { waitUntil: 'silence', silenceSeconds: 5 } as const;
		const { clock, told, add } = collectFromAnswer({ ...silence, filterCondition });
		add({ type: 'answer' });
		await clock.advance(4000);
		add({ type: 'heartbeat' });
		await clock.advance(1000);
		expect(told).toEqual(['silence']);
	});
});

test('a message that was too large is the limit, unless it came before the call', () => {
	const { told, collector, answer } = collect(untilClose);
	collector.handleChannelEnd({ kind: 'tooLarge' });
	collector.markCallSent();
	answer();
	expect(told).toEqual([]);
	collector.handleChannelEnd({ kind: 'tooLarge' });
	expect(told).toEqual(['limit']);
});

describe('IDs', () => {
	const count = { waitUntil: 'count', messageCount: 2, deduplicationField: 'id' } as const;
	const turn = (session: string) => collectFromAnswer(count, session);

	test('a message whose ID came in the turn, before its call or in an earlier turn does not count', () => {
		const first = turn('session 1');
		for (const id of [1, 2]) first.add({ id });
		first.collector.stop();
		const later = collect(count, 'session 1');
		for (const id of [1, 3]) later.add({ id });
		later.collector.markCallSent();
		later.answer();
		for (const id of [2, 3, 4, 1, 4]) later.add({ id });
		expect([later.told, later.texts()]).toEqual([[], [{ id: 4 }]]);
		later.add({ id: 5 });
		expect([later.told, later.texts()]).toEqual([['count'], [{ id: 4 }, { id: 5 }]]);
	});

	test('a message that came when the wait was over, which nobody saw, still counts', () => {
		const first = turn('session 3');
		for (const id of [1, 2, 3]) first.add({ id });
		first.collector.stop();
		const later = turn('session 3');
		later.add({ id: 3 });
		expect(later.texts()).toEqual([{ id: 3 }]);
		later.collector.stop();
	});

	test('waits that run at the same time, and other sessions, each get it', () => {
		const first = turn('session 4');
		const beside = turn('session 4');
		first.add({ id: 1 });
		first.collector.stop();
		for (const other of [beside, turn('session 5')]) {
			other.add({ id: 1 });
			expect(other.texts()).toEqual([{ id: 1 }]);
			other.collector.stop();
		}
	});

	test('a wait that begins after one of them has ended does not get it again', () => {
		const first = turn('session 7');
		const beside = turn('session 7');
		for (const { add } of [first, beside]) add({ id: 1 });
		first.collector.stop();
		const later = turn('session 7');
		beside.collector.stop();
		later.add({ id: 1 });
		expect(later.texts()).toEqual([]);
		later.collector.stop();
	});

	test('the latest 50,000 are known', () => {
		const first = collect({ ...count, ...untilClose }, 'session 6');
		for (let id = 0; id <= 50_000; id++) first.add({ id });
		first.collector.stop();
		const later = turn('session 6');
		for (const id of [0, 1, 50_000]) later.add({ id });
		expect(later.texts()).toEqual([{ id: 0 }]);
		later.collector.stop();
	});
});
