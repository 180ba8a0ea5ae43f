import { randomBytes } from 'node:crypto';
import emailAddresses from 'email-addresses';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { ApiError, type Call } from '../service.ts';
import { stripSubject, type Mailbox } from './mailbox.ts';
import { findEncodedHeaders, findHeader, parseMime, type MimePart } from './mime.ts';

/** An email that was saved as a draft. */
export interface SavedDraft extends SentMail {
	readonly draftId: string;
}

/** Gmail's limit for an email, in bytes. */
const maxMailBytes = 36_700_160;

/** An email that was submitted for sending. */
export interface SentMail {
	readonly id: string;
	readonly threadId: string;
	/** As received, before Gmail changed anything. */
	readonly raw: Buffer;
	readonly mime: MimePart;
	/** All recipients: the addresses in To, Cc and Bcc. */
	readonly recipients: readonly string[];
	/** Whether it came as JSON (`raw`) or through the upload address. */
	readonly via: 'json' | 'upload';
}

/** The email of a send call, with the data that Gmail reads from it. */
interface Outgoing extends Pick<SentMail, 'raw' | 'mime' | 'recipients' | 'via'> {
	readonly threadId: string | undefined;
	/** The stored version, with Gmail's own Message-ID and the sender's address. */
	readonly kept: Buffer;
}

/**
 * @param isDraft a draft needs no recipient, and its email is one level deeper in the body
 * @throws ApiError 400, 404 or 413, in Gmail's words
 */
export function readOutgoing(
	call: Call,
	mailbox: Mailbox,
	senders: readonly string[],
	isDraft: boolean,
): Outgoing {
	const body = isDraft ? ((call.body ?? {}) as gmail_v1.Schema$Draft).message : call.body;
	const { raw: encoded, threadId } = (body ?? {}) as gmail_v1.Schema$Message;
	const raw = call.media?.data ?? Buffer.from(encoded ?? '', 'base64url');
	if (raw.length === 0)
		throw createRefusal(
			"'raw' RFC822 payload message string or uploading message via /upload/* URL required",
		);
	if (raw.length > maxMailBytes)
		throw new ApiError(413, 'Request entity is too large.', { reason: 'uploadTooLarge' });
	const mime = parseMime(raw);
	const recipients = ['To', 'Cc', 'Bcc'].flatMap((name) => parseAddresses(mime, name));
	if (recipients.length === 0 && !isDraft) throw createRefusal('Recipient address required');
	return {
		raw,
		mime,
		recipients,
		via: call.media ? 'upload' : 'json',
		threadId: threadId ? findThreadId(mailbox, threadId, mime) : undefined,
		kept: rewriteHeaders(raw, mime, senders),
	};
}

function parseAddresses(mime: MimePart, name: string): string[] {
	return findEncodedHeaders(mime.headers, name).flatMap((input) => {
		if (input === '') return [];
		const parsed = emailAddresses.parseAddressList({ input, rfc6532: true });
		if (!parsed) throw createRefusal(`Invalid ${name} header`);
		return parsed
			.flatMap((entry) => (entry.type === 'group' ? entry.addresses : [entry]))
			.map(({ address }) => address);
	});
}

/** An email joins a thread only if it refers to one of the thread's emails and has the same subject. */
function findThreadId(mailbox: Mailbox, threadId: string, mime: MimePart): string | undefined {
	const thread = mailbox.listThread(threadId);
	if (thread.length === 0)
		throw new ApiError(404, 'Requested entity was not found.', { reason: 'notFound' });
	const references = ['In-Reply-To', 'References']
		.map((name) => findHeader(mime.headers, name) ?? '')
		.join(' ');
	const belongs = thread.some((mail) => {
		const id = findHeader(mail.mime.headers, 'Message-ID');
		const isNamed = id !== undefined && references.includes(id);
		return isNamed && stripSubject(mail) === stripSubject({ mime });
	});
	return belongs ? threadId : undefined;
}

/** Gmail gives an email its own Message-ID and replaces a sender that does not belong to the user. */
function rewriteHeaders(raw: Buffer, mime: MimePart, senders: readonly string[]): Buffer {
	const blank = raw.indexOf('\r\n\r\n');
	const lines = raw
		.subarray(0, blank)
		.toString('latin1')
		.split(/\r\n(?![ \t])/);
	const [sender] = parseAddresses(mime, 'From');
	const keepsFrom = sender !== undefined && senders.includes(sender);
	const keptLines = lines.filter(
		(line) => !/^message-id:/i.test(line) && (keepsFrom || !/^from:/i.test(line)),
	);
	const head = [
		`Message-ID: <CA${randomBytes(12).toString('base64url')}@mail.gmail.com>`,
		// Without the display name from the settings: r-lib/gmailr#171, openclaw/gogcli#431.
		...(keepsFrom ? [] : [`From: ${senders[0] ?? ''}`]),
		...keptLines,
	];
	return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), raw.subarray(blank)]);
}

function createRefusal(message: string): ApiError {
	return new ApiError(400, message, { reason: 'invalidArgument' });
}
