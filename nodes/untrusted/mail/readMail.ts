import { decodeHTML } from 'entities/decode';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { htmlToText } from '../html/htmlToText';
import { decodeText, decodeWords, unescapeBytes } from './charset';
import * as mime from './mimeStructure';
import { keepNewText } from './newText';

/** A text in one form, plain or HTML. Its pieces are joined only at the end, because parts may be nested deeply. */
interface TextForm {
	readonly pieces: readonly string[];
	readonly isBlank: boolean;
	/** Whether any of it was converted from HTML. */
	readonly isConverted?: boolean;
}

/** A form is undefined if the part does not have it. */
interface TextForms {
	readonly text?: TextForm;
	readonly html?: TextForm;
}

interface MailReading {
	readonly readText: (part: mime.MimePart, kind: keyof TextForms) => string;
	/** Collects the parts that are files. An attached email is one file. */
	readonly files: MailFile[];
}

function readForms(part: mime.MimePart, place: mime.MimeContext, reading: MailReading): TextForms {
	const type = mime.getMediaType(part);
	const parts = part.parts ?? [];
	if (type.startsWith('multipart/') && parts.length > 0) return readMultipartForms(type, parts, reading);
	if (mime.isFile(part, place)) {
		reading.files.push(toMailFile(part, place.multipartType === 'multipart/related'));
		return {};
	}
	const kind = type === 'text/html' ? 'html' : 'text';
	const content = reading.readText(part, kind);
	return { [kind]: { pieces: [content], isBlank: content.trim() === '' } };
}

function readMultipartForms(type: string, parts: readonly mime.MimePart[], reading: MailReading): TextForms {
	const found: TextForms[] = [];
	let isAfterHtml = false;
	for (const part of parts) {
		const forms = readForms(part, { multipartType: type, isAfterHtml }, reading);
		if (forms.text || forms.html) found.push(forms);
		isAfterHtml ||= type === 'multipart/related' && forms.html !== undefined;
	}
	// Some programs send the two forms of the text in a `multipart/related`, which is meant for HTML and its pictures.
	const areForms = type === 'multipart/related' && found.length === 2 && !found[0]?.html && !found[1]?.text;
	return areForms || type === 'multipart/alternative' ? chooseBestForms(found) : joinForms(found);
}

/** Chooses the last form of each kind (RFC 2046, 5.1.4), but prefers the sender's own text to one from HTML, and any to an empty one. */
function chooseBestForms(forms: readonly TextForms[]): TextForms {
	const htmls = forms.flatMap(({ html }) => html ?? []);
	const html = htmls.findLast(({ isBlank }) => !isBlank) ?? htmls.at(-1);
	const texts = forms.flatMap(({ text }) => text ?? []);
	const filled = texts.filter(({ isBlank }) => !isBlank);
	const best = filled.findLast(({ isConverted }) => !isConverted) ?? filled.at(-1);
	// Some programs add an empty text next to the HTML.
	return { text: best ?? (html?.isBlank === false ? undefined : texts[0]), html };
}

/** Joins texts that follow each other, such as a message and its footer. */
function joinForms(forms: readonly TextForms[]): TextForms {
	const isPlain = forms.some(({ text }) => text);
	const texts = forms.map(({ text, html }) => text ?? (isPlain && html ? convertHtml(html) : undefined));
	return { text: joinTexts(texts), html: joinTexts(forms.map(({ html }) => html)) };
}

function joinTexts(given: ReadonlyArray<TextForm | undefined>): TextForm | undefined {
	const forms = given.filter((form) => form !== undefined);
	if (forms.length === 0) return undefined;
	return {
		pieces: forms.flatMap(({ pieces }) => pieces),
		isBlank: forms.every(({ isBlank }) => isBlank),
		isConverted: forms.some(({ isConverted }) => isConverted),
	};
}

function convertHtml(html: TextForm): TextForm {
	const text = htmlToText(html.pieces.join('\n'));
	return { pieces: [text], isBlank: text === '', isConverted: true };
}

