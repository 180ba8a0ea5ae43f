/** Time, as the channel needs it; tests bring their own. */
export interface Clock {
	/** Milliseconds since 1970: for timestamps that are shown or sent. */
	wallMilliseconds(): number;
	/** Milliseconds that never jump when the system's time is set: for measuring. */
	monotonicMilliseconds(): number;
	/** Calls once after that many milliseconds. @returns cancels; harmless afterwards */
	after(milliseconds: number, call: () => void): () => void;
}

/** Node's limit of a timer, in milliseconds. */
const longestMilliseconds = 2 ** 31 - 1;

export const systemClock: Clock = {
	wallMilliseconds: () => Date.now(),
	monotonicMilliseconds: () => performance.now(),
	after(milliseconds, call) {
		// Node fires a longer timer at once; 24 days are long enough.
		const timer = setTimeout(call, Math.min(milliseconds, longestMilliseconds));
		return () => {
			clearTimeout(timer);
		};
	},
};
