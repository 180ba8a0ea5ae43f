import { Failure } from '../../nodes/core/errors';
import { HeldTooLong, Pace, type Entry } from '../../nodes/http/rateLimiter';
import { VirtualClock } from './virtualClock';

const minute = 60_000;
const refusal = (retryAfterMilliseconds?: number) =>
	new Failure({ code: 429, message: 'Quota exceeded', retryAfterMilliseconds });

/** A service that takes so many units within each minute, and a pace before it. */
function world({ quota = Infinity, documented = 60, latency = 100, random = () => 0.5 } = {}) {
	const clock = new VirtualClock();
	const pace = new Pace(documented, { clock, minute, random });
	const state = { used: 0, window: 0, running: 0, widest: 0, taken: 0, refused: 0 };
	const ask = async (units = 1, entry: Partial<Entry> = {}): Promise<boolean> => {
		await pace.enter({ units, maxWaitMilliseconds: 120_000, signal: undefined, ...entry });
		const startedAt = clock.now();
		state.running++;
		state.widest = Math.max(state.widest, state.running);
		await clock.sleep(latency);
		state.running--;
		const window = Math.floor(clock.now() / minute);
		if (window !== state.window) Object.assign(state, { window, used: 0 });
		const taken = state.used + units <= quota;
		if (taken) {
			state.used += units;
			state.taken++;
			pace.succeeded();
		} else {
			state.refused++;
			pace.refused(startedAt, refusal());
		}
		pace.leave();
		return taken;
	};
	/** As long as it takes. */
	const insist = async (units = 1) => {
		while (!(await ask(units)));
	};
	return { clock, pace, state, ask, insist };
}

test('begins with five at once and goes to twenty while nothing is refused', async () => {
	const { clock, state, ask } = world({ documented: 10_000 });
	await clock.run(Promise.all(Array.from({ length: 100 }, () => ask())));
	expect(state).toMatchObject({ taken: 100, refused: 0, widest: 20 });
	// 5, 10, 20 and so on: seven rounds of 100 ms.
	expect(clock.now()).toBeLessThanOrEqual(800);
});

test('a minute with a quota as documented costs one refusal; from then on there is none', async () => {
	const { clock, state, insist } = world({ quota: 60 });
	await clock.run(Promise.all(Array.from({ length: 200 }, () => insist())));
	expect(state).toMatchObject({ taken: 200, refused: 1 });
	// 60 in each minute: three full ones have to pass.
	expect(clock.now()).toBeLessThanOrEqual(4 * minute);
});

test('where the service takes more than is documented, nothing is slowed down', async () => {
	const { clock, state, ask } = world({ quota: 100_000 });
	await clock.run(Promise.all(Array.from({ length: 1000 }, () => ask())));
	expect(state).toMatchObject({ taken: 1000, refused: 0 });
	expect(clock.now()).toBeLessThan(8000);
});

test('units count, not requests', async () => {
	const { clock, state, insist } = world({ quota: 6000, documented: 6000 });
	await clock.run(Promise.all(Array.from({ length: 400 }, () => insist(20))));
	expect(state).toMatchObject({ taken: 400, refused: 1 });
	expect(clock.now()).toBeLessThan(2 * minute);
});

test('after a refusal all wait, then one asks for all', async () => {
	const { clock, pace, state, ask } = world({ quota: 0 });
	const one = ask();
	await clock.advance(150);
	expect(pace.pauseMilliseconds).toBeGreaterThan(0);
	const many = Promise.allSettled(Array.from({ length: 10 }, () => ask()));
	await clock.advance(750);
	expect(state).toMatchObject({ refused: 1, running: 1 });
	await clock.run(Promise.all([one, many]));
});

test('a request that may not wait until then is not sent', async () => {
	const { clock, pace, ask } = world({ quota: 0 });
	await clock.run(ask());
	await expect(ask(1, { maxWaitMilliseconds: 0 })).rejects.toThrow(HeldTooLong);
	pace.refused(clock.now(), refusal(50_000));
	await expect(ask(1, { maxWaitMilliseconds: 40_000 })).rejects.toThrow(HeldTooLong);
});

test('a time far away does not hold up the others', async () => {
	const { clock, pace, ask } = world();
	pace.refused(clock.now(), refusal(86_400_000));
	await clock.run(ask());
	expect(clock.now()).toBeLessThan(2000);
});

test('a stop takes a waiting request out of the line, and no other', async () => {
	const { clock, pace, ask } = world();
	pace.refused(clock.now(), refusal(10_000));
	const stop = new AbortController();
	const stopped = ask(1, { signal: stop.signal });
	const other = ask();
	stop.abort();
	await expect(stopped).rejects.toThrow('aborted');
	expect(await clock.run(other)).toBe(true);
});

test('refusals of requests that were out together count as one', async () => {
	const { clock, pace } = world();
	for (let request = 0; request < 5; request++) pace.refused(0, refusal());
	expect(pace.pauseMilliseconds).toBeLessThanOrEqual(1000);
	await clock.advance(2000);
	pace.refused(clock.now(), refusal());
	expect(pace.pauseMilliseconds).toBeGreaterThan(1000);
});
