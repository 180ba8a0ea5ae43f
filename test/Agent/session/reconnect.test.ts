import fc from 'fast-check';

import type { Ending } from '../../../nodes/Agent/session/failures';
import {
	afterEnding,
	afterMessage,
	firstDelayMilliseconds,
	type Memory,
	untroubled,
} from '../../../nodes/Agent/session/reconnect';

const policy = { maxDelayMilliseconds: 60_000, sessions: 1, finalCloseCodes: [] };
const dropped: Ending = { kind: 'dropped' };
const minutes = 60_000;
const almostOne = () => 1 - Number.EPSILON;
const status = (statusCode: number): Ending => ({
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
function series(endings: readonly Ending[], random: () => number, memory: Memory = untroubled): number[] {
	let now = memory;
	return endings.map((ending) => {
		const next = afterEnding(now, ending, undefined, policy, random);
		now = next.memory;
		return next.delayMilliseconds;
	});
}

describe('afterEnding', () => {
	it('doubles the window from 1 s to the cap', () => {
		const longest = series(Array<Ending>(9).fill(dropped), almostOne).map((delay) => delay + 1);
		expect(longest).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
		expect(series(Array<Ending>(9).fill(dropped), () => 0)).toEqual(Array(9).fill(0));
	});

	it('tries once at once after a refusal, then only every 5 to 15 minutes', () => {
		expect(series([status(401), status(401), status(401)], () => 0)).toEqual([
			1000,
			5 * minutes,
			5 * minutes,
		]);
		expect(series([status(401), status(401), dropped], almostOne)).toEqual([
			1999,
			15 * minutes - 1,
			15 * minutes - 1,
		]);
	});

	it('knows a refusal again after the network failed in between', () => {
		expect(series([status(401), dropped, status(401)], () => 0)).toEqual([1000, 0, 5 * minutes]);
	});

	it('a redirect goes to the slow lane at once', () => {
		const next = afterEnding(untroubled, status(302), undefined, policy, () => 0);
		expect(next).toMatchObject({ verdict: 'final', delayMilliseconds: 5 * minutes, memory: { slow: true } });
	});

	it('counts messages too large in a row; another ending between them starts anew', () => {
		const tooLarge: Ending = { kind: 'tooLarge', maxMessageBytes: 1 };
		expect(series([tooLarge, tooLarge, dropped, tooLarge, tooLarge], () => 0)).toEqual([0, 0, 0, 0, 0]);
		expect(series([tooLarge, { kind: 'closeFrame', code: 1009, reason: '' }, tooLarge], () => 0)).toEqual([
			0,
			0,
			5 * minutes,
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
		const slow = { ...untroubled, slow: true };
		expect(afterEnding(slow, status(503), 1000, policy, () => 0).delayMilliseconds).toBe(5 * minutes);
		expect(afterEnding(slow, status(503), 14 * minutes, policy, () => 0).delayMilliseconds).toBe(
			14 * minutes,
		);
	});

	it('gives each session 100 ms of the first window', () => {
		const many = { ...policy, sessions: 200 };
		expect(afterEnding(untroubled, dropped, undefined, many, almostOne).delayMilliseconds).toBe(19_999);
		expect(afterEnding(untroubled, status(401), undefined, many, almostOne).delayMilliseconds).toBe(20_999);
		const capped = { ...many, maxDelayMilliseconds: 1000 };
		expect(afterEnding(untroubled, dropped, undefined, capped, almostOne).delayMilliseconds).toBe(19_999);
		expect(firstDelayMilliseconds(many, almostOne)).toBe(19_999);
		expect(firstDelayMilliseconds(policy, almostOne)).toBe(0);
	});

	it('is never longer than the cap and never less than what was asked for', () => {
		const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
		fc.assert(
			fc.property(
				fc.nat(100),
				fc.integer({ min: 1, max: 500 }),
				fc.nat(2_000_000),
				unit,
				(waits, sessions, asked, drawn) => {
					const memory = { ...untroubled, waits };
					const { delayMilliseconds } = afterEnding(
						memory,
						status(503),
						asked,
						{ ...policy, sessions },
						() => drawn,
					);
					const bound = Math.min(asked, 15 * minutes);
					return delayMilliseconds >= bound && delayMilliseconds <= bound + 60_000;
				},
			),
		);
	});
});

describe('afterMessage', () => {
	it('ends the backoff, but neither a suspicion nor the slow lane', () => {
		const troubled = { waits: 7, suspected: 'status 401', faultyFrames: 2, slow: true };
		expect(afterMessage(troubled)).toEqual({ ...troubled, waits: 0 });
		expect(afterMessage(untroubled)).toBe(untroubled);
	});
});
