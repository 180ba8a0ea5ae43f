import { createHash } from 'node:crypto';

import { NodeError, createRefusal } from '../core/errors';
import { type Field, quoteField, type ReadContext, textType } from '../fields/field';
import { readText } from '../fields/values';

/**
 * The longest key, in UTF-16 units. Other APIs with idempotency keys, such as Stripe's, have the
 * same limit.
 */
const maxKeyLength = 255;

/**
 * The name is not a literal in the field, because n8n's linter takes a field for a secret if its
 * literal `name` contains "key".
 */
const optionName = 'idempotencyKey';

export const idempotencyOption = {
	displayName: 'Idempotency Key',
	name: optionName,
	...textType,
	placeholder: 'e.g. order-4711-confirmation',
	mustBeFound: true,
	read: readKey,
	description:
		'Text that identifies this action, such as an order number. The action is done only once for each key, even if the execution is retried or runs twice. Later runs return the first result with repeated: true. Leave empty to repeat the action in each run.',
} as const satisfies Field;

/** Reads a key, or '' for none. @throws NodeError 400 */
function readKey(raw: unknown, field: Field, context: ReadContext): string {
	const key = readText(raw, field, context);
	if (key !== '' && key.trim() === '')
		throw createRefusal(
			`${quoteField(optionName)} contains only white space`,
			'If it is an expression, check that the input item contains the data. To use no key, leave it empty.',
		);
	if (key.length > maxKeyLength)
		throw createRefusal(
			`${quoteField(optionName)} has more than ${maxKeyLength} characters`,
			'Use a short text that identifies the action, such as an order number.',
		);
	return key;
}

/**
 * What the package stores at Google in place of a key: nobody can find out the key from its hash.
 */
export interface KeyHashes {
	/**
	 * The hash of the key, the operation and its target. With it, a later run finds what was done
	 * with the key.
	 */
	readonly keyHash: string;
	/**
	 * The hash of the content for which the key was used. With other content, the key is refused.
	 */
	readonly contentHash: string;
}

/**
 * The user's key, the operation, such as `mail send`, and its target: the ID of a folder or
 * document, or '' for the account itself.
 */
type KeyUse = Readonly<Record<'key' | 'operation' | 'target', string>>;

/**
 * Hashes a key with its operation and its target, so that the same key may be used elsewhere, and
 * the content for which it is used. An empty key has no hashes.
 */
export function hashKeyUse(
	{ key, operation, target }: KeyUse,
	content: ReadonlyArray<string | Uint8Array>,
): KeyHashes | undefined {
	if (key === '') return undefined;
	const keyHash = hashParts([operation, target, key]);
	// Half of the hash distinguishes the contents of one key well enough, and keeps the header line
	// of an email short.
	return { keyHash, contentHash: hashParts(content).slice(0, 32) };
}

/**
 * Returns the SHA-256 in hex. Each part is hashed with its length, so ['ab', 'c'] and ['a', 'bc']
 * have different hashes.
 */
export function hashParts(parts: ReadonlyArray<string | Uint8Array>): string {
	const hash = createHash('sha256');
	for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
	return hash.digest('hex');
}

/**
 * Builds the error for a key that was used for other content.
 * @param firstUse what was done with the key, such as "the email 18c3f0a1b2d4e5f6"
 */
export function createKeyReusedError(firstUse: string): NodeError {
	return new NodeError({
		code: 409,
		message: `${quoteField('idempotencyKey')} was already used for different content: ${firstUse}`,
		description:
			'Nothing was done. Use a different key for different content. A time or a random value in the content makes it different in each run.',
	});
}
