import threads, { type WorkerOptions } from 'node:worker_threads';

// jest's limit of 5 s for a test would be a timed assertion on a busy machine. A run that changes the product needs an end sooner.
jest.setTimeout(Number(process.env.TEST_PATIENCE ?? 400_000));

// The waits between tries are random, from 0 to some seconds. In tests they all happen to be short.
const draw = Math.random;
Math.random = () => draw() / 20;

// jest translates each frame of a stack with the source map of its file. axios reads the stack of every failed request, and its own map
// takes two seconds to read: so only our own frames are translated.
const translate = Error.prepareStackTrace.bind(Error);
Error.prepareStackTrace = (error, frames) => {
	const own = frames.filter((frame) => !frame.getFileName()?.includes('/node_modules/'));
	return translate(error, own) as unknown;
};

// Each file loads n8n and the product anew. Observers of Node's HTTP client, long timers and running threads would keep all of it in memory,
// and garbage collection would then search hundreds of megabytes at every large answer. So they end with the file.
const endings: Array<() => unknown> = [];

const { Worker } = threads;
threads.Worker = class extends Worker {
	constructor(code: string | URL, options?: WorkerOptions) {
		super(code, options);
		endings.push(async () => await this.terminate());
	}
};

/** Milliseconds. Shorter timers end soon by themselves. */
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
	Object.assign(threads, { Worker });
	const slots = globalThis as { [slot: symbol]: { stop(): void } | undefined };
	slots[Symbol.for('n8n-nodes-agent-workspace.httpObserver')]?.stop();
	for (const end of endings) await end();
});
