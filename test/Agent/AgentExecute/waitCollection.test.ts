import {
	Collection,
	type CollectionSettings,
	type WaitOver,
} from '../../../nodes/Agent/AgentExecute/collection';
import type { WaitEnd } from '../../../nodes/Agent/AgentExecute/waitSettings';
import { messageId } from '../../../nodes/Agent/session/messageField';
import { contentOf } from '../../../nodes/Agent/session/messages';
import { FakeClock } from '../session/fakeClock';

function collect(
	end: WaitEnd,
	more: Partial<CollectionSettings> = {},
	isSent = true,
	earlier: readonly string[] = [],
) {
	const clock = new FakeClock();
	const told: WaitOver[] = [];
	const settings = { end, maxMessages: 1000, timeoutSeconds: 300, ...more };
	const collection = new Collection(settings, clock, (end) => void told.push(end), undefined, earlier);
	if (isSent) collection.callSent();
	let sequence = 0;
	const add = (message: unknown, byteLength = 10) => {
		const data = Buffer.from(JSON.stringify(message));
		const content = contentOf(data, false, 'auto');
		const id = messageId(content, 'id');
		const digest = id ?? data.toString();
		const digestOf = id === undefined ? 'bytes' : 'id';
		const envelope = { sessionId: 's', sequence: ++sequence, receivedAt: '', byteLength };
		collection.add({ ...envelope, ...content, digest, digestOf });
	};
	const texts = () => collection.messages.map(({ message }) => message);
	return { clock, told, collection, add, texts, count: () => collection.messages.length };
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
	const { told, collection, add } = collect({ by: 'match', field, values: ['other', value] });
	collection.answered();
	add(message);
	expect(told).toEqual(isEnd ? ['match'] : []);
	collection.stop();
});

test('ends at its number of messages, and takes no more', () => {
	const { told, collection, add, count } = collect({ by: 'count', count: 2 });
	collection.answered();
	for (let n = 0; n < 4; n++) add(n);
	expect([told, count()]).toEqual([['count'], 2]);
});

test('is not over before the call is answered; what came until then counts', () => {
	const { told, collection, add, count } = collect({ by: 'count', count: 1 });
	add(1);
	add(2);
	expect([told, collection.isComplete, count()]).toEqual([[], true, 1]);
	collection.answered();
	expect(told).toEqual(['count']);
});

describe('silence', () => {
	const silence = { by: 'silence', milliseconds: 5000 } as const;

	test('counts from the last message', async () => {
		const { clock, told, collection, add } = collect(silence);
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
		const { clock, told, collection } = collect(silence);
		collection.answered();
		await clock.advance(299_999);
		expect(told).toEqual([]);
		await clock.advance(1);
		expect(told).toEqual(['timeout']);
	});

	test('does not end before the call is answered', async () => {
		const { clock, told, collection, add } = collect(silence);
		add(1);
		await clock.advance(60_000);
		expect(told).toEqual([]);
		collection.answered();
		await clock.advance(0);
		expect(told).toEqual(['silence']);
	});
});

test('a close ends only the wait that waits for it', () => {
	const waiting = collect({ by: 'close' });
	waiting.collection.answered();
	waiting.add(1);
	waiting.collection.closed();
	expect([waiting.told, waiting.count(), waiting.clock.pending]).toEqual([['close'], 1, 0]);
	const other = collect({ by: 'count', count: 2 });
	other.collection.answered();
	other.collection.closed();
	expect(other.told).toEqual([]);
});

test('one message more than allowed is the limit', () => {
	const { told, collection, add, count } = collect({ by: 'close' }, { maxMessages: 2 });
	collection.answered();
	add(1);
	add(2);
	expect(told).toEqual([]);
	add(3);
	expect([told, count()]).toEqual([['limit'], 2]);
});

test('64 MiB in all are the limit', () => {
	const { told, collection, add, count } = collect({ by: 'close' });
	collection.answered();
	for (let n = 0; n < 5; n++) add(n, 16 * 1024 * 1024);
	expect([told, count()]).toEqual([['limit'], 4]);
});

test('the time limit starts with the answer, and leaves no timer when it is stopped', async () => {
	const { clock, told, collection } = collect({ by: 'close' }, { timeoutSeconds: 10 });
	await clock.advance(60_000);
	collection.answered();
	await clock.advance(9999);
	expect(told).toEqual([]);
	collection.stop();
	expect(clock.pending).toBe(0);
});

test('a message of the failure value ends the wait as one, before it matches', () => {
	const failure = { field: 'type', values: ['error', 'failed'] };
	const { told, collection, add } = collect({ by: 'match', field: 'type', values: ['failed'] }, { failure });
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
	const { clock, told, collection, add, count } = collect(end, { maxMessages: endedBy === 'limit' ? 1 : 9 });
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
	const early = new Collection(
		{ end: { by: 'close' }, maxMessages: 2, timeoutSeconds: 1 },
		new FakeClock(),
		() => undefined,
	);
	for (const n of [1, 2, 3]) {
		const content = contentOf(Buffer.from(`${n}`), false, 'auto');
		early.add({ sessionId: 's', sequence: n, receivedAt: '', ...content, byteLength: 1 });
	}
	early.closed();
	early.callSent();
	expect([early.isComplete, early.early]).toMatchObject([false, [{ message: 2 }, { message: 3 }]]);
});

