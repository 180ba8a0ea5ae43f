import { copyFromLargeBuffer, type SessionFrame } from './messages';

/**
 * Numbers the frames of a session over all its channels, and marks the first frame after a gap. A
 * trigger that is started again keeps this object. It then reports the time without a channel as a
 * gap, but begins again at number 1. Times are monotonic milliseconds.
 */
export class FrameSequence {
	#lastNumber = 0;
	#loss: { readonly lostAt: number; readonly reason: string } | undefined;
	/** The total length of the gaps that no message has reported yet, in milliseconds. */
	#unreportedGapMs: number | undefined;

	/** Makes the next frame number 1. */
	restart(): void {
		this.#lastNumber = 0;
	}

	/**
	 * Notes when the channel was lost. A second loss before the next channel opens changes nothing.
	 */
	recordLoss(lostAt: number, reason: string): void {
		this.#loss ??= { lostAt, reason };
	}

	/** Ends the gap, if there is one. @returns the gap; undefined if no channel was lost before */
	recordOpen(openedAt: number): { readonly gapMs: number; readonly reason: string } | undefined {
		if (this.#loss === undefined) return undefined;
		const gapMs = Math.max(0, Math.round(openedAt - this.#loss.lostAt));
		const { reason } = this.#loss;
		this.addUnreportedGap(gapMs);
		this.#loss = undefined;
		return { gapMs, reason };
	}

	/**
	 * Makes the next frame report this gap. Also called with the gap of a frame that starts no
	 * execution, so that the gap is not lost.
	 */
	addUnreportedGap(gapMs: number | undefined): void {
		if (gapMs !== undefined) this.#unreportedGapMs = (this.#unreportedGapMs ?? 0) + gapMs;
	}

	buildFrame(received: Omit<SessionFrame, 'sequence' | 'gapMs'>): SessionFrame {
		const gapMs = this.#unreportedGapMs;
		this.#unreportedGapMs = undefined;
		const data = copyFromLargeBuffer(received.data);
		return { ...received, data, sequence: ++this.#lastNumber, gapMs };
	}
}
