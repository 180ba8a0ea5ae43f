// Workers that are independent of each other share one quota that is refilled each minute, in virtual time:
// what happens to their requests with the shipped rate limiter and with two other ways to wait.
// node bench/quota.ts
import './sources.ts';

const { NodeError } = await import('../nodes/core/errors.ts');
const { RateLimiter } = await import('../nodes/http/rateLimiter.ts');
const { VirtualClock } = await import('../test/http/virtualClock.ts');

const minute = 60_000;
const latency = 100;
const quota = 60;
const requestsOfWorker = 30;
const maxWaitMilliseconds = 120_000;

/** Accepts `quota` requests in each minute of its clock and refuses the rest. */
class Service {
	readonly clock = new VirtualClock();
	readonly done = new Map<string, number>();
	refusals = 0;
	private used = 0;
	private window = 0;

	async ask(id: string): Promise<void> {
		await this.clock.sleep(latency);
		const window = Math.floor(this.clock.now() / minute);
		if (window !== this.window) this.used = 0;
		this.window = window;
		if (++this.used > quota) {
			this.refusals++;
			throw new NodeError({ code: 429, message: 'Quota exceeded', retryable: true });
		}
		this.done.set(id, (this.done.get(id) ?? 0) + 1);
	}
}

type Way = (service: Service, worker: number, random: () => number) => (id: string) => Promise<void>;

/** Each request waits on its own, for as long as it may. */
const alone =
	(waitOf: (tries: number, random: () => number) => number): Way =>
	(service, _worker, random) =>
	async (id) => {
		const begun = service.clock.now();
		for (let tries = 0; ; tries++) {
			try {
				await service.ask(id);
				return;
			} catch (error) {
				const wait = waitOf(tries, random);
				if (service.clock.now() + wait - begun > maxWaitMilliseconds)
					throw error instanceof Error ? error : new Error(String(error));
				await service.clock.sleep(wait);
			}
		}
	};

const ways: Readonly<Record<string, Way>> = {
	'the rate limiter, as shipped': (service, _worker, random) => {
		const limiter = new RateLimiter({ clock: service.clock, minute, random });
		const limits = { maxWaitMilliseconds, signal: undefined };
		return (id) => limiter.send(() => service.ask(id), limits);
	},
	'each request alone, full jitter from 1 s to 64 s': alone(
		(tries, random) => random() * Math.min(64_000, 1000 * 2 ** tries),
	),
	'each request alone, a minute': alone(() => minute),
};

/** A seeded generator, so that every run uses the same numbers. */
function seeded(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1664525 + 1013904223) % 2 ** 32;
		return state / 2 ** 32;
	};
}

async function simulate(way: Way, workers: number) {
	const service = new Service();
	const { clock } = service;
	let failed = 0;
	const work = Array.from({ length: workers }, async (_, worker) => {
		const send = way(service, worker, seeded(worker + 1));
		const ids = Array.from({ length: requestsOfWorker }, (__, index) => `${worker}/${index}`);
		await Promise.all(
			ids.map(async (id) => {
				await send(id).catch(() => failed++);
			}),
		);
	});
	await clock.run(Promise.all(work));
	const asked = workers * requestsOfWorker;
	const twice = [...service.done.values()].filter((times) => times > 1).length;
	const share = service.refusals / (service.refusals + service.done.size);
	return {
		asked,
		done: service.done.size,
		failed,
		lost: asked - service.done.size - failed,
		twice,
		minutes: clock.now() / minute,
		share,
	};
}

console.log(
	`${requestsOfWorker} requests of each worker at once, ${quota} a minute, ${maxWaitMilliseconds / 1000} s of waiting allowed\n`,
);
for (const workers of [1, 10, 100]) {
	for (const [name, way] of Object.entries(ways)) {
		const { asked, done, failed, lost, twice, minutes, share } = await simulate(way, workers);
		console.log(
			`${workers} workers, ${name}: ${done} of ${asked} done, ${failed} told to come later, ${lost} lost, ${twice} twice; ` +
				`${minutes.toFixed(1)} minutes, ${(share * 100).toFixed(0)} % of the requests refused`,
		);
	}
}
