import fc from 'fast-check';

import { fullJitterMilliseconds, parseRetryAfter } from '../../nodes/http/retry';

const bounds = { baseMilliseconds: 1000, capMilliseconds: 60_000 };

describe('fullJitterMilliseconds', () => {
	it.each([
		[0, 999],
		[1, 1999],
		[5, 31_999],
		[6, 59_999],
		[1000, 59_999],
	])('attempt %i waits at most %i ms', (attempt, longest) => {
		expect(fullJitterMilliseconds(attempt, bounds, () => 1 - Number.EPSILON)).toBe(longest);
		expect(fullJitterMilliseconds(attempt, bounds, () => 0)).toBe(0);
	});

	it('is a whole number of milliseconds between 0 and the cap, whatever comes in', () => {
		const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 5000 }), unit, (attempt, drawn) => {
				const wait = fullJitterMilliseconds(attempt, bounds, () => drawn);
				return Number.isInteger(wait) && wait >= 0 && wait < bounds.capMilliseconds;
			}),
		);
	});
});

describe('parseRetryAfter', () => {
	const now = Date.parse('1994-11-06T08:49:37Z');

	it.each([
		['0', 0],
		['120', 120_000],
		[' 7 ', 7000],
		['2024', 2_024_000],
		['0.5', 500],
		[['3', '9'], 3000],
		['Sun, 06 Nov 1994 08:50:07 GMT', 30_000],
		['Sunday, 06-Nov-94 08:50:07 GMT', 30_000],
		['Sun Nov  6 08:50:07 1994', 30_000],
		['Sun, 06 Nov 1994 08:00:00 GMT', 0],
		['Sun, 06 Nov 1994 10:50:07 +0200', 30_000],
		['Sun, 06 Nov 1994 03:50:07 EST', 30_000],
	])('%j asks for %i ms', (header, expected) => {
		expect(parseRetryAfter(header, now)).toBe(expected);
	});

	it.each([undefined, '', 'soon', '-5', '1e3', 'NaN', [], 'Sun, 99 Foo 1994'])('%j is no wait', (header) => {
		expect(parseRetryAfter(header, now)).toBeUndefined();
	});
});
