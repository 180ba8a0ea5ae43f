import { findText, type SessionMessage } from '../../session/messages';
import type { ExecuteParams } from '../parameters';

type AnswerParams = Pick<ExecuteParams, 'textField' | 'textPieces' | 'matchField'>;

/** The text of a turn, while its messages arrive. */
export class Answer {
	/** The joined texts or the last text. Null without a text. */
	output: string | null = null;
	readonly #params: AnswerParams;
	#pieceCount = 0;

	constructor(params: AnswerParams) {
		this.#params = params;
	}

	/**
	 * @param isFinal whether it is the final message of Wait Until, which ends the wait
	 * @returns what a chat shows of the message
	 */
	add({ message }: SessionMessage, isFinal: boolean): string {
		const { textField, textPieces, matchField } = this.#params;
		const text = findText(message, textField);
		if (text === undefined) return '';
		if (isFinal && matchField === '') {
			// A text such as [DONE] is the answer only if there is no other text.
			this.output ??= text;
			return '';
		}
		if (textPieces === 'joined') return this.#addPiece(text, isFinal);
		this.output = text;
		return text;
	}

	/** Some agents send pieces, and then the whole text once more. It is not added again. */
	#addPiece(text: string, isFinal: boolean): string {
		const wholeText = this.output ?? '';
		// The second of only two pieces may equal the first: 123123 may arrive as 123 and 123.
		const mayRepeatText = isFinal || this.#pieceCount > 1;
		// The lengths of pieces are compared first, because trimming the whole text for each takes
		// quadratic time.
		const isTooShort = !isFinal && text.length * 2 < wholeText.length;
		const isBlank = text.trim() === '';
		if (mayRepeatText && !isTooShort && !isBlank && text.trim() === wholeText.trim()) return '';
		if (!isBlank) this.#pieceCount++;
		this.output = wholeText + text;
		return text;
	}
}
