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
