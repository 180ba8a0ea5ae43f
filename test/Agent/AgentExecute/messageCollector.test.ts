import {
	MessageCollector,
	type CollectorSettings,
	KnownIds,
	type WaitOver,
} from '../../../nodes/Agent/AgentExecute/messageCollector';
import type { WaitEnd } from '../../../nodes/Agent/AgentExecute/parameters';
import { contentOf, type SessionMessage } from '../../../nodes/Agent/session/messages';
import { FakeClock } from '../session/fakeClock';

function collect(end: WaitEnd, more: Partial<CollectorSettings> = {}, ids = new KnownIds('', '')) {
	const clock = new FakeClock();
	const told: WaitOver[] = [];
	const settings = { end, maxMessages: 1000, timeoutSeconds: 300, ...more };
	const collection = new MessageCollector(
		settings,
		clock,
		(end) => void told.push(end),
		() => {},
		ids,
	);
	let sequence = 0;
	const add = (message: unknown, byteLength = 10) => {
		const content = contentOf(Buffer.from(JSON.stringify(message)), false, 'auto');
		collection.add({ sessionId: 's', sequence: ++sequence, receivedAt: '', byteLength, ...content });
	};
	const contents = (messages: readonly SessionMessage[]) => messages.map(({ message }) => message);
	const texts = () => contents(collection.messages);
	const early = () => contents(collection.early);
	return { clock, told, collection, add, texts, early, count: () => collection.messages.length };
}

/** From the call on. */
function collectFromCall(end: WaitEnd, more: Partial<CollectorSettings> = {}, ids?: KnownIds) {
	const all = collect(end, more, ids);
	all.collection.callSent();
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
	const { told, collection, add } = collectFromCall({ by: 'match', field, values: ['other', value] });
	collection.answered();
	add(message);
	expect(told).toEqual(isEnd ? ['match'] : []);
	collection.stop();
});

test('ends at its number of messages, and takes no more', () => {
	const { told, collection, add, count } = collectFromCall({ by: 'count', count: 2 });
	collection.answered();
	for (let n = 0; n < 4; n++) add(n);
	expect([told, count()]).toEqual([['count'], 2]);
});

test('is not over before the call is answered; what came until then counts', () => {
	const { told, collection, add, count } = collectFromCall({ by: 'count', count: 1 });
	add(1);
	add(2);
	expect([told, collection.isComplete, count()]).toEqual([[], true, 1]);
	collection.answered();
	expect(told).toEqual(['count']);
});

describe('silence', () => {
	const silence = { by: 'silence', milliseconds: 5000 } as const;

	test('counts from the last message', async () => {
		const { clock, told, collection, add } = collectFromCall(silence);
		collection.answered();
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
		const { clock, told, collection } = collectFromCall(silence);
		collection.answered();
		await clock.advance(299_999);
		expect(told).toEqual([]);
		await clock.advance(1);
		expect(told).toEqual(['timeout']);
	});

	test('does not end before the call is answered', async () => {
		const { clock, told, collection, add } = collectFromCall(silence);
		add(1);
		await clock.advance(60_000);
		expect(told).toEqual([]);
		collection.answered();
		await clock.advance(0);
		expect(told).toEqual(['silence']);
	});
});

test('a close ends only the wait that waits for it', () => {
	const waiting = collectFromCall({ by: 'close' });
	waiting.collection.answered();
	waiting.add(1);
	waiting.collection.closed();
	expect([waiting.told, waiting.count(), waiting.clock.pending]).toEqual([['close'], 1, 0]);
	const other = collectFromCall({ by: 'count', count: 2 });
	other.collection.answered();
	other.collection.closed();
	expect(other.told).toEqual([]);
});

test('one message more than allowed is the limit', () => {
	const { told, collection, add, count } = collectFromCall({ by: 'close' }, { maxMessages: 2 });
	collection.answered();
	add(1);
	add(2);
	expect(told).toEqual([]);
	add(3);
	expect([told, count()]).toEqual([['limit'], 2]);
});

test('64 MiB in all are the limit', () => {
	const { told, collection, add, count } = collectFromCall({ by: 'close' });
	collection.answered();
	for (let n = 0; n < 5; n++) add(n, 16 * 1024 * 1024);
	expect([told, count()]).toEqual([['limit'], 4]);
});

test('the time limit starts with the answer, and leaves no timer when it is stopped', async () => {
	const { clock, told, collection } = collectFromCall({ by: 'close' }, { timeoutSeconds: 10 });
	await clock.advance(60_000);
	collection.answered();
	await clock.advance(9999);
	expect(told).toEqual([]);
	collection.stop();
	expect(clock.pending).toBe(0);
});

test('a message of the failure value ends the wait as one, before it matches', () => {
	const failure = { field: 'type', values: ['error', 'failed'] };
	const { told, collection, add } = collectFromCall(
		{ by: 'match', field: 'type', values: ['failed'] },
		{ failure },
	);
	collection.answered();
	add({ type: 'failed' });
	expect(told).toEqual(['failure']);
});

