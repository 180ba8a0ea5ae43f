import { NodeError } from '../../nodes/core/errors';
import { RateLimiter, type LimitedRequest } from '../../nodes/http/rateLimiter';
import { RequestError } from '../../nodes/http/retry';
import { VirtualClock } from './virtualClock';

const minute = 60_000;

/** A service that takes so many requests within each minute, and a rate limiter before it. */
function world({ quota = Infinity, latency = 100, random = () => 0.5 } = {}) {
	const clock = new VirtualClock();
	const limiter = new RateLimiter({ clock, minute, random });
	const state = { window: 0, used: 0, running: 0, widest: 0, taken: 0, refused: 0 };
	/** What the next refusal asks for. */
	const answer: { retryAfterMilliseconds?: number } = {};
	const request = async () => {
		state.running++;
		state.widest = Math.max(state.widest, state.running);
		await clock.sleep(latency);
		state.running--;
		const window = Math.floor(clock.now() / minute);
		if (window !== state.window) Object.assign(state, { window, used: 0 });
		if (++state.used > quota) {
			state.refused++;
			throw new RequestError('notDone', new NodeError({ code: 429, message: 'Quota exceeded', ...answer }));
		}
		state.taken++;
		return true;
	};
	const ask = async (limits: Partial<LimitedRequest> = {}) =>
		await limiter.send(request, { maxWaitMilliseconds: 120_000, signal: undefined, ...limits });
	return { clock, state, answer, ask };
}

const many = (count: number, ask: () => Promise<unknown>) => Promise.all(Array.from({ length: count }, ask));

test('begins with five at once and goes to twenty while nothing is refused', async () => {
	const { clock, state, ask } = world();
	await clock.run(many(100, () => ask()));
	expect(state).toMatchObject({ taken: 100, refused: 0, widest: 20 });
	// 5, 10, 20 and so on: seven rounds of 100 ms.
	expect(clock.now()).toBeLessThanOrEqual(800);
});

test('what a quota of each minute refuses is sent in the next ones, and few requests are refused', async () => {
	const { clock, state, ask } = world({ quota: 60 });
	await clock.run(many(200, () => ask({ maxWaitMilliseconds: 10 * minute })));
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

test('a request that may not wait until then is not sent', async () => {
	const { clock, state, answer, ask } = world({ quota: 0 });
	answer.retryAfterMilliseconds = 50_000;
	const first = ask({ maxWaitMilliseconds: 60_000 }).catch(() => undefined);
	await clock.advance(150);
	await expect(ask({ maxWaitMilliseconds: 40_000 })).rejects.toMatchObject({
		kind: 'final',
		failure: {
			code: 429,
			description: expect.stringContaining('Google asks n8n to wait 50 seconds') as string,
		},
	});
	expect(state.refused).toBe(1);
	await clock.run(first);
});

test('a time far away does not hold up the others', async () => {
	const { clock, answer, ask } = world({ quota: 1 });
	await clock.run(ask());
	answer.retryAfterMilliseconds = 86_400_000;
	await expect(clock.run(ask())).rejects.toMatchObject({ kind: 'final' });
	await clock.advance(minute);
	const before = clock.now();
	await clock.run(ask());
	expect(clock.now() - before).toBeLessThan(2000);
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
	await expect(stopped).rejects.toMatchObject({ kind: 'notDone', failure: { status: 'CANCELLED' } });
	expect(await clock.run(other)).toMatchObject({ failure: { code: 429 } });
	await clock.run(first);
});

test('a stop ends the wait of a request that was refused', async () => {
	const { clock, answer, ask } = world({ quota: 0 });
	answer.retryAfterMilliseconds = 30_000;
	const stop = new AbortController();
	const stopped = ask({ signal: stop.signal });
	await clock.advance(150);
	stop.abort();
	await expect(stopped).rejects.toMatchObject({ failure: { status: 'CANCELLED' } });
	expect(clock.now()).toBe(150);
});

test('refusals of requests that were out together count as one', async () => {
	const { clock, state, ask } = world({ quota: 0 });
	const waits: number[] = [];
	const onWait = (wait: number) => waits.push(wait);
	const all = Promise.allSettled(Array.from({ length: 5 }, () => ask({ onWait })));
	await clock.advance(150);
	expect(state.refused).toBe(5);
	expect(waits).toHaveLength(5);
	expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
	await clock.run(all);
});

test('a caller that has to look first is told of a refusal at once', async () => {
	const { clock, ask } = world({ quota: 0 });
	await expect(clock.run(ask({ again: false }))).rejects.toMatchObject({ kind: 'notDone' });
	expect(clock.now()).toBe(100);
});
