import timers from 'node:timers/promises';
import fc from 'fast-check';

import { NodeError, isNodeError, toNodeError } from '../../nodes/core/errors';
import {
	computePause,
	classifyStatus,
	type RetryPolicy,
	withRetries,
	drawJitterMilliseconds,
	parseRetryAfter,
} from '../../nodes/http/retry';
import { type AttemptName, attempts } from '../attempt';

describe('retry', () => {
	const policy: RetryPolicy = {
		words: { service: 'The service', nothingDone: 'Nothing was done.' },
		maxAttempts: 5,
		maxRetryWaitMilliseconds: 60_000,
		signal: undefined,
	};
	const first = { attempts: 1, pausedMilliseconds: 0, mayBeDone: false };
	const busy = (retryAfterMilliseconds?: number) =>
		new NodeError({ code: 429, message: 'Busy', retryAfterMilliseconds });

	describe('the next step', () => {
		beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0));
		afterEach(() => jest.restoreAllMocks());

		const waitFor = (failure: NodeError, progress = first, more: Partial<RetryPolicy> = {}) => {
			try {
				return computePause(failure, progress, { ...policy, ...more });
			} catch (error) {
				return toNodeError(error).description;
			}
		};

		test('has a floor, whatever the dice and the service say', () => {
			expect([waitFor(busy()), waitFor(busy(0))]).toEqual([200, 200]);
		});

		test('comes after what the service asks for, and never at the same moment for all', () => {
			expect(waitFor(busy(2000))).toBe(2200);
			jest.spyOn(Math, 'random').mockReturnValue(0.9);
			expect(waitFor(busy(2000))).toBe(2900);
		});

		test.each([undefined, 0, 1000])(
			'does not come without time to wait (Retry-After %s)',
			(asked) => {
				expect(() =>
					computePause(busy(asked), first, { ...policy, maxRetryWaitMilliseconds: 0 }),
				).toThrow('Busy');
			},
		);

		test('waits for what is left at most', () => {
			expect(waitFor(busy(), { ...first, pausedMilliseconds: 59_950 })).toBe(50);
			expect(waitFor(busy(), { ...first, pausedMilliseconds: 59_999 })).toBe(1);
			expect(waitFor(busy(60_000))).toBe(60_000);
		});

		test('draws from a second, from twice as much after each wait, and from 64 seconds at most', () => {
			jest.spyOn(Math, 'random').mockReturnValue(1 - Number.EPSILON);
			const waits = [1, 2, 7, 8].map((attempts) =>
				waitFor(
					busy(),
					{ ...first, attempts },
					{ maxAttempts: 9, maxRetryWaitMilliseconds: 600_000 },
				),
			);
			expect(waits).toEqual([999, 1999, 63_999, 63_999]);
		});

		test('does not come after the last try', () => {
			expect(waitFor(busy(), { ...first, attempts: 4 })).toBe(200);
			expect(waitFor(busy(), { ...first, attempts: 5 })).toBe('Tried 5 times.');
		});

		test('says that there was no time for a second try, but not that there was none for a third', () => {
			const over = { ...first, pausedMilliseconds: 60_000 };
			expect(waitFor(busy(), over)).toMatch(
				/^Another try would need a wait, but '.+' allows 60\.$/,
			);
			expect(waitFor(busy(), { ...over, attempts: 2 })).toBe('Tried 2 times.');
		});

		test('states a wait that is too long, and what is left', () => {
			expect(waitFor(busy(60_001))).toMatch(
				/^The service asks n8n to wait 61 seconds, but '.+' allows 60\.$/,
			);
			expect(waitFor(busy(3000), { ...first, pausedMilliseconds: 58_500 })).toMatch(
				/allows 60, of which 1\.5 are left\.$/,
			);
		});
	});

	test('when the tries end, all that is known of the failure is kept', async () => {
		const cause = new Error('why');
		const failure = new NodeError({
			code: 503,
			message: 'No',
			cause,
			outcome: 'done',
			retryable: true,
			retryAfterMilliseconds: 0,
		});
		const tries = withRetries(
			() => Promise.reject(failure),
			{ isRepeatable: false, mayChange: true },
			{ ...policy, maxAttempts: 2, maxRetryWaitMilliseconds: 10 },
		);
		const ended: unknown = await tries.catch((error: unknown) => error);
		if (!isNodeError(ended)) throw ended;
		expect([ended.cause, ended.outcome, ended.retryAfterMilliseconds]).toEqual([
			cause,
			'done',
			0,
		]);
	});

	test.each<[number, AttemptName]>([
		[400, 'final'],
		[407, 'final'],
		[408, 'unknown'],
		[409, 'final'],
		[428, 'final'],
		[429, 'notDone'],
		[430, 'final'],
		[499, 'final'],
		[500, 'unknown'],
		[503, 'unknown'],
	])('what HTTP %d says of the request: %s', (status, attempt) => {
		expect(classifyStatus(status)).toEqual(attempts[attempt]);
	});

	const brief = { ...policy, maxAttempts: 3, maxRetryWaitMilliseconds: 2 };
	const change = { isRepeatable: false, mayChange: true };

	/** An attempt that fails as often as there are names, then works. */
	function failing(...names: AttemptName[]) {
		return jest.fn(() => {
			const name = names.shift();
			if (name === undefined) return Promise.resolve('done');
			return Promise.reject(new NodeError({ code: 500, message: name, ...attempts[name] }));
		});
	}

	test('a request that was surely not carried out is sent again; what it gives then is the result', async () => {
		const request = failing('notDone');
		expect(await withRetries(request, change, brief)).toBe('done');
		expect(request).toHaveBeenCalledTimes(2);
		const harmless = failing('unknown');
		expect(await withRetries(harmless, { isRepeatable: true, mayChange: true }, brief)).toBe(
			'done',
		);
	});

	test('all waits together are no longer than allowed', async () => {
		const request = failing('notDone', 'notDone', 'notDone');
		await expect(withRetries(request, change, brief)).rejects.toMatchObject({
			description: 'Tried 2 times.',
		});
	});

	test('the waits add up to what is allowed, to the millisecond', async () => {
		const waits = jest.spyOn(timers, 'setTimeout').mockResolvedValue(undefined);
		jest.spyOn(Math, 'random').mockReturnValue(0);
		const request = failing(...Array.from({ length: 9 }, () => 'notDone' as const));
		const limits = { ...policy, maxAttempts: 9, maxRetryWaitMilliseconds: 500 };
		await expect(withRetries(request, change, limits)).rejects.toMatchObject({
			description: 'Tried 4 times.',
		});
		expect(waits.mock.calls.map(([wait]) => wait)).toEqual([200, 200, 100]);
		jest.restoreAllMocks();
	});

	test.each<[string, ReturnType<typeof failing>, typeof change, object]>([
		['a change that may be done', failing('unknown'), change, { outcome: 'unknown' }],
		['a change that is final', failing('final'), change, { outcome: 'notDone' }],
		[
			'a final failure that leaves a doubt',
			failing('finalUnknown'),
			change,
			{ outcome: 'unknown' },
		],
		[
			'a read',
			failing('finalUnknown'),
			{ isRepeatable: true, mayChange: false },
			{ outcome: 'notDone' },
		],
	])('%s is not sent again', async (_, request, repeating, known) => {
		await expect(withRetries(request, repeating, brief)).rejects.toMatchObject(known);
		expect(request).toHaveBeenCalledTimes(1);
	});

	test.each<[AttemptName, object]>([
		[
			'notDone',
			{
				code: 499,
				status: 'CANCELLED',
				description: 'Nothing was done.',
				outcome: 'notDone',
			},
		],
		['unknown', { status: 'CANCELLED', description: undefined, outcome: 'unknown' }],
	])('stopped after a try that is %s', async (name, known) => {
		const signal = AbortSignal.abort();
		const tries = withRetries(
			failing(name),
			{ isRepeatable: true, mayChange: true },
			{ ...brief, signal },
		);
		await expect(tries).rejects.toMatchObject(known);
	});

	test('any other error is passed on as it is', async () => {
		const fault = new TypeError('a fault');
		await expect(withRetries(() => Promise.reject(fault), change, brief)).rejects.toBe(fault);
	});
});