test.each<[string, WaitEnd]>([
	['match', { by: 'match', field: '', values: ['old', 'new'] }],
	['count', { by: 'count', count: 1 }],
	['silence', { by: 'silence', milliseconds: 5000 }],
	['limit', { by: 'close' }],
])('what came before the call was sent does not end the wait by %s', async (endedBy, end) => {
	const { clock, told, collection, add, count } = collectFromCall(end, {
		maxMessages: endedBy === 'limit' ? 1 : 9,
	});
	add('old');
	// The call before was not accepted, or the service repeats an earlier turn.
	collection.callSent();
	collection.answered();
	await clock.advance(60_000);
	expect([told, count(), collection.early]).toMatchObject([[], 0, [{ message: 'old' }]]);
	add('new');
	if (endedBy === 'limit') add('more');
	await clock.advance(5000);
	expect([told, count()]).toEqual([[endedBy], 1]);
});

test('of what came before the call no more is kept than may be collected, the latest', () => {
	const { collection, add, early } = collect({ by: 'close' }, { maxMessages: 2 });
	for (const n of [1, 2, 3]) add(n);
	collection.closed();
	collection.callSent();
	expect([collection.isComplete, early()]).toEqual([false, [2, 3]]);
});

describe('after the call', () => {
	const match = { by: 'match', field: '', values: ['answer'] } as const;

	test('each message counts, though it says the same as one before', () => {
		const { told, collection, add, texts } = collect({ by: 'count', count: 3 });
		add('no changes');
		collection.callSent();
		collection.answered();
		for (const text of ['no changes', 'no changes', 'done']) add(text);
		expect([told, texts()]).toEqual([['count'], ['no changes', 'no changes', 'done']]);
	});

	test('also when the channel was lost and is open again', () => {
		const { told, collection, add, texts } = collectFromCall(match);
		collection.answered();
		add('step');
		collection.lost();
		collection.opened();
		for (const text of ['step', 'answer']) add(text);
		expect([told, texts()]).toEqual([['match'], ['step', 'step', 'answer']]);
	});

	test('silence counts from the time when the channel is open again', async () => {
		const { clock, told, collection, add } = collectFromCall({ by: 'silence', milliseconds: 5000 });
		collection.answered();
		add('step');
		collection.lost();
		await clock.advance(60_000);
		expect(told).toEqual([]);
		collection.opened();
		await clock.advance(4999);
		expect(told).toEqual([]);
		await clock.advance(1);
		expect(told).toEqual(['silence']);
	});
});

describe('IDs', () => {
	const count = { by: 'count', count: 2 } as const;
	const turn = (ids: KnownIds) => {
		const all = collectFromCall(count, {}, ids);
		all.collection.answered();
		return all;
	};

	test('a message whose ID came in the turn, before its call or in an earlier turn does not count', () => {
		const first = new KnownIds('session 1', 'id');
		const { add } = turn(first);
		for (const id of [1, 2]) add({ id });
		first.remember();
		const later = collect(count, {}, new KnownIds('session 1', 'id'));
		for (const id of [1, 3]) later.add({ id });
		later.collection.callSent();
		later.collection.answered();
		for (const id of [2, 3, 4, 1, 4]) later.add({ id });
		expect([later.told, later.texts(), later.early()]).toEqual([[], [{ id: 4 }], [{ id: 3 }]]);
		later.add({ id: 5 });
		expect([later.told, later.texts()]).toEqual([['count'], [{ id: 4 }, { id: 5 }]]);
	});

	test('a message that came when the wait was over, which nobody saw, still counts', () => {
		const first = new KnownIds('session 2', 'id');
		const { add } = turn(first);
		for (const id of [1, 2, 3]) add({ id });
		first.remember();
		const later = turn(new KnownIds('session 2', 'id'));
		later.add({ id: 3 });
		expect(later.texts()).toEqual([{ id: 3 }]);
	});

	test('waits that run at the same time, and other sessions, each get it', () => {
		const first = new KnownIds('session 3', 'id');
		const beside = new KnownIds('session 3', 'id');
		const one = turn(first);
		one.add({ id: 1 });
		first.remember();
		for (const other of [turn(beside), turn(new KnownIds('session 4', 'id'))]) {
			other.add({ id: 1 });
			expect(other.texts()).toEqual([{ id: 1 }]);
		}
	});

	test('the latest 50,000 are known', () => {
		const ids = new KnownIds('session 5', 'id');
		const envelope = { sequence: 1, receivedAt: '', sessionId: 's', byteLength: 1 };
		for (let id = 0; id <= 50_000; id++) ids.isRepeated({ ...envelope, format: 'json', message: { id } });
		ids.remember();
		const later = turn(new KnownIds('session 5', 'id'));
		for (const id of [0, 1, 50_000]) later.add({ id });
		expect(later.texts()).toEqual([{ id: 0 }]);
	});
});
