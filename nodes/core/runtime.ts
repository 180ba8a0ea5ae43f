/** Reads the time and sets timers; tests bring their own. */
export interface Clock {
	/** Milliseconds since 1970: for timestamps that are shown or sent. */
	getWallMilliseconds(): number;
	/** Milliseconds that never jump when the system's time is set: for measuring. */
	getMonotonicMilliseconds(): number;
	/** Calls once after that many milliseconds. @returns a function that cancels the call, and is harmless after it */
	callAfter(milliseconds: number, call: () => void): () => void;
}

/** Node's limit of a timer, in milliseconds. */
const maxTimerMilliseconds = 2 ** 31 - 1;

export const systemClock: Clock = {
	getWallMilliseconds: () => Date.now(),
	getMonotonicMilliseconds: () => performance.now(),
	callAfter(milliseconds, call) {
		// Node fires a longer timer at once; 24 days are long enough.
		const timer = setTimeout(call, Math.min(milliseconds, maxTimerMilliseconds));
		return () => {
			clearTimeout(timer);
		};
	},
};

/** Waits until a promise settles, but not longer than the given time. @param awaited never rejects */
export async function waitAtMost(
	clock: Clock,
	milliseconds: number,
	awaited: Promise<unknown>,
): Promise<void> {
	await new Promise<void>((resolve) => {
		const cancel = clock.callAfter(milliseconds, resolve);
		void awaited.then(() => {
			cancel();
			resolve();
		});
	});
}

/** Runs the work for each key in order, one after another. Different keys do not wait for each other. */
export class KeyedMutex {
	readonly #lastByKey: Map<string, Promise<unknown>>;

	constructor(lastByKey = new Map<string, Promise<unknown>>()) {
		this.#lastByKey = lastByKey;
	}

	async run<T>(key: string, work: () => Promise<T>): Promise<T> {
		// The next work also begins after a failure.
		const turn = (this.#lastByKey.get(key) ?? Promise.resolve()).then(work, work);
		this.#lastByKey.set(key, turn);
		try {
			return await turn;
		} finally {
			if (this.#lastByKey.get(key) === turn) this.#lastByKey.delete(key);
		}
	}
}

/** A map with a limited number of entries. When there are more, it drops the one that was set the longest time ago. */
export class BoundedMap<K, V> extends Map<K, V> {
	readonly #maxEntries: number;

	constructor(most = 1000) {
		super();
		this.#maxEntries = most;
	}

	override set(key: K, value: V): this {
		this.delete(key);
		super.set(key, value);
		for (const oldest of this.keys()) {
			if (this.size <= this.#maxEntries) break;
			this.delete(oldest);
		}
		return this;
	}
}

/**
 * The process-wide value with this name. Code of an earlier version of the package that still runs shares it, so its shape must never
 * change.
 * @param make creates it for the first caller
 */
export function getGlobalSingleton<T>(name: string, make: () => T): T {
	const slots = globalThis as { [slot: symbol]: T | undefined };
	return (slots[Symbol.for(`n8n-nodes-agent-workspace.${name}`)] ??= make());
}

/**
 * Looks for what an old n8n lacks, before a node needs it: n8n would report the TypeError as a class that could not be found.
 * @param connectionTypes `NodeConnectionTypes` of n8n-workflow, which n8n has since 1.85
 * @throws Error that names the oldest version that works
 */
export function requireSupportedN8n(connectionTypes: object | undefined): void {
	if (connectionTypes) return;
	throw new Error('n8n-nodes-agent-workspace needs n8n 1.123 or newer. Update n8n, then install it again.');
}
