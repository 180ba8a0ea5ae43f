import type { CloseReason } from '../../../nodes/Agent/session/closeReason';
import { parseMessageContent, type SessionMessage } from '../../../nodes/Agent/session/messages';
import {
	MessageCollector,
	type WaitEndReason,
} from '../../../nodes/Agent/AgentExecute/messageCollector';
import type { WaitSettings } from '../../../nodes/Agent/AgentExecute/parameters';
import { FakeClock } from '../session/fakeClock';

let sessions = 0;

function collect(
	ending: Partial<WaitSettings>,
	more: Partial<WaitSettings> = {},
	conversation = `session ${++sessions} of messageCollector.test`,
) {
	const clock = new FakeClock();
	const told: WaitEndReason[] = [];
	const settings = {
		waitTimeoutSeconds: 300,
		deduplicationField: '',
		...ending,
		...more,
	} as WaitSettings;
	const parts = { settings, sessionKey: conversation, clock, onMessage: () => {} };
	const messageCollector: MessageCollector = new MessageCollector(parts, tell);
	let isAnswered = false;
	/** Tells what ended the wait, as soon as the call is answered, too. */
	function tell() {
		if (isAnswered && messageCollector.endReason) told.push(messageCollector.endReason);
	}
	const end = (closeReason: CloseReason) => {
		messageCollector.handleChannelEnd(closeReason);
	};
	const collector = {
		markCallSent: () => {
			messageCollector.markCallSent();
		},
		markCallEnded: () => {
			isAnswered = true;
			messageCollector.markCallEnded();
			tell();
		},
		closed: () => {
			end({ kind: 'closeFrame', code: 1000, reason: '' });
		},
		gotTooMuch: () => {
			end({ kind: 'tooLarge' });
		},
		dropped: () => {
			end({ kind: 'dropped' });
		},
		stop: () => {
			messageCollector.stop();
		},
		getEndReason: () => messageCollector.endReason,
	};
	let sequence = 0;
	const add = (message: unknown, heldBytes = 10) => {
		const content = parseMessageContent(Buffer.from(JSON.stringify(message)), false);
		messageCollector.add({
			sessionId: 's',
			sequence: ++sequence,
			receivedAt: '',
			heldBytes,
			...content,
		});
	};
	const contents = (messages: readonly SessionMessage[]) =>
		messages.map(({ message }) => message);
	const texts = () => contents(messageCollector.messages);
	return { clock, told, collector, add, texts, count: () => messageCollector.messages.length };
}

/** From the call on. */
function collectFromCall(...given: Parameters<typeof collect>) {
	const all = collect(...given);
	all.collector.markCallSent();
	return all;
}

test.each<[string, string, unknown, boolean]>([
	['type', 'answer', { type: 'answer' }, true],
	['data.type', 'answer', { data: { type: 'answer' } }, true],
	['data.type', 'answer', { 'data.type': 'answer' }, true],
	['items.1.done', 'true', { items: [{}, { done: true }] }, true],
	['n', '7', { n: 7 }, true],
	['n', '7', { n: '7' }, true],
	['end', 'null', { end: null }, true],
	['o', '{"a":1}', { o: { a: 1 } }, true],
	['type', 'answer', { type: 'Answer' }, false],
	['type', 'answer', { kind: 'answer' }, false],
	['type', 'answer', 'answer', false],
	['type', 'answer', null, false],
	['missing', '', { a: 1 }, false],
	['constructor', 'x', {}, false],
	['empty', '', { empty: '' }, true],
	['', '[DONE]', '[DONE]', true],
	['', '7', 7, true],
	['', '[DONE]', { done: '[DONE]' }, false],
])('%s = %s in %j: %s', (field, value, message, isEnd) => {
	const { told, collector, add } = collectFromCall({
		waitUntil: 'match',
		matchCondition: { field, values: ['other', value] },
	});
	collector.markCallEnded();
	add(message);
	expect(told).toEqual(isEnd ? ['match'] : []);
	collector.stop();
});

