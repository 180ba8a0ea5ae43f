import { decodeHTML } from 'entities/decode';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { htmlToText } from '../html/htmlToText';
import { decodeHeader, decodeText, unescapeBytes } from './charset';
import * as mime from './mimeStructure';
import { keepNewText } from './newText';

/** A text in one format: plain text or HTML. Its pieces are joined only at the end, because parts may be nested deeply. */
interface Rendition {
	readonly pieces: readonly string[];
	readonly isBlank: boolean;
	/** Whether any piece was converted from HTML. */
	readonly isConverted?: boolean;
}

/** The text of a part in the formats that the part has. */
interface PartText {
	readonly plain?: Rendition;
	readonly html?: Rendition;
}

interface MailReading {
	readonly readText: (part: mime.MimePart, format: keyof PartText) => string;
	/** Is filled with the parts that are files. An attached email is one file. */
	readonly files: MailFile[];
}

function readPart(part: mime.MimePart, context: mime.MimeContext, reading: MailReading): PartText {
	const type = mime.getMediaType(part);
	const parts = part.parts ?? [];
	if (type.startsWith('multipart/') && parts.length > 0)
		return readMultipart(type, parts, reading);
	if (mime.isFile(part, context)) {
		reading.files.push(toMailFile(part, context.multipartType === 'multipart/related'));
		return {};
	}
	const format = type === 'text/html' ? 'html' : 'plain';
	const content = reading.readText(part, format);
	return { [format]: { pieces: [content], isBlank: content.trim() === '' } };
}

function readMultipart(
	type: string,
	parts: readonly mime.MimePart[],
	reading: MailReading,
): PartText {
	const partTexts: PartText[] = [];
	let isAfterHtml = false;
	for (const part of parts) {
		const partText = readPart(part, { multipartType: type, isAfterHtml }, reading);
		if (partText.plain || partText.html) partTexts.push(partText);
		isAfterHtml ||= type === 'multipart/related' && partText.html !== undefined;
	}
	// Some programs send plain text and HTML of the same text in a `multipart/related`, which is meant for HTML and its images.
	const isSameText =
		type === 'multipart/related' &&
		partTexts.length === 2 &&
		!partTexts[0]?.html &&
		!partTexts[1]?.plain;
	return isSameText || type === 'multipart/alternative'
		? chooseRenditions(partTexts)
		: joinParts(partTexts);
}

/** Chooses the last plain text and the last HTML (RFC 2046, 5.1.4). Prefers text that was not converted from HTML, and any text to a blank one. */
function chooseRenditions(alternatives: readonly PartText[]): PartText {
	const htmls = alternatives.flatMap(({ html }) => html ?? []);
	const html = htmls.findLast(({ isBlank }) => !isBlank) ?? htmls.at(-1);
	const plainTexts = alternatives.flatMap(({ plain }) => plain ?? []);
	const filledTexts = plainTexts.filter(({ isBlank }) => !isBlank);
	const bestText = filledTexts.findLast(({ isConverted }) => !isConverted) ?? filledTexts.at(-1);
	// Some programs send HTML with a blank plain text, which is left out.
	return { plain: bestText ?? (html?.isBlank === false ? undefined : plainTexts[0]), html };
}

/** Joins the texts of parts that follow each other, such as a message and its footer. */
function joinParts(parts: readonly PartText[]): PartText {
	const hasPlain = parts.some(({ plain }) => plain);
	const texts = parts.map(
		({ plain, html }) => plain ?? (hasPlain && html ? convertHtml(html) : undefined),
	);
	return { plain: joinRenditions(texts), html: joinRenditions(parts.map(({ html }) => html)) };
}

function joinRenditions(
	renditionsByPart: ReadonlyArray<Rendition | undefined>,
): Rendition | undefined {
	const renditions = renditionsByPart.filter((rendition) => rendition !== undefined);
	if (renditions.length === 0) return undefined;
	return {
		pieces: renditions.flatMap(({ pieces }) => pieces),
		isBlank: renditions.every(({ isBlank }) => isBlank),
		isConverted: renditions.some(({ isConverted }) => isConverted),
	};
}

