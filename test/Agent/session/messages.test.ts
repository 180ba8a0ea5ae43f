import fc from 'fast-check';

import { MessageArrival } from '../../../nodes/Agent/AgentSessionTrigger/arrival';
import { MessageQueue } from '../../../nodes/Agent/AgentSessionTrigger/queue';
import {
	copyFromLargeBuffer,
	parseMessageContent,
	parseFrame,
	findFieldText,
	findMessageId,
	meetsCondition,
} from '../../../nodes/Agent/session/messages';
import { FakeClock } from './fakeClock';

const bytes = Buffer.from([0xff, 0xfe, 0x00]);
const json = Buffer.from('{"a":[1,"ä"]}');

describe('contentOf', () => {
	it.each([
		[json, false, { format: 'json', message: { a: [1, 'ä'] } }],
		[json, true, { format: 'binary', message: null, bytes: json }],
		[Buffer.from('plain'), false, { format: 'text', message: 'plain' }],
		[Buffer.from('null'), false, { format: 'json', message: null }],
		[Buffer.from(''), false, { format: 'text', message: '' }],
		[Buffer.from('\uFEFF{}'), false, { format: 'json', message: {} }],
		[Buffer.from('{"cut'), false, { format: 'text', message: '{"cut' }],
		[bytes, false, { format: 'binary', message: null, bytes }],
		[bytes, true, { format: 'binary', message: null, bytes }],
	] as const)('of %p (binary frame: %p)', (data, isBinary, expected) => {
		expect(parseMessageContent(data, isBinary)).toEqual(expected);
	});

	it('never throws and never loses a byte', () => {
		fc.assert(
			fc.property(fc.uint8Array(), fc.boolean(), (array, isBinary) => {
				const data = Buffer.from(array);
				const content = parseMessageContent(data, isBinary);
				if (content.format === 'binary') return content.bytes.equals(data);
				return content.format === 'json' || Buffer.from(content.message).equals(data);
			}),
		);
	});

	it('reads what is nested too deep for most programs', () => {
		const depth = 100_000;
		const deep = Buffer.from('['.repeat(depth) + ']'.repeat(depth));
		expect(['json', 'text']).toContain(parseMessageContent(deep, false).format);
	});
});

describe('fields of messages', () => {
	const read = (text: string) => parseMessageContent(Buffer.from(text), false);

	it('meet a condition as a whole, not in part', () => {
		const condition = { field: 'type', values: ['done', 'answer'] };
		const meet = (type: string) => meetsCondition(read(JSON.stringify({ type })), condition);
		expect(['answer', 'done', 'not done', 'do', ''].map(meet)).toEqual([
			...[true, true],
			...[false, false, false],
		]);
	});

	it.each<[string, string, string | undefined]>([
		['[DONE]', '', '[DONE]'],
		[' [DONE]\n', '', '[DONE]'],
		['"done"', '', 'done'],
		['{"a":1}', '', undefined],
		['[1]', '', undefined],
		['null', '', 'null'],
		['plain', 'a', undefined],
		['{"ab":{"abc":1}}', 'abc', undefined],
		['{"a":{"b.c":1}}', 'a.b.c', '1'],
		['{"a.b":1}', 'a.b', '1'],
		['{"a":1}', 'a.b', undefined],
		['{"a":{"b":[true]}}', 'a.b.0', 'true'],
		['{"a":{"b":null}}', 'a.b', 'null'],
		['{"a":{"b":1}}', 'a', '{"b":1}'],
		['{"a":""}', 'a', ''],
		['{}', 'constructor', undefined],
		['null', 'a', undefined],
	])('%j at %j is %j', (text, field, expected) => {
		expect(findFieldText(read(text), field)).toBe(expected);
	});
});

const megabyte = 1024 * 1024;
const ofSmallObjects = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3 - 1)}{}]`);
const received = { sessionId: 's1', sequence: 1, receivedAt: '', isBinary: false } as const;
const take = (data: Buffer) => ({ ...received, data: copyFromLargeBuffer(data) });

test('64 MiB of small JSON objects take as much in the queue, not twenty times that', () => {
	const settings = { batchSize: 1, batchWaitMilliseconds: 0, maxConcurrentExecutions: 0 };
	const nothing = () => {};
	const reading = { pauseReading: nothing, resumeReading: nothing };
	const actions = { deliver: () => Promise.resolve(true), ...reading };
	const queue = new MessageQueue<MessageArrival>(settings, actions, new FakeClock());
	const measure = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
	const before = measure();
	for (let n = 0; n < 64; n++) queue.push(new MessageArrival(take(ofSmallObjects(megabyte))));
	expect(measure() - before).toBeLessThan(2.5 * 64 * megabyte);
	expect(queue.length).toBeGreaterThan(60);
});

test('a small frame counts for more than its bytes, which are the least of it', () => {
	const { byteLength } = new MessageArrival(take(Buffer.from('1')));
	expect(byteLength).toBe(1 + 600);
});

test('a frame keeps what the socket read with it only if it is half of that', () => {
	const read = Buffer.alloc(64 * 1024, 1);
	expect(copyFromLargeBuffer(read.subarray(0, 32 * 1024)).buffer).toBe(read.buffer);
	expect(copyFromLargeBuffer(read.subarray(0, 32 * 1024 - 1)).buffer).not.toBe(read.buffer);
});

test.each<[string, string, string | undefined]>([
	['{"id":"a"}', 'id', 'a'],
	['{"id":0}', 'id', '0'],
	['{"id":9007199254740993}', 'id', undefined],
	['{"id":""}', 'id', undefined],
	['{"id":true}', 'id', undefined],
	['{"id":null}', 'id', undefined],
	['{"":"a"}', '', undefined],
	['plain', 'id', undefined],
])('the ID of %s at %j is %j', (text, path, id) => {
	expect(findMessageId(parseMessageContent(Buffer.from(text), false), path)).toBe(id);
});

test('JSON counts for more than its bytes, a text for as much', () => {
	const heldBytes = ['{"a":1}', 'plain'].map(
		(text) => parseFrame(take(Buffer.from(text))).heldBytes,
	);
	expect(heldBytes).toEqual([115, 5]);
});

test('bytes have no text form of their own', () => {
	expect(findFieldText(parseMessageContent(Buffer.from('7'), true), '')).toBeUndefined();
});

test('a message that would take too much is passed on as the text that it is', () => {
	const message = parseFrame(take(ofSmallObjects(63_000_000)));
	expect([message.format, message.heldBytes]).toEqual(['text', 63_000_001]);
});
