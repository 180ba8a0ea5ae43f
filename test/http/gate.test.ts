import { isNodeError, NodeError } from '../../nodes/core/errors';
import { defaultGateSettings, Gate } from '../../nodes/http/gate';
import { type RepeatEffect, type RetryPolicy, withRetries } from '../../nodes/http/loop';
import { VirtualClock } from './virtualClock';
import { attempts } from '../attempt';

const minute = 60_000;

const change = { repeat: 'ifNotDone', hasVisibleEffect: true } as const;

/** A service that takes so many requests within each minute, and a gate before it. */
function world({ quota = Infinity, latency = 100, draw = 0.5 } = {}) {
	const clock = new VirtualClock();
	const gate = new Gate({ ...defaultGateSettings, clock, random: () => draw });
	const state = { quota, window: 0, used: 0, running: 0, widest: 0, taken: 0, refused: 0 };
	/** What the next refusal asks for. */
	const answer: { retryAfterMilliseconds?: number } = {};
	/** What requests fail with, one each, for which no quota is the reason. */
	const faults: NodeError[] = [];
	const request = async () => {
		state.running++;
		state.widest = Math.max(state.widest, state.running);
		await clock.sleep(latency);
		state.running--;
		const fault = faults.shift();
		if (fault) throw fault;
		const window = Math.floor(clock.now() / minute);
		if (window !== state.window) Object.assign(state, { window, used: 0 });
		if (++state.used > state.quota) {
			state.refused++;
			const failure = new NodeError({
				code: 429,
				message: 'Quota exceeded',
				description: 'Wait.',
				retryable: true,
				...answer,
			});
			throw failure;
		}
		state.taken++;
		return clock.now();
	};
	const ask = async (limits: Partial<RetryPolicy> = {}, effect: RepeatEffect = change) =>
		await withRetries(request, effect, {
			texts: { service: 'Google', nothingDone: 'Nothing was changed.' },
			maxRetryWaitMilliseconds: 120_000,
			signal: undefined,
			gate,
			...limits,
		});
	/** How many of so many requests are sent at once. */
	const widestOf = async (count: number) => {
		state.widest = 0;
		await clock.run(many(count, () => ask()));
		return state.widest;
	};
	return { clock, gate, state, answer, faults, ask, widestOf };
}

const many = (count: number, ask: () => Promise<unknown>) =>
	Promise.all(Array.from({ length: count }, ask));

test('begins with five at once and goes to twenty while nothing is refused', async () => {
	const { clock, state, ask } = world();
	await clock.run(many(100, () => ask()));
	expect(state).toMatchObject({ taken: 100, refused: 0, widest: 20 });
	// 5, 10, 20, 20, 20, 20 and 5: seven rounds of 100 ms.
	expect(clock.now()).toBe(700);
});

test('doubles once as many were accepted as are sent at once, not before', async () => {
	const { widestOf } = world();
	expect([await widestOf(4), await widestOf(6), await widestOf(4), await widestOf(11)]).toEqual([
		4, 5, 4, 10,
	]);
	expect(await widestOf(30)).toBe(20);
});

test('after refusals it is halved, down to one, and grows by one', async () => {
	const { clock, state, ask, widestOf } = world();
	const refuse = async (times: number) => {
		state.quota = 0;
		const waits: number[] = [];
		const refused = ask({ onPause: (wait) => waits.push(wait) });
		while (waits.length < times) await clock.advance(100);
		state.quota = Infinity;
		await clock.run(refused);
	};
	await refuse(1);
	expect([await widestOf(3), await widestOf(4), await widestOf(9)]).toEqual([2, 3, 5]);
	await refuse(4);
	expect([await widestOf(1), await widestOf(3)]).toEqual([1, 2]);
});

test('waits a second after the first refusal, twice as long after each further one, and a minute at most', async () => {
	for (const draw of [0, 0.5]) {
		const { clock, ask } = world({ quota: 0, draw });
		const waits: number[] = [];
		const onWait = (wait: number) => waits.push(wait);
		await expect(
			clock.run(ask({ onPause: onWait, maxRetryWaitMilliseconds: 10 * minute })),
		).rejects.toThrow();
		const seconds = [1, 2, 4, 8, 16, 32, 60, 60];
		expect(waits.slice(0, 8)).toEqual(seconds.map((wait) => wait * 1000 * (0.5 + draw / 2)));
	}
});

test('a success lets the waits begin anew', async () => {
	const { clock, state, ask } = world({ quota: 0 });
	const waits: number[] = [];
	const onWait = (wait: number) => waits.push(wait);
	const first = ask({ onPause: onWait });
	while (waits.length < 2) await clock.advance(100);
	state.quota = Infinity;
	await clock.run(first);
	state.quota = 0;
	await expect(
		clock.run(ask({ onPause: onWait, maxRetryWaitMilliseconds: 800 })),
	).rejects.toThrow();
	expect(waits).toEqual([750, 1500, 750]);
});

