import { GapAccount } from './gap';
import { contentOf, type MessageFormat, type SessionMessage } from './messages';

/** Makes the messages of a session from the frames of its channels: numbered, and marked after a gap. */
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
	take(data: Buffer, isBinary: boolean, receivedAt: string): SessionMessage {
		const gapMs = this.gap.take();
		this.#sequence++;
		return {
			sessionId: this.#sessionId,
			sequence: this.#sequence,
			receivedAt,
			...contentOf(data, isBinary, this.#format),
			byteLength: data.byteLength,
			...(gapMs !== undefined && { gapMs }),
		};
	}
}
