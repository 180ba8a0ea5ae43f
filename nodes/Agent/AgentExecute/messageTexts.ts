import { findText, type SessionMessage } from '../session/messages';
import type { ExecuteParams } from './parameters';
import type { EndedBy } from './messageCollector';

type TextParams = Pick<ExecuteParams, 'textField' | 'textPieces' | 'matchField'>;

/**
 * Finds what a message adds to the answer. A text such as [DONE] that ends the wait adds nothing,
 * but is the answer if there is no other text.
 * @param isFinal whether it is the final message of Wait Until, which ends the wait
 */
export const findAnswerText = (
	{ message }: SessionMessage,
	{ textField, matchField }: TextParams,
	isFinal: boolean,
) => (isFinal && matchField === '' ? undefined : findText(message, textField));

/**
 * Builds `output`: the joined texts or the last text, or null without a text.
 * @param endedBy if `match`, the last message ended the wait
 */
export function buildOutputText(
	messages: readonly SessionMessage[],
	params: TextParams,
	endedBy: EndedBy,
): string | null {
	const turn = new TurnText(params.textPieces);
	const finalMessage = endedBy === 'match' ? messages.at(-1) : undefined;
	let lastText: string | null = null;
	for (const message of messages) {
		const isFinal = message === finalMessage;
		const text = findAnswerText(message, params, isFinal);
		if (text === undefined) continue;
		turn.add(text, isFinal);
		lastText = text;
	}
	if (lastText !== null) return params.textPieces === 'last' ? lastText : turn.text;
	return (finalMessage && findText(finalMessage.message, params.textField)) ?? null;
}

/**
 * Joins the texts of a turn while they arrive. Some agents send pieces, and then the whole text
 * once more. It is not added again.
 */
export class TurnText {
	text = '';
	readonly #joinsPieces: boolean;
	#pieceCount = 0;

	constructor(textPieces: ExecuteParams['textPieces']) {
		this.#joinsPieces = textPieces === 'joined';
	}

	/**
	 * @param isFinal whether it is the text of the final message
	 * @returns what was added; empty if the text repeats the whole text
	 */
	add(text: string, isFinal: boolean): string {
		// The second of only two pieces may equal the first: 123123 may arrive as 123 and 123.
		const mayRepeatText = this.#joinsPieces && (isFinal || this.#pieceCount > 1);
		if (mayRepeatText && this.#isWholeText(text, isFinal)) return '';
		if (text.trim() !== '') this.#pieceCount++;
		const separator = this.#joinsPieces || this.text === '' ? '' : '\n\n';
		this.text += separator + text;
		return separator + text;
	}

	#isWholeText(text: string, isFinal: boolean): boolean {
		// The lengths of pieces are compared first, because trimming the whole text for each takes
		// quadratic time.
		const isTooShort = !isFinal && text.length * 2 < this.text.length;
		if (text.trim() === '' || isTooShort) return false;
		return text.trim() === this.text.trim();
	}
}