/** Finds the charset that the header names, or the type that Gmail gives (openclaw/gogcli#428), or the HTML itself. */
function findCharset(part: mime.MimePart, kind: keyof TextForms, bytes: Buffer): string {
	const types = `${mime.getPartHeader(part, 'Content-Type')};${part.mimeType ?? ''}`;
	const named = /\bcharset\*?\s*=\s*["']?(?:[\w-]*'[\w-]*')?([^\s"';]+)/i.exec(types)?.[1];
	if (named !== undefined || kind === 'text') return named ?? '';
	return (
		/<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(bytes.toString('latin1', 0, 1024))?.[1] ?? ''
	);
}

/** The fields that are returned for every email. */
export interface MailSummary {
	readonly id: string;
	readonly threadId: string;
	readonly snippet: string;
	readonly subject: string;
	/** Name and address, as in the From header. */
	readonly sender: string;
	readonly to: string;
	/** When Gmail received it, ISO 8601 in UTC; '' if Gmail does not say. */
	readonly date: string;
	readonly status: 'read' | 'unread';
	readonly labelIds: string[];
}

export interface AttachmentInfo {
	/** Valid for this read only, because Gmail returns a new one each time. '' if Gmail gives none, such as for an empty file. */
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

interface MailFile {
	readonly info: AttachmentInfo;
	/** The content, unless Gmail has it under the attachment ID, or only in the whole email. */
	readonly data: string;
	readonly partId: string;
	readonly isMail: boolean;
}

export interface MailInput {
	/** The result of `limitMessage`. */
	readonly message: gmail_v1.Schema$Message;
	/** Whether the text is needed; with the next option, without what a reply quotes. */
	readonly withText: boolean;
	readonly newTextOnly?: boolean;
	/** Texts that Gmail stores separately, in base64url, by attachment ID. */
	readonly texts: Readonly<Record<string, string>>;
}

/** An email as it is in the mailbox. Addresses are texts as the headers have them. */
export interface Mail {
	readonly summary: MailSummary;
	/** Plain text; converted from the HTML if the email has only that. */
	readonly text: string;
	/** '' for an email without HTML. */
	readonly html: string;
	readonly cc: string;
	readonly bcc: string;
	readonly replyTo: string;
	/** All in their original order, including repeated ones. */
	readonly headers: Array<{ readonly name: string; readonly value: string }>;
	readonly attachments: AttachmentInfo[];
	readonly files: MailFile[];
	/** Attachment IDs of texts that Gmail stores separately and the input lacks. Without them, the text is incomplete. */
	readonly missingTextIds: readonly string[];
}

/** Reads everything of an email that strangers wrote: structure, headers, charsets and text. */
export function readMail({ message, withText, newTextOnly, texts }: MailInput): Mail {
	const files: MailFile[] = [];
	const missingTextIds: string[] = [];
	const readText = (part: mime.MimePart, kind: keyof TextForms) => {
		if (!withText) return '';
		const { data, attachmentId } = part.body ?? {};
		const stored = attachmentId ? texts[attachmentId] : '';
		if (!data && stored === undefined) missingTextIds.push(attachmentId ?? '');
		const bytes = Buffer.from(data || (stored ?? ''), 'base64url');
		return decodeText(bytes, findCharset(part, kind, bytes));
	};
	const forms = readForms(
		message.payload ?? {},
		{ multipartType: '', isAfterHtml: false },
		{ readText, files },
	);
	const plain = forms.text ?? (forms.html && convertHtml(forms.html));
	// An email has CRLF between lines; the output has LF.
	const text = (plain?.pieces.join('\n') ?? '').replaceAll(/\r\n?/g, '\n').trimEnd();
	const headers = (message.payload?.headers ?? []).map(({ name, value }) => ({
		name: name ?? '',
		value: decodeWords(value ?? ''),
	}));
	const list = (name: string) =>
		headers.flatMap((header) => (header.name.toLowerCase() === name ? header.value : [])).join(', ');
	const summary = buildSummary(message, list);
	const isReply = list('in-reply-to') !== '' || list('references') !== '';
	return {
		summary,
		cc: list('cc'),
		bcc: list('bcc'),
		replyTo: list('reply-to'),
		headers,
		text: newTextOnly ? keepNewText(text, { subject: summary.subject, isReply }) : text,
		html: forms.html?.pieces.join('\n') ?? '',
		attachments: files.map(({ info }) => info),
		files,
		missingTextIds,
	};
}

/** @param list all values of a header, by its name in lower case */
function buildSummary(message: gmail_v1.Schema$Message, list: (name: string) => string): MailSummary {
	const { id, threadId, snippet, labelIds, internalDate } = message;
	const date = new Date(Number(internalDate || NaN));
	return {
		id: id ?? '',
		threadId: threadId ?? '',
		snippet: cleanSnippet(snippet ?? ''),
		subject: mime.getMessageHeader(message, 'Subject'),
		sender: list('from'),
		to: list('to'),
		// The sender sets the Date header, so Gmail's own time is used.
		date: Number.isNaN(date.getTime()) ? '' : date.toISOString(),
		status: labelIds?.includes('UNREAD') ? 'unread' : 'read',
		labelIds: labelIds ?? [],
	};
}

/** Invisible characters that senders use to pad the preview of an email. */
const snippetPadding = /[\s\u00ad\u034f\u200b-\u200d\u2060\ufeff]/;

/** Gmail's preview text, unescaped from HTML and without padding at either end. */
function cleanSnippet(snippet: string): string {
	const characters = Array.from(decodeHTML(snippet));
	const isSeen = (character: string) => !snippetPadding.test(character);
	const from = characters.findIndex(isSeen);
	return characters.slice(from, characters.findLastIndex(isSeen) + 1).join('');
}

/** @param isRelated whether the part is in a `multipart/related`, such as a picture of the HTML */
function toMailFile(part: mime.MimePart, isRelated: boolean): MailFile {
	const contentId = mime.getPartHeader(part, 'Content-ID').trim().replaceAll(/^<|>$/g, '');
	const disposition = mime.getDisposition(part);
	const info = {
		attachmentId: part.body?.attachmentId ?? '',
		fileName: decodeWords(part.filename ?? '') || findNameInHeader(part),
		mimeType: mime.getMediaType(part),
		size: part.body?.size ?? 0,
		inline: disposition === 'inline' || (isRelated && contentId !== '' && disposition !== 'attachment'),
		contentId,
	};
	const isMail = (part.parts?.length ?? 0) > 0;
	return { info, data: part.body?.data ?? '', partId: part.partId ?? '', isMail };
}

/** Finds a name that Gmail did not read, such as RFC 2231 in quotes: `attachment; filename*= "UTF-8''XYZ%20A6-1.pdf"`. */
function findNameInHeader(part: mime.MimePart): string {
	for (const header of ['Content-Disposition', 'Content-Type']) {
		const [, star, quoted, plain] =
			/;\s*(?:file)?name(\*?)\s*=\s*(?:"([^"]*)"|([^;]*))/i.exec(mime.getPartHeader(part, header)) ?? [];
		const value = (quoted ?? plain ?? '').trim();
		const [, charset, text] = (star ? /^([^']*)'[^']*'(.*)$/s.exec(value) : undefined) ?? [];
		const name =
			text === undefined ? decodeWords(value) : decodeText(unescapeBytes(text, '%'), charset ?? '');
		if (name !== '') return name;
	}
	return '';
}
