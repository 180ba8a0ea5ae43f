/** Time, as the channel needs it; tests bring their own. */
export interface Clock {
	/** Milliseconds since 1970: for timestamps that are shown or sent. */
	wallMilliseconds(): number;
	/** Milliseconds that never jump when the system's time is set: for measuring. */
	monotonicMilliseconds(): number;
	/** Calls once after that many milliseconds. @returns cancels; harmless afterwards */
	after(milliseconds: number, call: () => void): () => void;
}

export const systemClock: Clock = {
	wallMilliseconds: () => Date.now(),
	monotonicMilliseconds: () => performance.now(),
	after(milliseconds, call) {
		const timer = setTimeout(call, milliseconds);
		return () => {
			clearTimeout(timer);
		};
	},
};