test.each([
	[404, 'final'],
	[503, 'unknown'],
] as const)('HTTP %d (%s) shows, as a success does, that the quota is open', async (code, kind) => {
	const { clock, state, faults, ask, widestOf } = world({ quota: 0 });
	const once = { repeat: 'never', hasVisibleEffect: false } as const;
	await expect(clock.run(ask({}, once))).rejects.toMatchObject({ code: 429 });
	state.quota = Infinity;
	faults.push(new NodeError({ code, message: '', ...attempts[kind] }));
	await expect(clock.run(ask({}, once))).rejects.toMatchObject({ code });
	expect(await widestOf(2)).toBe(2);
});

test('what was sent before the refusal shows nothing', async () => {
	const { clock, gate, state, ask } = world({ quota: 0 });
	const texts = { service: 'Google', nothingDone: '' };
	const policy = { maxRetryWaitMilliseconds: 0, signal: undefined, gate, texts };
	const refusal = new NodeError({ code: 429, message: '', ...attempts.notDone });
	const refused = withRetries(() => Promise.reject(refusal), change, policy);
	const early = withRetries(() => clock.sleep(200), change, policy);
	await clock.run(Promise.allSettled([refused, early]));
	state.quota = Infinity;
	const others = many(2, () => ask());
	await clock.advance(600);
	expect(state.running).toBe(1);
	await clock.run(others);
});

test.each([
	['holds up all', 60_000, [60_200, 60_300]],
	['holds up this request alone', 60_001, [1100, 60_201]],
])('a service that %s asks for %d ms', async (_whom, asked, answered) => {
	const { clock, state, answer, ask } = world({ quota: 0 });
	answer.retryAfterMilliseconds = asked;
	const first = ask();
	await clock.advance(150);
	state.quota = Infinity;
	await clock.advance(850);
	const times = await clock.run(Promise.all([first, ask()]));
	expect(times.toSorted((a, b) => a - b)).toEqual(answered);
});

test.each([
	[10_000, 2],
	[9_999, 1],
])(
	'a request that may wait %d ms, refused with 10 s, is sent %d times',
	async (maxWaitMilliseconds, times) => {
		const { clock, state, answer, ask } = world({ quota: 0 });
		answer.retryAfterMilliseconds = 10_000;
		const refused = clock.run(ask({ maxRetryWaitMilliseconds: maxWaitMilliseconds }));
		await expect(refused).rejects.toMatchObject({ retryable: false, code: 429 });
		expect(state.refused).toBe(times);
	},
);

test.each([
	[10_000, 10_400],
	[9_999, 100],
])(
	'one in line that may wait %d ms of a pause of 10 s ends at %d',
	async (maxWaitMilliseconds, end) => {
		const { clock, state, answer, ask } = world({ quota: 0 });
		answer.retryAfterMilliseconds = 10_000;
		const sent = Promise.allSettled(Array.from({ length: 5 }, () => ask()));
		let ended = 0;
		const inLine = ask({ maxRetryWaitMilliseconds: maxWaitMilliseconds }).finally(
			() => (ended = clock.now()),
		);
		await clock.advance(150);
		state.quota = Infinity;
		await clock.run(Promise.allSettled([inLine, sent]));
		expect(ended).toBe(end);
	},
);

test('the failure says what was waited for, and for how long', async () => {
	const described = async (maxWaitMilliseconds: number, retryAfterMilliseconds?: number) => {
		const { clock, answer, ask } = world({ quota: 0 });
		Object.assign(answer, { retryAfterMilliseconds });
		const error: unknown = await clock
			.run(ask({ maxRetryWaitMilliseconds: maxWaitMilliseconds }))
			.catch((thrown: unknown) => thrown);
		return isNodeError(error) ? error.description?.replace(/'.*'/, 'Wait') : error;
	};
	expect(await described(500)).toBe(
		'Another try would need a longer wait, but Wait allows 0.5. Wait.',
	);
	expect(await described(1500)).toBe(
		'Another try would need a longer wait, but Wait allows 1.5, of which 1 have passed. Wait.',
	);
	expect(await described(6500, 6001)).toBe(
		'Google asks n8n to wait 7 seconds, but Wait allows 6.5, of which 7 have passed. Wait.',
	);
	// The gate closes for longer than that.
	expect(await described(1500, 200)).toBe(
		'Another try would need a longer wait, but Wait allows 1.5, of which 1 have passed. Wait.',
	);
});

