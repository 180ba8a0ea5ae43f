import { frameArrival } from '../../../nodes/Agent/AgentSessionTrigger/items';
import { MessageQueue } from '../../../nodes/Agent/AgentSessionTrigger/queue';
import { Intake, messageOf } from '../../../nodes/Agent/session/messages';
import { FakeClock } from './fakeClock';

const megabyte = 1024 * 1024;
const ofSmallObjects = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3 - 1)}{}]`);
const take = (frame: Buffer) => new Intake('s1', 'auto').take(frame, false, '');

test('64 MiB of small JSON objects take as much in the queue, not twenty times that', () => {
	const settings = {
		maxMessages: 100_000,
		maxBytes: 64 * megabyte,
		onFull: 'dropOldest' as const,
		batchSize: 1,
		batchWaitMilliseconds: 0,
		maxConcurrent: 0,
	};
	const listener = { deliver: () => Promise.resolve(true), pause() {}, resume() {}, dropped() {} };
	const queue = new MessageQueue<ReturnType<typeof frameArrival>>(settings, listener, new FakeClock());
	const intake = new Intake('s1', 'auto');
	const before = process.memoryUsage();
	for (let n = 0; n < 64; n++) queue.push(frameArrival(intake.take(ofSmallObjects(megabyte), false, '')));
	const { heapUsed, arrayBuffers } = process.memoryUsage();
	expect(queue.length).toBeGreaterThan(60);
	expect(heapUsed - before.heapUsed + arrayBuffers - before.arrayBuffers).toBeLessThan(2.5 * 64 * megabyte);
});

test('a small frame counts for more than its bytes, which are the least of it', () => {
	const { byteLength } = frameArrival(take(Buffer.from('1')));
	expect(byteLength).toBe(1 + 600);
});

test('a frame does not keep all that the socket read with it', () => {
	const read = Buffer.alloc(64 * 1024, 1);
	expect(take(read.subarray(10, 20)).data.buffer).not.toBe(read.buffer);
});

test('a message that would take too much is passed on as the text that it is', () => {
	const message = messageOf(take(ofSmallObjects(63_000_000)));
	expect([message.format, message.byteLength]).toEqual(['text', 63_000_001]);
});
