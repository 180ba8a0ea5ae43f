/** Reads the time and sets timers. Tests bring their own clock. */
export interface Clock {
	/** Milliseconds since 1970: for timestamps that are shown or sent. */
	getWallMilliseconds(): number;
	/** Milliseconds that never jump when the system's time is set: for measuring. */
	getMonotonicMilliseconds(): number;
	/**
	 * Calls back once, after the given time.
	 * @returns a function that cancels the callback, if it has not happened yet
	 */
	callAfter(milliseconds: number, callback: () => void): () => void;
}

const maxTimerMilliseconds = 2 ** 31 - 1;

export const systemClock: Clock = {
	getWallMilliseconds: () => Date.now(),
	getMonotonicMilliseconds: () => performance.now(),
	callAfter(milliseconds, callback) {
		let immediate: NodeJS.Immediate | undefined;
		// Node fires a timer beyond its limit of 24 days immediately. So a longer pause ends after
		// 24 days. If the process was busy when the time was over, what arrived meanwhile is read
		// before the callback, which may end a wait for it.
		const run = () => {
			immediate = setImmediate(callback);
		};
		const timer = setTimeout(run, Math.min(milliseconds, maxTimerMilliseconds));
		return () => {
			clearTimeout(timer);
			clearImmediate(immediate);
		};
	},
};

/** Shorter than the delay after which refused credentials are read again. */
const sharedMilliseconds = 1000;

/**
 * Makes the calls within a second share one reading. One that fails is shared only by those that
 * already wait for it.
 * @param reading the first reading, if it was begun just now
 */
export function shareReadings<T>(read: () => Promise<T>, reading?: Promise<T>): () => Promise<T> {
	let begunAt = performance.now();
	return async () => {
		const now = performance.now();
		if (!reading || now - begunAt >= sharedMilliseconds) {
			begunAt = now;
			reading = read();
			reading.catch(() => {
				reading = undefined;
			});
		}
		return await reading;
	};
}

/**
 * Waits until a promise settles, but not longer than the given time.
 * @param promise never rejects
 */
export async function waitAtMost(clock: Clock, milliseconds: number, promise: Promise<unknown>) {
	await new Promise<void>((resolve) => {
		const cancel = clock.callAfter(milliseconds, resolve);
		void promise.then(() => {
			cancel();
			resolve();
		});
	});
}