test('ends at its number of messages, and takes no more', () => {
	const { told, collector, add, count } = collectFromCall({
		waitUntil: 'count',
		messageCount: 2,
	});
	collector.markCallEnded();
	for (let n = 0; n < 4; n++) add(n);
	expect([told, count()]).toEqual([['count'], 2]);
});

test('is not over before the call is answered; what came until then counts', () => {
	const { told, collector, add, count } = collectFromCall({
		waitUntil: 'count',
		messageCount: 1,
	});
	add(1);
	add(2);
	expect([told, collector.getEndReason(), count()]).toEqual([[], 'count', 1]);
	collector.markCallEnded();
	expect(told).toEqual(['count']);
});

describe('silence', () => {
	const silence = { waitUntil: 'silence', silenceSeconds: 5 } as const;

	test('counts from the last message', async () => {
		const { clock, told, collector, add } = collectFromCall(silence);
		collector.markCallEnded();
		add(1);
		await clock.advance(4999);
		add(2);
		await clock.advance(4999);
		expect(told).toEqual([]);
		await clock.advance(1);
		expect(told).toEqual(['silence']);
		expect(clock.pending).toBe(0);
	});

	test('before the first message only the time limit counts', async () => {
		const { clock, told, collector } = collectFromCall(silence);
		collector.markCallEnded();
		await clock.advance(299_999);
		expect(told).toEqual([]);
		await clock.advance(1);
		expect(told).toEqual(['timeout']);
	});

	test('does not end before the call is answered', async () => {
		const { clock, told, collector, add } = collectFromCall(silence);
		add(1);
		await clock.advance(60_000);
		expect(told).toEqual([]);
		collector.markCallEnded();
		await clock.advance(0);
		expect(told).toEqual(['silence']);
	});
});

test('a close ends only the wait that waits for it', () => {
	const waiting = collectFromCall({ waitUntil: 'close' });
	waiting.collector.markCallEnded();
	waiting.add(1);
	waiting.collector.closed();
	expect([waiting.told, waiting.count(), waiting.clock.pending]).toEqual([['close'], 1, 0]);
	const other = collectFromCall({ waitUntil: 'count', messageCount: 2 });
	other.collector.markCallEnded();
	other.collector.closed();
	expect(other.told).toEqual([]);
});

test('one message more than allowed is the limit', () => {
	const { told, collector, add, count } = collectFromCall({ waitUntil: 'close' });
	collector.markCallEnded();
	for (let n = 1; n <= 10_000; n++) add(n);
	expect(told).toEqual([]);
	add(10_001);
	expect([told, count()]).toEqual([['limit'], 10_000]);
});

test('a close after the end changes nothing', () => {
	const { told, collector, add } = collectFromCall({ waitUntil: 'close' });
	add(1);
	collector.closed();
	collector.closed();
	collector.markCallEnded();
	collector.closed();
	collector.dropped();
	expect(told).toEqual(['close']);
});

test('64 MiB to the byte are taken', () => {
	const { told, collector, add, count } = collectFromCall({ waitUntil: 'close' });
	collector.markCallEnded();
	add(1, 64 * 1024 * 1024);
	expect([told, count()]).toEqual([[], 1]);
	add(2, 1);
	expect([told, count()]).toEqual([['limit'], 1]);
});

test('64 MiB in all are the limit', () => {
	const { told, collector, add, count } = collectFromCall({ waitUntil: 'close' });
	collector.markCallEnded();
	for (let n = 0; n < 5; n++) add(n, 16 * 1024 * 1024);
	expect([told, count()]).toEqual([['limit'], 4]);
});

test('the time limit starts with the answer, and leaves no timer when it is stopped', async () => {
	const { clock, told, collector } = collectFromCall(
		{ waitUntil: 'close' },
		{ waitTimeoutSeconds: 10 },
	);
	await clock.advance(60_000);
	collector.markCallEnded();
	await clock.advance(9999);
	expect(told).toEqual([]);
	collector.stop();
	expect(clock.pending).toBe(0);
});

test('a message of the failure value ends the wait as one, before it matches', () => {
	const failure = { field: 'type', values: ['error', 'failed'] };
	const { told, collector, add } = collectFromCall(
		{ waitUntil: 'match', matchCondition: { field: 'type', values: ['failed'] } },
		{ failureCondition: failure },
	);
	collector.markCallEnded();
	add({ type: 'failed' });
	expect(told).toEqual(['failure']);
});

