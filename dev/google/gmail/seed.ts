import type { NewMail } from './mailbox.ts';

/** A received email. Use `raw` for anything beyond plain text. */
export interface MailSeed {
	/** The whole RFC 5322 message. If it is set, the fields below are ignored. */
	readonly raw?: Buffer | string;
	readonly from?: string;
	readonly to?: string;
	readonly subject?: string;
	readonly text?: string;
	/** Additional complete header lines. */
	readonly headers?: readonly string[];
	readonly date?: Date;
	/** Default: INBOX and UNREAD. */
	readonly labelIds?: readonly string[];
	readonly threadId?: string;
}

let counter = 0;

export function buildNewMail(seed: MailSeed): NewMail {
	const { raw, date, labelIds = ['INBOX', 'UNREAD'], threadId } = seed;
	const bytes =
		raw === undefined ? composeMail(seed) : typeof raw === 'string' ? Buffer.from(raw) : raw;
	return { raw: bytes, labelIds, threadId, internalDate: date?.getTime() };
}

function composeMail(seed: MailSeed): Buffer {
	const {
		from = 'Ann <ann@example.com>',
		to = 'someone@example.com',
		subject = 'Hello',
		text = 'Hi',
	} = seed;
	const lines = [
		`Message-ID: <seed-${++counter}@example.com>`,
		`Date: ${(seed.date ?? new Date()).toUTCString()}`,
		`From: ${from}`,
		`To: ${to}`,
		`Subject: =?utf-8?B?${Buffer.from(subject).toString('base64')}?=`,
		...(seed.headers ?? []),
		'MIME-Version: 1.0',
		'Content-Type: text/plain; charset=utf-8',
		'Content-Transfer-Encoding: base64',
		'',
		Buffer.from(text).toString('base64'),
	];
	return Buffer.from(lines.join('\r\n'));
}
