import { valueAt } from '../session/dotPath';
import type { SessionMessage } from '../session/messages';

/**
 * The text of an answer or a message, for people to read: itself, or the field of its JSON. Undefined where there is none.
 * @param textField dot path
 */
export function textIn(content: unknown, textField: string): string | undefined {
	const value = typeof content === 'object' ? valueAt(content, textField) : content;
	if (typeof value === 'string') return value === '' ? undefined : value;
	return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The text of the last message that has one; null where none has. */
export function lastText(messages: readonly SessionMessage[], textField: string): string | null {
	const last = messages.findLast(({ message }) => textIn(message, textField) !== undefined);
	return last === undefined ? null : (textIn(last.message, textField) ?? null);
}