function convertHtml(html: Rendition): Rendition {
	const text = htmlToText(html.pieces.join('\n'));
	return { pieces: [text], isBlank: text === '', isConverted: true };
}

/** Finds the charset name in the header, the type that Gmail returns (openclaw/gogcli#428), or the HTML. @returns '' if there is no name */
function findCharset(part: mime.MimePart, format: keyof PartText, bytes: Buffer): string {
	const types = `${mime.getRawHeader(part, 'Content-Type')};${part.mimeType ?? ''}`;
	const charset = /\bcharset\*?\s*=\s*["']?(?:[\w-]*'[\w-]*')?([^\s"';]+)/i.exec(types)?.[1];
	if (charset !== undefined || format === 'plain') return charset ?? '';
	const htmlStart = bytes.toString('latin1', 0, 1024);
	return /<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(htmlStart)?.[1] ?? '';
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
	/** The time at which Gmail received the email, as ISO 8601 in UTC; '' if Gmail returns no time. */
	readonly date: string;
	readonly status: 'read' | 'unread';
	readonly labelIds: string[];
}

export interface AttachmentOutput {
	/** Only valid for this read, because Gmail returns another ID each time. '' if Gmail returns no ID, for example for an empty file. */
	readonly attachmentId: string;
	/** '' for a file without a name. */
	readonly fileName: string;
	readonly mimeType: string;
	/** Bytes, according to Gmail. */
	readonly size: number;
	/** Whether the file is shown in the text, such as an image in an HTML email. */
	readonly inline: boolean;
	/** Without angle brackets; '' for a file without a content ID. */
	readonly contentId: string;
}

interface MailFile {
	readonly info: AttachmentOutput;
	/** The content in base64url; '' if Gmail returns it only for the attachment ID or in the raw email. */
	readonly data: string;
	readonly partId: string;
	/** Whether the file is an attached email, which has parts. */
	readonly isMail: boolean;
}

export interface MailInput {
	/** The copy that `limitMessage` returns. */
	readonly message: gmail_v1.Schema$Message;
	readonly withText: boolean;
	/** Whether to leave out the signature, and earlier messages that a reply quotes. */
	readonly newTextOnly?: boolean;
	/** Texts that Gmail stores separately, in base64url, by attachment ID. */
	readonly separateTexts: Readonly<Record<string, string>>;
}

/** An email as it is in the mailbox. Addresses are the texts of the headers. */
export interface Mail {
	readonly summary: MailSummary;
	/** Plain text, or text from the HTML; '' without `withText`. With `newTextOnly`, quoted earlier messages and the signature are left out. */
	readonly text: string;
	/** '' for an email without HTML. */
	readonly html: string;
	readonly cc: string;
	readonly bcc: string;
	readonly replyTo: string;
	/** All headers in their original order. A name may occur several times. */
	readonly headers: Array<{ readonly name: string; readonly value: string }>;
	readonly attachments: AttachmentOutput[];
	readonly files: MailFile[];
	/** Attachment IDs of texts that Gmail stores separately and that the input lacks. `text` is incomplete without these texts. */
	readonly missingTextIds: readonly string[];
}

/** Reads the parts of an email that strangers control: structure, headers, charsets and text. */
export function readMail({ message, withText, newTextOnly, separateTexts }: MailInput): Mail {
	const files: MailFile[] = [];
	const missingTextIds: string[] = [];
	const readText = (part: mime.MimePart, format: keyof PartText) => {
		if (!withText) return '';
		const { data, attachmentId } = part.body ?? {};
		const separateText = attachmentId ? separateTexts[attachmentId] : undefined;
		if (!data && attachmentId && separateText === undefined) missingTextIds.push(attachmentId);
		const bytes = Buffer.from(data || (separateText ?? ''), 'base64url');
		return decodeText(bytes, findCharset(part, format, bytes));
	};
	const context = { multipartType: '', isAfterHtml: false };
	const mailText = readPart(message.payload ?? {}, context, { readText, files });
	const plainText = mailText.plain ?? (mailText.html && convertHtml(mailText.html));
	// An email has CRLF between lines; the output has LF.
	const text = (plainText?.pieces.join('\n') ?? '').replaceAll(/\r\n?/g, '\n').trimEnd();
	const headers = (message.payload?.headers ?? []).map(({ name, value }) => ({
		name: name ?? '',
		value: decodeHeader(value ?? ''),
	}));
	const joinValues = (name: string) =>
		headers
			.flatMap((header) => (header.name.toLowerCase() === name ? header.value : []))
			.join(', ');
	const summary = buildSummary(message, joinValues);
	const hasReplyHeader = joinValues('in-reply-to') !== '' || joinValues('references') !== '';
	return {
		summary,
		cc: joinValues('cc'),
		bcc: joinValues('bcc'),
		replyTo: joinValues('reply-to'),
		headers,
		text: newTextOnly ? keepNewText(text, { subject: summary.subject, hasReplyHeader }) : text,
		html: mailText.html?.pieces.join('\n') ?? '',
		attachments: files.map(({ info }) => info),
		files,
		missingTextIds,
	};
}

/** @param joinValues returns all values of the headers with a name in lower case, joined with commas */
function buildSummary(
	message: gmail_v1.Schema$Message,
	joinValues: (name: string) => string,
): MailSummary {
	const { id, threadId, snippet, labelIds, internalDate } = message;
	const date = new Date(Number(internalDate || NaN));
	return {
		id: id ?? '',
		threadId: threadId ?? '',
		snippet: cleanSnippet(snippet ?? ''),
		subject: mime.getDecodedHeader(message, 'Subject'),
		sender: joinValues('from'),
		to: joinValues('to'),
		// The sender sets the Date header, so Gmail's own time is used.
		date: Number.isNaN(date.getTime()) ? '' : date.toISOString(),
		status: labelIds?.includes('UNREAD') ? 'unread' : 'read',
		labelIds: labelIds ?? [],
	};
}

/** Invisible characters that senders use to pad the preview of an email. */
const snippetPaddingPattern = /[\s\u00ad\u034f\u200b-\u200d\u2060\ufeff]/;

/** Decodes the HTML escapes of Gmail's preview text, and removes the padding at both ends. */
function cleanSnippet(snippet: string): string {
	const characters = Array.from(decodeHTML(snippet));
	const isVisible = (character: string) => !snippetPaddingPattern.test(character);
	const start = characters.findIndex(isVisible);
	return characters.slice(start, characters.findLastIndex(isVisible) + 1).join('');
}

/** @param isRelated whether the part is in a `multipart/related`, as images of HTML are */
function toMailFile(part: mime.MimePart, isRelated: boolean): MailFile {
	const contentId = mime.getRawHeader(part, 'Content-ID').trim().replaceAll(/^<|>$/g, '');
	const disposition = mime.getDisposition(part);
	const info = {
		attachmentId: part.body?.attachmentId ?? '',
		fileName: decodeHeader(part.filename ?? '') || findNameInHeader(part),
		mimeType: mime.getMediaType(part),
		size: part.body?.size ?? 0,
		inline:
			disposition === 'inline' ||
			(isRelated && contentId !== '' && disposition !== 'attachment'),
		contentId,
	};
	const isMail = (part.parts?.length ?? 0) > 0;
	return { info, data: part.body?.data ?? '', partId: part.partId ?? '', isMail };
}

const nameParameterPattern =
	/;\s*(?:file)?name(?<star>\*?)\s*=\s*(?:"(?<quoted>[^"]*)"|(?<bare>[^;]*))/i;

/** Finds a file name that Gmail cannot read, such as RFC 2231 in quotes: `attachment; filename*= "UTF-8''XYZ%20A6-1.pdf"`. */
function findNameInHeader(part: mime.MimePart): string {
	for (const header of ['Content-Disposition', 'Content-Type']) {
		const { star, quoted, bare } =
			nameParameterPattern.exec(mime.getRawHeader(part, header))?.groups ?? {};
		const value = (quoted ?? bare ?? '').trim();
		const encodedValue = star
			? /^(?<charset>[^']*)'[^']*'(?<bytes>.*)$/s.exec(value)
			: undefined;
		const { charset = '', bytes } = encodedValue?.groups ?? {};
		const name =
			bytes === undefined
				? decodeHeader(value)
				: decodeText(unescapeBytes(bytes, '%'), charset);
		if (name !== '') return name;
	}
	return '';
}
