import { valueAt } from './dotPath';
import type { MessageContent } from './messages';

/** A field of messages and values of it, in their text form. */
export interface FieldValues {
	/** Dot path; empty: the message itself, where it is a text. */
	readonly field: string;
	readonly values: readonly string[];
}

/**
 * The text form of a field; integers that a JavaScript number cannot hold as the digits that came. Undefined where there is none.
 * @param field dot path; empty: the message itself, where it is no object
 */
export function fieldText(content: MessageContent, field: string): string | undefined {
	const message = comparable(content);
	if (field !== '') {
		const value = valueAt(message, field);
		return value === undefined ? undefined : textForm(value);
	}
	const isWhole = content.format !== 'binary' && (typeof message !== 'object' || message === null);
	return isWhole ? textForm(message).trim() : undefined;
}

/** Whether the field has one of the values. */
export function hasOneOf(content: MessageContent, { field, values }: FieldValues): boolean {
	const text = fieldText(content, field);
	return text !== undefined && values.includes(text);
}

/**
 * The id of a message at the user's dot path: a text that is not empty, or a number, by the digits that came. A message without one is never a
 * repetition: a hash of its content would drop legitimate repeats.
 */
export function messageId(message: MessageContent, dotPath: string): string | undefined {
	if (dotPath === '' || message.format !== 'json') return undefined;
	const id = valueAt(comparable(message), dotPath);
	return (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : undefined;
}

/** The message for comparisons. */
export const comparable = (content: MessageContent): unknown =>
	content.format === 'json' && content.exact !== undefined ? content.exact : content.message;

const textForm = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