describe('a channel that is lost and open again', () => {
	const match: WaitEnd = { by: 'match', field: '', values: ['answer'] };
	const again = (end: WaitEnd, more: Partial<CollectionSettings> = {}) => {
		const all = collect(end, more);
		all.add('answer');
		// Of the turn before.
		all.collection.callSent();
		all.collection.answered();
		all.add('step');
		all.collection.lost();
		return all;
	};

	test('what is repeated ends nothing and counts once; the rest is of the turn', () => {
		const { told, collection, add, texts } = again(match);
		collection.opened();
		for (const text of ['answer', 'step', 'more', 'answer']) add(text);
		expect([told, texts()]).toEqual([[], ['step']]);
		collection.caughtUp();
		expect([told, texts()]).toEqual([['match'], ['step', 'more', 'answer']]);
	});

	test('a server that repeats nothing loses nothing', () => {
		const { told, collection, add } = again(match);
		collection.opened();
		add('answer');
		collection.caughtUp();
		expect(told).toEqual(['match']);
	});

	test('a server that answers no ping is given 250 ms', async () => {
		const { clock, told, collection, add, texts } = again(match);
		collection.opened();
		add('step');
		await clock.advance(249);
		add('answer');
		expect(told).toEqual([]);
		await clock.advance(1);
		expect([told, texts()]).toEqual([['match'], ['step', 'answer']]);
	});

	test('silence counts from the time when it is open again', async () => {
		const { clock, told, collection } = again({ by: 'silence', milliseconds: 5000 });
		await clock.advance(60_000);
		expect(told).toEqual([]);
		collection.opened();
		collection.caughtUp();
		await clock.advance(4999);
		expect(told).toEqual([]);
		await clock.advance(1);
		expect(told).toEqual(['silence']);
	});

	test.each<[string, WaitEnd, WaitOver]>([
		['the time limit', match, 'timeout'],
		['a close', { by: 'close' }, 'close'],
	])('%s meanwhile leaves out nothing that came', async (_name, end, endedBy) => {
		const { clock, told, collection, add, texts } = again(end, { timeoutSeconds: 0.2 });
		collection.opened();
		add('late');
		if (endedBy === 'close') collection.closed();
		else await clock.advance(200);
		expect([told, texts(), clock.pending]).toEqual([[endedBy], ['step', 'late'], 0]);
	});

	test('what came before the call stays there, though the channel was open again only then', () => {
		const { told, collection, add, texts } = collect(match, {}, false);
		collection.opened();
		add('answer');
		collection.callSent();
		collection.answered();
		add('step');
		collection.caughtUp();
		expect([told, texts(), collection.early]).toMatchObject([[], ['step'], [{ message: 'answer' }]]);
		collection.stop();
	});

	test('no more is held than may be collected', () => {
		const { told, collection, add, count } = again({ by: 'close' }, { maxMessages: 2 });
		collection.opened();
		for (const text of ['a', 'b', 'c']) add(text);
		expect([told, count()]).toEqual([['limit'], 2]);
	});
});

describe('messages of earlier turns', () => {
	const match = { by: 'match', field: '', values: ['answer'] } as const;
	const step = '"step"';
	const answer = '"answer"';
	const afterCall = (...earlier: string[]) => {
		const all = collect(match, {}, true, earlier);
		all.collection.answered();
		all.collection.opened();
		return all;
	};

	test('that are repeated when the channel opens after the call end nothing, and are shown as early', () => {
		const { told, collection, add, texts } = afterCall(step, answer);
		for (const text of ['step', 'answer', 'step']) add(text);
		collection.caughtUp();
		expect([told, texts()]).toEqual([[], ['step']]);
		expect(collection.early.map(({ message }) => message)).toEqual(['step', 'answer']);
		add('answer');
		expect([told, texts()]).toEqual([['match'], ['step', 'answer']]);
	});

	test.each<[string, string[]]>([
		['what is like one of them, but not at the end of them', [answer, step]],
		['what is like some of them in another order', ['"other"', answer, '"last"']],
		['what nobody has seen before', []],
	])('%s is of the turn', (_name, earlier) => {
		const { told, collection, add } = afterCall(...earlier);
		add('answer');
		collection.caughtUp();
		expect(told).toEqual(['match']);
	});

	test('the same text again, once the channel has been open, is a new message', () => {
		const { told, collection, add } = afterCall(answer);
		collection.caughtUp();
		add('answer');
		expect(told).toEqual(['match']);
	});

	test('with an ID they are known at any time, and in any order', () => {
		const { told, collection, add, texts } = collect({ by: 'count', count: 2 }, {}, true, ['1', '2']);
		collection.answered();
		collection.opened();
		collection.caughtUp();
		for (const id of [2, 3, 1, 3, 2]) add({ id });
		expect([told, texts()]).toEqual([[], [{ id: 3 }]]);
		expect(collection.early.map(({ message }) => message)).toEqual([{ id: 2 }, { id: 1 }]);
		add({ id: 4 });
		expect([told, texts()]).toEqual([['count'], [{ id: 3 }, { id: 4 }]]);
	});

	test('also what came when the wait was over is told, for the next turn', () => {
		const { collection, add } = afterCall();
		collection.caughtUp();
		add('answer');
		add('too late');
		expect(collection.arrived).toEqual([answer, '"too late"']);
	});
});
