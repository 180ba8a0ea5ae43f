import fc from 'fast-check';

import type { CloseReason } from '../../../nodes/Agent/session/closeReason';
import {
	afterEnding,
	afterLife,
	ConnectRateLimiter,
	connectRateLimiterOf,
	type Memory,
	untroubled,
} from '../../../nodes/Agent/session/reconnect';
import { FakeClock } from './fakeClock';

const policy = { maxDelayMilliseconds: 60_000, finalCloseCodes: [] };
const dropped: CloseReason = { kind: 'dropped' };
const minutes = 60_000;
const almostOne = () => 1 - Number.EPSILON;
const status = (statusCode: number): CloseReason => ({
	kind: 'answer',
	answer: {
		statusCode,
		retryAfter: undefined,
		date: undefined,
		location: undefined,
		contentType: undefined,
		body: '',
	},
});

/** The delays of a series of endings. */
function series(
	endings: readonly CloseReason[],
	random: () => number,
	memory: Memory = untroubled,
): number[] {
	let now = memory;
	return endings.map((ending) => {
		const next = afterEnding(now, ending, undefined, policy, random);
		now = next.memory;
		return next.delayMilliseconds;
	});
}

describe('afterEnding', () => {
	it('doubles the window from 1 s to the cap', () => {
		const longest = series(Array<CloseReason>(9).fill(dropped), almostOne).map((delay) => delay + 1);
		expect(longest).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
		expect(series(Array<CloseReason>(9).fill(dropped), () => 0)).toEqual(Array(9).fill(0));
	});

	it('tries once at once after a refusal, then by a ramp from 10 s to 15 minutes', () => {
		const refusals = Array<CloseReason>(10).fill(status(401));
		const seconds = (delays: number[]) => delays.map((delay) => Math.ceil(delay / 1000));
		expect(seconds(series(refusals, almostOne))).toEqual([2, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
		expect(seconds(series(refusals, () => 0))).toEqual([1, 5, 10, 20, 40, 80, 160, 320, 450, 450]);
	});

	it('stays in the slow lane when something else comes', () => {
		expect(series([status(401), status(401), dropped, dropped], () => 0)).toEqual([
			1000, 5000, 10_000, 20_000,
		]);
	});

	it('knows a refusal again after the network failed in between', () => {
		expect(series([status(401), dropped, status(401)], () => 0)).toEqual([1000, 0, 5000]);
	});

	it.each<[string, CloseReason]>([
		['a redirect', status(302)],
		['a mistake in the credentials', { kind: 'credentials', message: '', isMistake: true }],
	])('%s goes to the slow lane at once', (_name, ending) => {
		const next = afterEnding(untroubled, ending, undefined, policy, () => 0);
		expect(next).toMatchObject({ decision: 'final', delayMilliseconds: 5000, memory: { slowWaits: 1 } });
	});

	it('counts messages too large in a row; another ending between them starts anew', () => {
		const tooLarge: CloseReason = { kind: 'tooLarge', maxMessageBytes: 1 };
		expect(series([tooLarge, tooLarge, dropped, tooLarge, tooLarge], () => 0)).toEqual([0, 0, 0, 0, 0]);
		expect(series([tooLarge, { kind: 'closeFrame', code: 1009, reason: '' }, tooLarge], () => 0)).toEqual([
			0, 0, 5000,
		]);
	});

	it.each([
		[10_000, 10_000],
		[undefined, 0],
		[24 * 60 * minutes, 15 * minutes],
	])('waits at least the Retry-After of %p ms, at most 15 minutes', (asked, least) => {
		expect(afterEnding(untroubled, status(503), asked, policy, () => 0).delayMilliseconds).toBe(least);
		expect(afterEnding(untroubled, status(503), asked, policy, almostOne).delayMilliseconds).toBe(
			least + 999,
		);
	});

	it('Retry-After does not shorten the slow lane', () => {
		const slow = { ...untroubled, slowWaits: 6 };
		expect(afterEnding(slow, status(503), 1000, policy, () => 0).delayMilliseconds).toBe(320_000);
		expect(afterEnding(slow, status(503), 14 * minutes, policy, () => 0).delayMilliseconds).toBe(
			14 * minutes,
		);
	});

	it('is never longer than the cap and never less than what was asked for', () => {
		const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
		fc.assert(
			fc.property(fc.nat(100), fc.nat(2_000_000), unit, (waits, asked, drawn) => {
				const memory = { ...untroubled, waits };
				const { delayMilliseconds } = afterEnding(memory, status(503), asked, policy, () => drawn);
				const bound = Math.min(asked, 15 * minutes);
				return delayMilliseconds >= bound && delayMilliseconds <= bound + 60_000;
			}),
		);
	});
});

describe('afterLife', () => {
	const troubled = { waits: 7, suspected: 'status 401', faultyFrames: 2, slowWaits: 3 };

	it('of 5 s with a message ends the backoff, but neither a suspicion nor the slow lane', () => {
		expect(afterLife(troubled, 5000, true, dropped)).toEqual({ ...troubled, waits: 0 });
	});

	it.each<[string, number, boolean]>([
		['a shorter one', 4999, true],
		['one without a message', 29_999, false],
	])('%s changes nothing', (_name, lived, broughtMessage) => {
		expect(afterLife(troubled, lived, broughtMessage, dropped)).toBe(troubled);
	});

	it.each([1000, 1005])(
		'of a service that sends one message and closes with %d lets the waits grow to 16 s only',
		(code) => {
			const done: CloseReason = { kind: 'closeFrame', code, reason: '' };
			let memory = untroubled;
			const delays = Array.from({ length: 6 }, () => {
				const next = afterEnding(afterLife(memory, 1000, true, done), done, undefined, policy, almostOne);
				memory = next.memory;
				return next.delayMilliseconds + 1;
			});
			expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 16_000]);
			expect(afterLife(troubled, 1000, false, done)).toBe(troubled);
		},
	);
});

function gated(count: number) {
	const clock = new FakeClock();
	const rateLimiter = new ConnectRateLimiter(clock);
	const passed: number[] = [];
	const leave = Array.from({ length: count }, (_, n) => rateLimiter.pass(() => passed.push(n)));
	return { clock, rateLimiter, passed, leave };
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
	const { clock, rateLimiter, passed } = gated(5);
	await clock.advance(300);
	for (let n = 5; n < 10; n++) rateLimiter.pass(() => passed.push(n));
	expect(passed).toHaveLength(8);
});

test('is one for all that go to the same service', () => {
	expect(connectRateLimiterOf('credential 1')).toBe(connectRateLimiterOf('credential 1'));
	expect(connectRateLimiterOf('credential 1')).not.toBe(connectRateLimiterOf('credential 2'));
});
