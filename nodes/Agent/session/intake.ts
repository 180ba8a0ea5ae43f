import { GapAccount } from './gap';
import { contentOf, memoryOf, type MessageFormat, type SessionMessage } from './messages';

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
		const content = contentOf(data, isBinary, this.#format);
		return {
			sessionId: this.#sessionId,
			sequence: this.#sequence,
			receivedAt,
			...content,
			byteLength: data.byteLength,
			...memoryOf(data, content),
			...(gapMs !== undefined && { gapMs }),
		};
	}
}