test.each<[string, Partial<WaitSettings>]>([
	['match', { waitUntil: 'match', matchCondition: { field: '', values: ['old', 'new'] } }],
	['count', { waitUntil: 'count', messageCount: 1 }],
	['silence', { waitUntil: 'silence', silenceSeconds: 5 }],
	['limit', { waitUntil: 'close' }],
])('what came before the call was sent does not end the wait by %s', async (endedBy, end) => {
	const { clock, told, collector, add, count } = collectFromCall(end);
	add('old', 64 * 1024 * 1024);
	// The call before was not accepted, or the service repeats an earlier turn.
	collector.markCallSent();
	collector.markCallEnded();
	await clock.advance(60_000);
	expect([told, count()]).toEqual([[], 0]);
	add('new', endedBy === 'limit' ? 64 * 1024 * 1024 : 1);
	if (endedBy === 'limit') add('more');
	await clock.advance(5000);
	expect([told, count()]).toEqual([[endedBy], 1]);
});

describe('after the call', () => {
	test('each message counts, though it says the same as one before', () => {
		const { told, collector, add, texts } = collect({ waitUntil: 'count', messageCount: 3 });
		add('no changes');
		collector.markCallSent();
		collector.markCallEnded();
		for (const text of ['no changes', 'no changes', 'done']) add(text);
		expect([told, texts()]).toEqual([['count'], ['no changes', 'no changes', 'done']]);
	});
});

describe('a filter', () => {
	const filter = { field: 'type', values: ['answer'] };
	const failure = { field: 'type', values: ['error'] };

	test('leaves out all messages but its own and those that report a failure', () => {
		const { told, collector, add, texts } = collect(
			{ waitUntil: 'count', messageCount: 2 },
			{ filterCondition: filter, failureCondition: failure },
		);
		for (const type of ['progress', 'answer']) add({ type });
		collector.markCallSent();
		collector.markCallEnded();
		for (const type of ['progress', 'answer', 'heartbeat']) add({ type });
		expect([told, texts()]).toEqual([[], [{ type: 'answer' }]]);
		add({ type: 'error' });
		expect(told).toEqual(['failure']);
	});

	test('what it leaves out breaks no silence', async () => {
		const { clock, told, collector, add } = collectFromCall(
			{ waitUntil: 'silence', silenceSeconds: 5 },
			{ filterCondition: filter },
		);
		collector.markCallEnded();
		add({ type: 'answer' });
		await clock.advance(4000);
		add({ type: 'heartbeat' });
		await clock.advance(1000);
		expect(told).toEqual(['silence']);
	});
});

test('a message that was too large is the limit, unless it came before the call', () => {
	const { told, collector } = collect({ waitUntil: 'close' });
	collector.gotTooMuch();
	collector.markCallSent();
	collector.markCallEnded();
	expect(told).toEqual([]);
	collector.gotTooMuch();
	expect(told).toEqual(['limit']);
});

describe('IDs', () => {
	const count = { waitUntil: 'count', messageCount: 2 } as const;
	const ids = { deduplicationField: 'id' };
	const turn = (session: string) => {
		const all = collectFromCall(count, ids, session);
		all.collector.markCallEnded();
		return all;
	};

	test('a message whose ID came in the turn, before its call or in an earlier turn does not count', () => {
		const first = turn('session 1');
		for (const id of [1, 2]) first.add({ id });
		first.collector.stop();
		const later = collect(count, ids, 'session 1');
		for (const id of [1, 3]) later.add({ id });
		later.collector.markCallSent();
		later.collector.markCallEnded();
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
		const first = collect({ waitUntil: 'close' }, ids, 'session 6');
		for (let id = 0; id <= 50_000; id++) first.add({ id });
		first.collector.stop();
		const later = turn('session 6');
		for (const id of [0, 1, 50_000]) later.add({ id });
		expect(later.texts()).toEqual([{ id: 0 }]);
		later.collector.stop();
	});
});
