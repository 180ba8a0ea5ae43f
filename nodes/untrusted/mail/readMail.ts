import { decodeHTML } from 'entities/decode';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodedText } from './charset';
import { decodedWords, headersOf } from './headers';
import { mailText, type MailText } from './mailText';
import { newText } from './newText';
import {
	dispositionOf,
	mimeStructure,
	partHeader,
	typeOf,
	type Body,
	type FilePart,
	type Part,
} from './mimeStructure';

/** The fields that are returned for every email. */
export interface Summary {
	readonly id: string;
	readonly threadId: string;
	readonly snippet: string;
	readonly subject: string;
	/** As in the email: name and address. */
	readonly sender: string;
	readonly to: string;
	/** When Gmail received it, ISO 8601 in UTC; '' if Gmail does not say. */
	readonly date: string;
	readonly status: 'read' | 'unread';
	readonly labelIds: string[];
}

export interface AttachmentInfo {
	/**
	 * Valid for this read only, because Gmail returns a new one each time. '' if Gmail gives none, such as
	 * for an empty file.
	 */
	readonly attachmentId: string;
	/** '' for a file without a name. */
	readonly fileName: string;
	readonly mimeType: string;
	/** Bytes, according to Gmail. */
	readonly size: number;
	/** Whether it belongs in the text, such as a picture in an HTML email. */
	readonly inline: boolean;
	/** Without angle brackets; '' if it has none. */
	readonly contentId: string;
}

/** Where the content of an attachment is: in `data`, at Gmail under its ID, or only in the whole email. */
interface StoredFile {
	readonly data: string;
	readonly partId: string;
	readonly isMail: boolean;
}

export interface MailQuestion {
	/** Within the limits of `bounded`. */
	readonly message: gmail_v1.Schema$Message;
	/** Whether the text is needed, and of a reply, what was quoted, too. */
	readonly withText: boolean;
	readonly newTextOnly?: boolean;
	/** Texts that Gmail stores separately, in base64url, by attachment ID. */
	readonly texts: Readonly<Record<string, string>>;
}

/** An email as it is in the mailbox. Addresses are text, as in the email. */
export interface Mail extends MailText {
	readonly summary: Summary;
	readonly cc: string;
	readonly bcc: string;
	readonly replyTo: string;
	/** All in their original order, including repeated ones. */
	readonly headers: Array<{ readonly name: string; readonly value: string }>;
	readonly attachments: AttachmentInfo[];
	/** In the order of the attachments. */
	readonly files: StoredFile[];
	/** Attachment IDs of texts that have to be given, too, or the text is not whole. */
	readonly missing: readonly string[];
}

/** Reads everything of an email that strangers wrote: structure, headers, charsets and text. */
export function readMail({ message, withText, newTextOnly, texts }: MailQuestion): Mail {
	const { body, files } = mimeStructure(message.payload ?? {});
	const bytesOf = ({ body: content }: Part) =>
		Buffer.from(content?.data ?? texts[content?.attachmentId ?? ''] ?? '', 'base64url');
	const list = (name: string) => headersOf(message, name).join(', ');
	const summary = summaryOf(message);
	const { text, html } = withText ? mailText(body, bytesOf) : { text: '', html: '' };
	const isReply = list('In-Reply-To') !== '' || list('References') !== '';
	return {
		summary,
		...{ cc: list('Cc'), bcc: list('Bcc'), replyTo: list('Reply-To') },
		headers: (message.payload?.headers ?? []).map(({ name, value }) => ({
			name: name ?? '',
			value: decodedWords(value ?? ''),
		})),
		text: newTextOnly ? newText(text, { subject: summary.subject, isReply }) : text,
		html,
		attachments: files.map(attachmentInfo),
		files: files.map(({ part }) => ({
			data: part.body?.data ?? '',
			partId: part.partId ?? '',
			isMail: (part.parts?.length ?? 0) > 0,
		})),
		missing: withText ? missingTexts(body, texts) : [],
	};
}

function missingTexts(body: Body, texts: MailQuestion['texts']): string[] {
	if ('pieces' in body) return body.pieces.flatMap((piece) => missingTexts(piece, texts));
	const { data, attachmentId } = body.part.body ?? {};
	return attachmentId && !data && texts[attachmentId] === undefined ? [attachmentId] : [];
}

function summaryOf(message: gmail_v1.Schema$Message): Summary {
	const { id, threadId, snippet, labelIds, internalDate } = message;
	const date = new Date(Number(internalDate || NaN));
	return {
		id: id ?? '',
		threadId: threadId ?? '',
		snippet: snippetText(snippet ?? ''),
		subject: headersOf(message, 'Subject')[0] ?? '',
		sender: headersOf(message, 'From').join(', '),
		to: headersOf(message, 'To').join(', '),
		// The Date header is set by the sender; this time is Gmail's.
		date: Number.isNaN(date.getTime()) ? '' : date.toISOString(),
		status: labelIds?.includes('UNREAD') ? 'unread' : 'read',
		labelIds: labelIds ?? [],
	};
}

/** Invisible characters that senders use to pad the preview of an email. */
const padding = /[\s\u00ad\u034f\u200b-\u200d\u2060\ufeff]/;

/** Gmail's preview text, unescaped from HTML and without padding at either end. */
function snippetText(snippet: string): string {
	const text = decodeHTML(snippet);
	let from = 0;
	let to = text.length;
	while (from < to && padding.test(text.charAt(from))) from++;
	while (to > from && padding.test(text.charAt(to - 1))) to--;
	return text.slice(from, to);
}

function attachmentInfo({ part, related }: FilePart): AttachmentInfo {
	const contentId = partHeader(part, 'Content-ID').trim().replaceAll(/^<|>$/g, '');
	const disposition = dispositionOf(part);
	return {
		attachmentId: part.body?.attachmentId ?? '',
		fileName: decodedWords(part.filename ?? '') || nameInHeader(part),
		mimeType: typeOf(part),
		size: part.body?.size ?? 0,
		inline: disposition === 'inline' || (related && contentId !== '' && disposition !== 'attachment'),
		contentId,
	};
}

/**
 * Gmail leaves some names in the header, such as `attachment; filename*= "UTF-8''XYZ%20A6-1.pdf"`: RFC 2231, but in
 * quotes.
 */
function nameInHeader(part: Part): string {
	for (const header of ['Content-Disposition', 'Content-Type']) {
		const [, star, quoted, plain] =
			/;\s*(?:file)?name(\*?)\s*=\s*(?:"([^"]*)"|([^;]*))/i.exec(partHeader(part, header)) ?? [];
		const value = (quoted ?? plain ?? '').trim();
		const [, charset, text] = (star ? /^([^']*)'[^']*'(.*)$/s.exec(value) : undefined) ?? [];
		const name = text === undefined ? decodedWords(value) : decodedText(unescaped(text), charset ?? '');
		if (name !== '') return name;
	}
	return '';
}

function unescaped(text: string): Buffer {
	const bytes = text.replaceAll(/%([0-9A-F]{2})/gi, (_match, hex: string) =>
		String.fromCharCode(Number.parseInt(hex, 16)),
	);
	return Buffer.from(bytes, 'latin1');
}
