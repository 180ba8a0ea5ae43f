import { GapAccount } from './gap';
import { type MessageFormat, type SessionFrame, withoutRest } from './messages';

/** Numbers the frames of a session, over all its channels, and marks the first one after a gap. */
export class Intake {
	readonly gap = new GapAccount();
	readonly #sessionId: string;
	readonly #format: MessageFormat;
	#sequence = 0;

	constructor(sessionId: string, format: MessageFormat) {
		this.#sessionId = sessionId;
		this.#format = format;
	}

	/** @param receivedAt ISO 8601 */
	take(data: Buffer, isBinary: boolean, receivedAt: string): SessionFrame {
		const gapMs = this.gap.take();
		this.#sequence++;
		return {
			sessionId: this.#sessionId,
			sequence: this.#sequence,
			receivedAt,
			data: withoutRest(data),
			isBinary,
			readAs: this.#format,
			byteLength: data.byteLength,
			...(gapMs !== undefined && { gapMs }),
		};
	}
}