test.each([
	[429, 'notDone', 2],
	[403, 'notDone', 2],
	[404, 'notDone', 0],
	[503, 'unknown', 0],
	[403, 'final', 0],
] as const)('HTTP %d (%s) pauses others: %d times', async (code, kind, times) => {
	const clock = new VirtualClock();
	const gate = new Gate({ ...defaultGateSettings, clock });
	const onPause = jest.fn();
	const request = () => Promise.reject(new NodeError({ code, message: '', ...attempts[kind] }));
	const texts = { service: 'Google', nothingDone: '' };
	const policy = { maxRetryWaitMilliseconds: 1800, signal: undefined, gate, texts, onPause };
	await expect(clock.run(withRetries(request, change, policy))).rejects.toMatchObject({ code });
	expect(onPause).toHaveBeenCalledTimes(times);
});

test('what a quota of each minute refuses is sent in the next ones, and few requests are refused', async () => {
	const { clock, state, ask } = world({ quota: 60 });
	await clock.run(many(200, () => ask({ maxRetryWaitMilliseconds: 10 * minute })));
	expect(state.taken).toBe(200);
	// 60 in each minute: three full ones have to pass.
	expect(clock.now()).toBeLessThanOrEqual(5 * minute);
	// Up to twenty are under way at the first refusal; then one asks for all.
	expect(state.refused).toBeLessThan(60);
});

test('after a refusal all wait, then one asks for all', async () => {
	const { clock, state, ask } = world({ quota: 0 });
	const one = ask().catch(() => undefined);
	await clock.advance(150);
	expect(state).toMatchObject({ refused: 1, running: 0 });
	const others = Promise.allSettled(Array.from({ length: 10 }, () => ask()));
	await clock.advance(750);
	expect(state).toMatchObject({ refused: 1, running: 1 });
	await clock.run(Promise.all([one, others]));
});

test('a request in line has waited since the first refusal', async () => {
	const { clock, ask } = world({ quota: 0 });
	const others = Promise.allSettled(Array.from({ length: 6 }, () => ask()));
	let ended = 0;
	const inLine = ask({ maxRetryWaitMilliseconds: 1800 }).finally(() => (ended = clock.now()));
	await expect(clock.run(inLine)).rejects.toMatchObject({ retryable: false });
	// Refused at 100 and, when one asked for all, at 950: the next try would be at 2450.
	expect(ended).toBe(950);
	await clock.run(others);
});

test('a stop takes a waiting request out of the line, and no other', async () => {
	const { clock, answer, ask } = world({ quota: 0 });
	answer.retryAfterMilliseconds = 10_000;
	const stop = new AbortController();
	const first = ask().catch(() => undefined);
	await clock.advance(150);
	const stopped = ask({ signal: stop.signal });
	const other = ask().catch((error: unknown) => error);
	stop.abort();
	await expect(stopped).rejects.toMatchObject({ outcome: 'notDone', status: 'CANCELLED' });
	expect(await clock.run(other)).toMatchObject({ code: 429 });
	await clock.run(first);
});

test('a stop ends the wait for the gate, also if no place is free behind it', async () => {
	const clock = new VirtualClock();
	const gate = new Gate({ ...defaultGateSettings, clock });
	const texts = { service: 'Google', nothingDone: '' };
	const policy = { maxRetryWaitMilliseconds: minute, signal: undefined, gate, texts };
	const refusal = new NodeError({ code: 429, message: '', ...attempts.notDone });
	const slow = withRetries(() => clock.sleep(minute), change, policy);
	const refused = withRetries(() => Promise.reject(refusal), change, policy);
	await clock.advance(10);
	const stop = new AbortController();
	const stoppedPolicy = { ...policy, signal: stop.signal };
	const stopped = withRetries(() => clock.sleep(0), change, stoppedPolicy).catch(
		(error: unknown) => error,
	);
	await clock.advance(10);
	stop.abort();
	expect(await clock.run(stopped)).toMatchObject({ status: 'CANCELLED' });
	expect(clock.now()).toBe(20);
	await clock.run(Promise.allSettled([slow, refused]));
});

test('refusals of requests that were out together count as one', async () => {
	const { clock, state, ask } = world({ quota: 0 });
	const waits: number[] = [];
	const onWait = (wait: number) => waits.push(wait);
	const all = Promise.allSettled(Array.from({ length: 5 }, () => ask({ onPause: onWait })));
	await clock.advance(150);
	expect(state.refused).toBe(5);
	expect(waits).toHaveLength(5);
	expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
	// The one that asks for all is the second.
	await clock.advance(900);
	expect(waits.slice(5)).toEqual([1500]);
	await clock.run(all);
});
