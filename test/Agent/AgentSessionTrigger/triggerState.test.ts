import { memoryOf, NodeMemory } from '../../../nodes/Agent/AgentSessionTrigger/triggerState';
import { FakeClock } from '../session/fakeClock';

const count = (most: number) => Array.from({ length: most + 1 }, (_, n) => `${most} ${n}`);

test('a node remembers its last 10,000 messages and sessions', () => {
	const memory = new NodeMemory();
	const [oldest = '', next = '', ...others] = count(10_000);
	const frames = [oldest, next].map((id) => memory.framesOf(id));
	for (const id of others) memory.framesOf(id);
	expect(memory.framesOf(next)).toBe(frames[1]);
	expect(memory.framesOf(oldest)).not.toBe(frames[0]);
	for (const id of [oldest, next, ...others]) memory.recent.set(id, true);
	expect([memory.recent.has(oldest), memory.recent.has(next)]).toEqual([false, true]);
});

test('200 nodes are remembered', () => {
	const [oldest = '', next = '', ...others] = count(200);
	const memories = [oldest, next].map(memoryOf);
	for (const key of others) memoryOf(key);
	expect(memoryOf(next)).toBe(memories[1]);
	expect(memoryOf(oldest)).not.toBe(memories[0]);
});

test('what is left waits a minute for the next start', async () => {
	const [memory, clock] = [new NodeMemory(), new FakeClock()];
	const leftover = { entries: [], dropped: new Map() };
	memory.keep(leftover, clock);
	await clock.advance(59_999);
	expect([memory.take(), memory.take(), clock.pending]).toEqual([leftover, undefined, 0]);
	memory.keep(leftover, clock);
	await clock.advance(60_000);
	expect(memory.take()).toBeUndefined();
});
