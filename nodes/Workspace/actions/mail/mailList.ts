import type { Mail } from '../../../untrusted/mail/readMail';
import type { StoredBinary } from '../../operation';

/**
 * Has only the IDs if the option Details is off, `attachments` if the whole email was fetched, and
 * `text` if it was asked for.
 */
export type ListedMail = Pick<Mail['summary'], 'id' | 'threadId'> &
	Partial<Mail['summary'] & Pick<Mail, 'text' | 'attachments'>>;

export interface ListEntry {
	readonly message: ListedMail;
	/** The attachments in the order of the email, if the option Download Attachments is on. */
	readonly files?: readonly StoredBinary[];
}

export interface MailList {
	readonly entries: readonly ListEntry[];
	readonly nextPageToken: string | undefined;
}

/**
 * Parses a page token: Gmail's own ('' for the first page), or ours. For example, `12@abc` skips 12
 * emails from the page `abc` on.
 */
export function parsePageToken(pageToken: string) {
	const [, skipCount = '0', gmailPageToken = pageToken] = /^(\d+)@(.*)$/s.exec(pageToken) ?? [];
	return { gmailPageToken, skipCount: Number(skipCount) };
}

/**
 * Builds the page token that skips this many emails from a page on. Without emails to skip, the
 * result is Gmail's own token.
 */
export const buildPageToken = (skipCount: number, gmailPageToken = '') =>
	skipCount === 0 ? gmailPageToken : `${skipCount}@${gmailPageToken}`;
