import { type FieldValues, hasOneOf } from '../session/messageField';
import { messageOf, type SessionFrame } from '../session/messages';

/** Passes on the messages that should start an execution. A gap before a filtered message is reported with the next message that passes. */
export class Filter {
	readonly #wanted: FieldValues | undefined;
	/** By session, in milliseconds. */
	readonly #untoldGaps = new Map<string, number>();

	/** @param wanted undefined: all */
	constructor(wanted: FieldValues | undefined) {
		this.#wanted = wanted;
	}

	/** @returns undefined for a message that starts no execution */
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
