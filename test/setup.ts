import channels, { type ChannelListener } from 'node:diagnostics_channel';
import threads, { type WorkerOptions } from 'node:worker_threads';

// jest's limit of 5 s for a test would be a timed assertion on a busy machine. A run that changes the product needs an end sooner.
jest.setTimeout(Number(process.env.TEST_PATIENCE ?? 400_000));

// The waits between tries are drawn from 0 to some seconds; here they are such that happen to be short.
const draw = Math.random;
Math.random = () => draw() / 20;

// Each file loads n8n and the product anew. What listens to Node itself, what still waits, and a thread that nobody ends would keep
// all of it in the process, whose every large answer then costs a search through hundreds of megabytes.
const endings: Array<() => unknown> = [];

const { subscribe, unsubscribe } = channels;
channels.subscribe = (name: string | symbol, listener: ChannelListener) => {
	subscribe(name, listener);
	endings.push(() => unsubscribe(name, listener));
};

const { Worker } = threads;
threads.Worker = class extends Worker {
	constructor(code: string | URL, options?: WorkerOptions) {
		super(code, options);
		endings.push(async () => await this.terminate());
	}
};

/** In milliseconds. Anything shorter ends soon. */
const long = 10_000;
for (const start of ['setTimeout', 'setInterval'] as const) {
	const real = globalThis[start];
	const recorded = (call: () => void, milliseconds: number, ...given: []) => {
		const timer = real(call, milliseconds, ...given);
		if (milliseconds > long)
			endings.push(() => {
				clearTimeout(timer);
			});
		return timer;
	};
	Object.assign(globalThis, { [start]: Object.assign(recorded, real) });
}

afterAll(async () => {
	Object.assign(channels, { subscribe });
	Object.assign(threads, { Worker });
	for (const end of endings) await end();
});
