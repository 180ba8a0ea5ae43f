import { type FieldValues, hasOneOf } from '../session/messageField';
import { messageOf, type SessionFrame } from '../session/messages';

/** Lets the messages through that are to start an execution. A gap before one that is not is told with the next one that is. */
export class Filter {
	readonly #wanted: FieldValues | undefined;
	/** By session, in milliseconds. */
	readonly #untoldGaps = new Map<string, number>();

	/** @param wanted undefined: all */
	constructor(wanted: FieldValues | undefined) {
		this.#wanted = wanted;
	}

	/** @returns undefined for a message that starts none */
	take(frame: SessionFrame): SessionFrame | undefined {
		if (this.#wanted === undefined) return frame;
		const { sessionId, gapMs } = frame;
		const before = this.#untoldGaps.get(sessionId);
		const gap = before === undefined && gapMs === undefined ? undefined : (before ?? 0) + (gapMs ?? 0);
		if (!hasOneOf(messageOf(frame), this.#wanted)) {
			if (gap !== undefined) this.#untoldGaps.set(sessionId, gap);
			return undefined;
		}
		this.#untoldGaps.delete(sessionId);
		return gap === undefined ? frame : { ...frame, gapMs: gap };
	}
}
