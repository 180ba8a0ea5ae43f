/** Records the times without a channel, when messages may have been lost. Times are monotonic milliseconds. */
export class GapAccount {
	#lostAt: number | undefined;
	#reason: string | undefined;
	/** Of the gaps that no message has reported yet. */
	#untold: number | undefined;

	/** The channel was open until then. A second loss before the channel is open again changes nothing. */
	lost(at: number, reason: string): void {
		this.#lostAt ??= at;
		this.#reason ??= reason;
	}

	/** @returns the gap that ends now; undefined when the channel opened for the first time */
	reopened(at: number): { readonly gapMs: number; readonly reason: string } | undefined {
		if (this.#lostAt === undefined) return undefined;
		const gap = { gapMs: Math.max(0, Math.round(at - this.#lostAt)), reason: this.#reason ?? '' };
		this.#untold = (this.#untold ?? 0) + gap.gapMs;
		this.#lostAt = undefined;
		this.#reason = undefined;
		return gap;
	}

	/** The gap that the next message reports; undefined if there was none since the last one. */
	take(): number | undefined {
		const gapMs = this.#untold;
		this.#untold = undefined;
		return gapMs;
	}
}
