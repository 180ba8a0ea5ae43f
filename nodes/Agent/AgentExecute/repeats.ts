import { createHash } from 'node:crypto';

import { messageId } from '../session/messageField';
import { messageOf, type SessionFrame, type SessionMessage } from '../session/messages';

type Digest = string | undefined;

/**
 * How many of the messages that came first on a channel that is open again are known. A server that repeats the last ones of a session
 * ends the repetition with the last one that it had sent: what is repeated is an end of what is known. In time that grows with both.
 * @param known digests of all messages before, in the order of their arrival
 * @param came digests of the messages since
 */
export function repeatedOf(known: readonly Digest[], came: readonly Digest[]): number {
	const shorter = shorterOf(came);
	let matched = 0;
	for (const digest of known) matched = extended(matched, digest, came, shorter);
	return matched;
}

/** For each beginning of the list the longest shorter one that it ends with: Knuth, Morris and Pratt. */
function shorterOf(came: readonly Digest[]): readonly number[] {
	const shorter = [0];
	for (let n = 1; n < came.length; n++) shorter.push(extended(shorter[n - 1] ?? 0, came[n], came, shorter));
	return shorter;
}

/** The longest beginning of the list that is matched with one digest more. */
function extended(
	matched: number,
	digest: Digest,
	came: readonly Digest[],
	shorter: readonly number[],
): number {
	let length = matched;
	while (length > 0 && !isSame(came[length], digest)) length = shorter[length - 1] ?? 0;
	return isSame(came[length], digest) ? length + 1 : 0;
}

const isSame = (one: Digest, other: Digest): boolean => one !== undefined && one === other;

/** By its id where it has one, else by its bytes. @param idField dot path; empty: no message has an id */
export function withDigest(frame: SessionFrame, idField: string): SessionMessage {
	const message = messageOf(frame);
	const id = messageId(message, idField);
	return id === undefined
		? { ...message, digest: digest(frame.isBinary ? 'binary' : 'text', frame.data), digestOf: 'bytes' }
		: { ...message, digest: digest('id', id), digestOf: 'id' };
}

const digest = (kind: string, data: string | Buffer): string =>
	createHash('sha1').update(kind).update(data).digest('base64');
