import fc from 'fast-check';

import { NodeError, isNodeError } from '../../nodes/core/errors';
import { defaultGateSettings, Gate } from '../../nodes/http/gate';
import {
	drawJitterMilliseconds,
	parseRetryAfter,
	type RepeatEffect,
	type RetryPolicy,
	withRetries,
} from '../../nodes/http/loop';
import { classifyStatus } from '../../nodes/http/networkErrors';
import { type AttemptName, attempts } from '../attempt';
import { VirtualClock } from './virtualClock';

describe('the loop', () => {
	afterEach(() => jest.restoreAllMocks());

	const change: RepeatEffect = { repeat: 'ifNotDone', hasVisibleEffect: true };
	const harmless: RepeatEffect = { repeat: 'always', hasVisibleEffect: true };

	/** An attempt that fails in these ways, then works. @returns how it ended, and when the attempts were */
	async function play(
		failures: Array<AttemptName | Partial<NodeError>>,
		effect = change,
		limits: Partial<RetryPolicy> = {},
		draw = 0,
	) {
		jest.spyOn(Math, 'random').mockReturnValue(draw);
		const clock = new VirtualClock();
		const gate = new Gate({ ...defaultGateSettings, clock });
		const times: number[] = [];
		const attempt = () => {
			times.push(clock.now());
			const next = failures.shift();
			if (next === undefined) return Promise.resolve('done');
			const kind = typeof next === 'string' ? attempts[next] : attempts.notDone;
			const more = typeof next === 'string' ? {} : next;
			return Promise.reject(new NodeError({ code: 503, message: 'No', ...kind, ...more }));
		};
		const policy: RetryPolicy = {
			texts: { service: 'The service', nothingDone: 'Not sent.', mayBeDone: 'Look.' },
			maxRetryWaitMilliseconds: 60_000,
			signal: undefined,
			gate,
			...limits,
		};
		const running = withRetries(attempt, effect, policy);
		const result = await clock.run(running).catch((error: unknown) => {
			if (!isNodeError(error)) throw error;
			return error;
		});
		return { result, times };
	}

	const described = ({ result }: Awaited<ReturnType<typeof play>>) =>
		isNodeError(result) ? result.description?.replace(/'.+'/, 'Wait') : result;
	const busy = (retryAfterMilliseconds?: number) => ({ retryAfterMilliseconds });

	test('pauses at least a fifth of a second, whatever the dice and the service say', async () => {
		const { times } = await play(['notDone', busy(0)]);
		expect(times).toEqual([0, 200, 400]);
	});

	test('pauses longer than the service asks for, and never equally long for all', async () => {
		expect((await play([busy(2000)])).times).toEqual([0, 2200]);
		expect((await play([busy(2000)], change, {}, 0.9)).times).toEqual([0, 2900]);
	});

	test('draws from a second, and from twice as much after each pause', async () => {
		const { times } = await play(
			Array<AttemptName>(4).fill('notDone'),
			change,
			{},
			1 - Number.EPSILON,
		);
		expect(times).toEqual([0, 999, 999 + 1999, 999 + 1999 + 3999, 999 + 1999 + 3999 + 7999]);
	});

	test('goes on with what fails without a word until the time is over', async () => {
		const failures = Array<AttemptName>(99).fill('notDone');
		const ended = await play(failures, change, {}, 0.5);
		expect(ended.times).toEqual([0, 500, 1500, 3500, 7500, 15_500, 31_500, 60_000]);
		expect(described(ended)).toBe('Tried 8 times.');
	});

	test('goes on while the service says when to come back, as long as there is time', async () => {
		const told = await play(Array<object>(9).fill(busy(1000)));
		expect([told.times.length, told.result]).toEqual([10, 'done']);
	});

	test('does not repeat without time to pause', async () => {
		const none = { maxRetryWaitMilliseconds: 0 };
		for (const failure of [busy(), busy(0), busy(1000), { code: 429 }]) {
			const ended = await play([failure], change, none);
			expect([ended.times.length, described(ended)]).toEqual([
				1,
				expect.stringMatching(/but Wait allows 0\.$/),
			]);
		}
	});

	test.each<[string, Array<AttemptName | Partial<NodeError>>]>([
		['silent failures', Array<AttemptName>(9).fill('notDone')],
		['refusals for quota', Array<object>(9).fill({ code: 429 })],
		['a mixture', [{ code: 429 }, 'notDone', { code: 429 }, busy(100), { code: 429 }]],
		['refusals with a time', Array<object>(20).fill({ code: 429, retryAfterMilliseconds: 90 })],
	])('all pauses together are no longer than allowed: %s', async (_what, failures) => {
		const ended = await play(failures, change, { maxRetryWaitMilliseconds: 1200 });
		expect(isNodeError(ended.result)).toBe(true);
		expect(ended.times.at(-1)).toBeLessThanOrEqual(1200);
		expect(ended.times.length).toBeGreaterThan(1);
	});

	test('states a pause that is too long, and what has passed', async () => {
		expect(described(await play([busy(60_001)]))).toBe(
			'The service asks n8n to wait 61 seconds, but Wait allows 60.',
		);
		expect(described(await play([busy(58_000), busy(3000)]))).toBe(
			'The service asks n8n to wait 3 seconds, but Wait allows 60, of which 59 have passed.',
		);
	});

	test('keeps all that is known of the failure', async () => {
		const cause = new Error('why');
		const { result } = await play([
			{ cause, outcome: 'done', retryable: false, retryAfterMilliseconds: 0 },
		]);
		expect(result).toMatchObject({ cause, outcome: 'done', retryAfterMilliseconds: 0 });
	});

	test.each<[string, AttemptName, RepeatEffect, object]>([
		['a change that may be done', 'unknown', change, { outcome: 'unknown' }],
		['a change that is final', 'final', change, { outcome: 'notDone' }],
		['a final failure that leaves a doubt', 'finalUnknown', change, { outcome: 'unknown' }],
		[
			'a read',
			'finalUnknown',
			{ repeat: 'always', hasVisibleEffect: false },
			{ outcome: 'notDone' },
		],
		['what is tried once', 'notDone', { repeat: 'never', hasVisibleEffect: false }, {}],
	])('%s is not sent again', async (_, failure, effect, known) => {
		const { result, times } = await play([failure], effect);
		expect(result).toMatchObject(known);
		expect(times).toHaveLength(1);
	});

	test.each<[AttemptName, object]>([
		['notDone', { code: 499, description: 'Not sent.', outcome: 'notDone' }],
		['unknown', { code: 499, description: 'Look.', outcome: 'unknown' }],
	])('stopped in the pause after a try that is %s', async (name, known) => {
		const stop = new AbortController();
		const clock = new VirtualClock();
		const gate = new Gate({ ...defaultGateSettings, clock });
		const texts = { service: 'S', nothingDone: 'Not sent.', mayBeDone: 'Look.' };
		const { signal } = stop;
		const running = withRetries(
			() => Promise.reject(new NodeError({ code: 500, message: '', ...attempts[name] })),
			harmless,
			{ texts, maxRetryWaitMilliseconds: 60_000, signal, gate },
		);
		await clock.advance(10);
		stop.abort();
		await expect(running).rejects.toMatchObject({ status: 'CANCELLED', ...known });
		expect(clock.now()).toBe(10);
	});

	test('any other error is passed on as it is', async () => {
		const fault = new TypeError('a fault');
		const gate = new Gate();
		const texts = { service: 'S', nothingDone: '' };
		const policy = { texts, maxRetryWaitMilliseconds: 0, signal: undefined, gate };
		await expect(withRetries(() => Promise.reject(fault), change, policy)).rejects.toBe(fault);
	});
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

const cap = 60_000;

describe('fullJitterMilliseconds', () => {
	it.each([
		[0, 999],
		[1, 1999],
		[5, 31_999],
		[6, 59_999],
		[1000, 59_999],
	])('attempt %i waits at most %i ms', (attempt, longest) => {
		expect(drawJitterMilliseconds(attempt, cap, () => 1 - Number.EPSILON)).toBe(longest);
		expect(drawJitterMilliseconds(attempt, cap, () => 0)).toBe(0);
	});

	it('is a whole number of milliseconds between 0 and the cap, whatever comes in', () => {
		const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 5000 }), unit, (attempt, drawn) => {
				const wait = drawJitterMilliseconds(attempt, cap, () => drawn);
				return Number.isInteger(wait) && wait >= 0 && wait < cap;
			}),
		);
	});
});

describe('parseRetryAfter', () => {
	beforeEach(() => {
		jest.spyOn(Date, 'now').mockReturnValue(Date.parse('1994-11-06T08:49:37Z'));
	});
	afterEach(() => jest.restoreAllMocks());

	it.each([
		['0', 0],
		['120', 120_000],
		[' 7 ', 7000],
		['2024', 2_024_000],
		['0.5', 500],
		['Sun, 06 Nov 1994 08:50:07 GMT', 30_000],
		['Sunday, 06-Nov-94 08:50:07 GMT', 30_000],
		['Sun, 06 Nov 1994 08:00:00 GMT', 0],
		['Sun, 06 Nov 1994 10:50:07 +0200', 30_000],
		['Sun, 06 Nov 1994 03:50:07 EST', 30_000],
	])('%j asks for %i ms', (header, expected) => {
		expect(parseRetryAfter(header)).toBe(expected);
	});

	it.each([
		undefined,
		'',
		'soon',
		'-5',
		'1e3',
		'NaN',
		'Sun, 99 Foo 1994',
		'Sun Nov  6 08:50:07 1994',
	])('%j is no wait', (header) => {
		expect(parseRetryAfter(header)).toBeUndefined();
	});
});
