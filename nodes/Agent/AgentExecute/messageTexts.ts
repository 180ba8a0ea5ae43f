import { isRecord } from '../../fields/values';
import { findText, listDistinct } from '../session/messageFields';
import type { SessionMessage } from '../session/messages';
import type { ExecuteParams } from './parameters';
import type { EndedBy } from './waitEnd';

/** Builds `output`: the joined texts or the last text, or null without a text. @param endedBy if `match`, the last message ended the wait */
export function buildOutputText(
	messages: readonly SessionMessage[],
	textField: string,
	textPieces: ExecuteParams['textPieces'],
	endedBy: EndedBy,
): string | null {
	const turn = new TurnText(textPieces);
	let lastText: string | null = null;
	for (const [index, { message }] of messages.entries()) {
		const text = findText(message, textField);
		if (text === undefined) continue;
		turn.add(text, endedBy === 'match' && index === messages.length - 1);
		lastText = text;
	}
	return lastText === null || textPieces === 'last' ? lastText : turn.text;
}

/** Joins the texts of a turn while they arrive. Some agents send pieces, and then the whole text once more. It is not added again. */
export class TurnText {
	text = '';
	readonly #joinsPieces: boolean;
	#pieceCount = 0;
	/** The total length of the trimmed pieces. A piece that is shorter than this cannot repeat the whole text. */
	#piecesLength = 0;

	constructor(textPieces: ExecuteParams['textPieces']) {
		this.#joinsPieces = textPieces === 'joined';
	}

	/** Adds a text. @param isEnd whether its message ends the wait @returns what was added; empty if the text repeats the whole text */
	add(text: string, isEnd: boolean): string {
		const piece = text.trim();
		// The second of only two pieces may equal the first: 123123 may arrive as 123 and 123.
		const mayRepeatText = this.#joinsPieces && piece !== '' && (isEnd || this.#pieceCount > 1);
		if (piece !== '') this.#pieceCount++;
		// The lengths are compared first, because comparing the whole text with each piece takes quadratic time.
		if (mayRepeatText && piece.length >= this.#piecesLength && piece === this.text.trim())
			return '';
		const separator = this.#joinsPieces || this.text === '' ? '' : '\n\n';
		this.text += separator + text;
		this.#piecesLength += piece.length;
		return separator + text;
	}
}

/** Lists the names of the first fields of the messages, separated by commas. The text is empty if no message has fields. */
export const describeFields = (messages: ReadonlyArray<{ readonly message: unknown }>): string =>
	listDistinct(
		messages.flatMap(({ message }) => (isRecord(message) ? Object.keys(message) : [])),
	).join(', ');
