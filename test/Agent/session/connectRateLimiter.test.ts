import { Gate, gateOf } from '../../../nodes/Agent/session/connectRateLimiter';
import { FakeClock } from './fakeClock';

function gated(count: number) {
	const clock = new FakeClock();
	const gate = new Gate(clock);
	const passed: number[] = [];
	const leave = Array.from({ length: count }, (_, n) => gate.pass(() => passed.push(n)));
	return { clock, gate, passed, leave };
}

test('lets five through at once, then one each 100 ms, in order', async () => {
	const { clock, passed } = gated(8);
	expect(passed).toEqual([0, 1, 2, 3, 4]);
	await clock.advance(99);
	expect(passed).toHaveLength(5);
	await clock.advance(1);
	expect(passed).toEqual([0, 1, 2, 3, 4, 5]);
	await clock.advance(200);
	expect(passed).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
	expect(clock.pending).toBe(0);
});

test('who gives up its place costs the others nothing, and leaves no timer', async () => {
	const { clock, passed, leave } = gated(8);
	leave[5]?.();
	await clock.advance(100);
	expect(passed.slice(5)).toEqual([6]);
	leave[7]?.();
	expect(clock.pending).toBe(0);
	leave[7]?.();
	await clock.advance(1000);
	expect(passed).toHaveLength(6);
});

test('the allowance grows back with time', async () => {
	const { clock, gate, passed } = gated(5);
	await clock.advance(300);
	for (let n = 5; n < 10; n++) gate.pass(() => passed.push(n));
	expect(passed).toHaveLength(8);
});

test('is one for all that go to the same service', () => {
	expect(gateOf('credential 1')).toBe(gateOf('credential 1'));
	expect(gateOf('credential 1')).not.toBe(gateOf('credential 2'));
});
