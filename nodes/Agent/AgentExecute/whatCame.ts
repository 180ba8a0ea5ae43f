import { shortened } from '../../core/shortened';
import { fieldText } from '../session/messageField';
import type { SessionMessage } from '../session/messages';

const mostNamed = 10;
const longestName = 40;

/**
 * Describes the received messages, so that the user can see which field or value marks the end.
 * @param field of the match; empty: texts; undefined: the wait does not end by a match
 */
export function whatCame(messages: readonly SessionMessage[], field: string | undefined): string {
	if (messages.length === 0) return '';
	const values = field === undefined ? [] : named(messages.map((message) => fieldText(message, field)));
	if (values.length > 0 && field !== '') return `Values of '${field}' received: ${values.join(', ')}.`;
	if (values.length > 0) return `Text messages received: ${values.join(', ')}.`;
	const fields = named(messages.flatMap(({ message }) => keysOf(message)));
	if (fields.length === 0)
		return field ? `No message has the field '${field}', because none of them is a JSON object.` : '';
	const had = `Fields of the messages received: ${fields.join(', ')}.`;
	return field ? `No message has the field '${field}'. ${had}` : had;
}

const keysOf = (message: unknown): string[] =>
	typeof message === 'object' && message !== null && !Array.isArray(message) ? Object.keys(message) : [];

/** Each once, the first of them, shortened. */
function named(texts: ReadonlyArray<string | undefined>): string[] {
	const distinct = new Set<string>();
	for (const text of texts) {
		if (text === undefined) continue;
		if (distinct.size === mostNamed) return [...distinct, '…'];
		distinct.add(shortened(text, longestName));
	}
	return [...distinct];
}
