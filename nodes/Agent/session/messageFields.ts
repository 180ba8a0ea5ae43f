import { shorten } from '../../core/text';
import { findValueAtPath } from '../../fields/values';
import { type MessageContent, parseJsonContent } from './messages';

/**
 * Finds the text of a response or a message: the value itself, or a field of its JSON.
 * @param textPath the dot path of the field
 */
export function findText(value: unknown, textPath: string): string | undefined {
	const found = typeof value === 'object' ? findValueAtPath(value, textPath) : value;
	if (found === '') return undefined;
	const isScalar = ['string', 'number', 'boolean'].includes(typeof found);
	return isScalar ? String(found) : undefined;
}

/** A condition on messages: the field has one of the values. */
export interface FieldCondition {
	/**
	 * The dot path of the field. If it is empty, the condition is about the message itself, which
	 * must not be an object.
	 */
	readonly field: string;
	readonly values: readonly string[];
}

/** Finds the field of a `FieldCondition` and returns its value as text. */
export function findFieldText(content: MessageContent, field: string): string | undefined {
	const value = toComparable(content);
	if (field !== '') {
		const fieldValue = findValueAtPath(value, field);
		return fieldValue === undefined ? undefined : stringifyValue(fieldValue);
	}
	if (content.format === 'binary') return undefined;
	const isStructure = typeof value === 'object' && value !== null;
	return isStructure ? undefined : stringifyValue(value).trim();
}

/** @returns false if there is no condition */
export function meetsCondition(
	content: MessageContent,
	condition: FieldCondition | undefined,
): boolean {
	if (condition === undefined) return false;
	const text = findFieldText(content, condition.field);
	return text !== undefined && condition.values.includes(text);
}

/**
 * Finds the ID of a message, which is a text or a number. A message without an ID never counts as
 * repeated.
 */
export function findMessageId(content: MessageContent, dotPath: string): string | undefined {
	if (dotPath === '') return undefined;
	const id = findValueAtPath(toComparable(content), dotPath);
	if (typeof id === 'string' && id !== '') return id;
	// A larger number has lost digits, so that two messages may seem to have the same ID.
	return Number.isSafeInteger(id) ? String(id) : undefined;
}

/** Returns the value that conditions are compared with. The JSON of a binary frame is parsed. */
function toComparable(content: MessageContent): unknown {
	const parsed = content.format === 'binary' ? parseJsonContent(content.bytes) : content;
	return parsed?.message;
}

const stringifyValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);

const maxListedTexts = 10;
const maxListedLength = 40;

/** Lists the first distinct texts, shortened. If there are more, the list ends with '…'. */
export function listDistinct(texts: ReadonlyArray<string | undefined>): string[] {
	const distinctTexts = new Set<string>();
	for (const text of texts) {
		if (text !== undefined) distinctTexts.add(shorten(text, maxListedLength));
		// Stops early, because there may be a million texts.
		if (distinctTexts.size > maxListedTexts)
			return [...[...distinctTexts].slice(0, maxListedTexts), '…'];
	}
	return [...distinctTexts];
}
