import type { Mail } from '../../../untrusted/mail/readMail';
import type { OutputItem } from '../../operation';

/** An email as the node returns it: its IDs, and what else the options ask for. */
export type OutputMail = Pick<Mail['summary'], 'id' | 'threadId'> &
	Partial<Mail['summary'] & Mail['content'] & Pick<Mail, 'headers'>>;

export interface MailItem extends OutputItem {
	readonly json: OutputMail;
}

export interface MailList {
	readonly entries: MailItem[];
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