const bounds = { baseMilliseconds: 1000, capMilliseconds: 60_000 };

describe('fullJitterMilliseconds', () => {
	it.each([
		[0, 999],
		[1, 1999],
		[5, 31_999],
		[6, 59_999],
		[1000, 59_999],
	])('attempt %i waits at most %i ms', (attempt, longest) => {
		expect(drawJitterMilliseconds(attempt, bounds, () => 1 - Number.EPSILON)).toBe(longest);
		expect(drawJitterMilliseconds(attempt, bounds, () => 0)).toBe(0);
	});

	it('is a whole number of milliseconds between 0 and the cap, whatever comes in', () => {
		const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 5000 }), unit, (attempt, drawn) => {
				const wait = drawJitterMilliseconds(attempt, bounds, () => drawn);
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
		['Sun, 06 Nov 1994 08:50:07 GMT', 30_000],
		['Sunday, 06-Nov-94 08:50:07 GMT', 30_000],
		['Sun Nov  6 08:50:07 1994', 30_000],
		['Sun, 06 Nov 1994 08:00:00 GMT', 0],
		['Sun, 06 Nov 1994 10:50:07 +0200', 30_000],
		['Sun, 06 Nov 1994 03:50:07 EST', 30_000],
	])('%j asks for %i ms', (header, expected) => {
		expect(parseRetryAfter(header, now)).toBe(expected);
	});

	it.each([undefined, '', 'soon', '-5', '1e3', 'NaN', 'Sun, 99 Foo 1994'])(
		'%j is no wait',
		(header) => {
			expect(parseRetryAfter(header, now)).toBeUndefined();
		},
	);
});
