import { decodeHTML } from 'entities/decode';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { textOfHtml } from '../html/textOfHtml';
import { decodeText, decodeWords, unescapeBytes } from './charset';
import { dispositionOf, headerOf, isFile, type Part, partHeader, type Place, typeOf } from './mimeStructure';
import { keepNewText } from './newText';

/** A text in one form, plain or HTML. Its pieces are joined only at the end, because parts may be nested deeply. */
interface Form {
	readonly pieces: readonly string[];
	readonly isBlank: boolean;
	/** Whether any of it was converted from HTML. */
	readonly isMade?: boolean;
}

/** A form is undefined if the part does not have it. */
interface Forms {
	readonly text?: Form;
	readonly html?: Form;
}

interface Reading {
	readonly textOf: (part: Part, kind: keyof Forms) => string;
	/** Collects the parts that are files. An attached email is one file. */
	readonly files: StoredFile[];
}

function formsOf(part: Part, place: Place, reading: Reading): Forms {
	const type = typeOf(part);
	const parts = part.parts ?? [];
	if (type.startsWith('multipart/') && parts.length > 0) return formsOfParts(type, parts, reading);
	if (isFile(part, place)) {
		reading.files.push(storedFile(part, place.within === 'multipart/related'));
		return {};
	}
	const kind = type === 'text/html' ? 'html' : 'text';
	const content = reading.textOf(part, kind);
	return { [kind]: { pieces: [content], isBlank: content.trim() === '' } };
}

function formsOfParts(type: string, parts: readonly Part[], reading: Reading): Forms {
	const found: Forms[] = [];
	let afterHtml = false;
	for (const part of parts) {
		const forms = formsOf(part, { within: type, afterHtml }, reading);
		if (forms.text || forms.html) found.push(forms);
		afterHtml ||= type === 'multipart/related' && forms.html !== undefined;
	}
	// Some programs send the two forms of the text in a `multipart/related`, which is meant for HTML and its pictures.
	const areForms = type === 'multipart/related' && found.length === 2 && !found[0]?.html && !found[1]?.text;
	return areForms || type === 'multipart/alternative' ? bestOf(found) : joined(found);
}

/** Chooses the last form of each kind (RFC 2046, 5.1.4), but prefers the sender's own text to one from HTML, and any text to an empty one. */
function bestOf(forms: readonly Forms[]): Forms {
	const htmls = forms.flatMap(({ html }) => html ?? []);
	const html = htmls.findLast(({ isBlank }) => !isBlank) ?? htmls.at(-1);
	const texts = forms.flatMap(({ text }) => text ?? []);
	const filled = texts.filter(({ isBlank }) => !isBlank);
	const best = filled.findLast(({ isMade }) => !isMade) ?? filled.at(-1);
	// Some programs add an empty text next to the HTML.
	return { text: best ?? (html?.isBlank === false ? undefined : texts[0]), html };
}

/** Joins texts that follow each other, such as a message and its footer. */
function joined(forms: readonly Forms[]): Forms {
	const isPlain = forms.some(({ text }) => text);
	const texts = forms.map(({ text, html }) => text ?? (isPlain && html ? converted(html) : undefined));
	return { text: oneOf(texts), html: oneOf(forms.map(({ html }) => html)) };
}

function oneOf(given: ReadonlyArray<Form | undefined>): Form | undefined {
	const forms = given.filter((form) => form !== undefined);
	if (forms.length === 0) return undefined;
	return {
		pieces: forms.flatMap(({ pieces }) => pieces),
		isBlank: forms.every(({ isBlank }) => isBlank),
		isMade: forms.some(({ isMade }) => isMade),
	};
}

function converted(html: Form): Form {
	const text = textOfHtml(html.pieces.join('\n'));
	return { pieces: [text], isBlank: text === '', isMade: true };
}

/** Finds the charset that the header names, or the type that Gmail gives (openclaw/gogcli#428), or the HTML itself. */
function charsetOf(part: Part, kind: keyof Forms, bytes: Buffer): string {
	const types = `${partHeader(part, 'Content-Type')};${part.mimeType ?? ''}`;
	const named = /\bcharset\*?\s*=\s*["']?(?:[\w-]*'[\w-]*')?([^\s"';]+)/i.exec(types)?.[1];
	if (named !== undefined || kind === 'text') return named ?? '';
	return (
		/<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(bytes.toString('latin1', 0, 1024))?.[1] ?? ''
	);
}

/** The fields that are returned for every email. */
export interface Summary {
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

interface StoredFile {
	readonly info: AttachmentInfo;
	/** The content, unless Gmail has it under the attachment ID, or only in the whole email. */
	readonly data: string;
	readonly partId: string;
	readonly isMail: boolean;
}

export interface MailQuestion {
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
	readonly summary: Summary;
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
	readonly files: StoredFile[];
	/** Attachment IDs of texts that Gmail stores separately and the input lacks. Without them, the text is incomplete. */
	readonly missing: readonly string[];
}

/** Reads everything of an email that strangers wrote: structure, headers, charsets and text. */
export function readMail({ message, withText, newTextOnly, texts }: MailQuestion): Mail {
	const files: StoredFile[] = [];
	const missing: string[] = [];
	const textOf = (part: Part, kind: keyof Forms) => {
		if (!withText) return '';
		const { data, attachmentId } = part.body ?? {};
		const stored = attachmentId ? texts[attachmentId] : '';
		if (!data && stored === undefined) missing.push(attachmentId ?? '');
		const bytes = Buffer.from(data || (stored ?? ''), 'base64url');
		return decodeText(bytes, charsetOf(part, kind, bytes));
	};
	const forms = formsOf(message.payload ?? {}, { within: '', afterHtml: false }, { textOf, files });
	const plain = forms.text ?? (forms.html && converted(forms.html));
	// An email has CRLF between lines; the output has LF.
	const text = (plain?.pieces.join('\n') ?? '').replaceAll(/\r\n?/g, '\n').trimEnd();
	const headers = (message.payload?.headers ?? []).map(({ name, value }) => ({
		name: name ?? '',
		value: decodeWords(value ?? ''),
	}));
	const list = (name: string) =>
		headers.flatMap((header) => (header.name.toLowerCase() === name ? header.value : [])).join(', ');
	const summary = summaryOf(message, list);
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
		missing,
	};
}

/** @param list all values of a header, by its name in lower case */
function summaryOf(message: gmail_v1.Schema$Message, list: (name: string) => string): Summary {
	const { id, threadId, snippet, labelIds, internalDate } = message;
	const date = new Date(Number(internalDate || NaN));
	return {
		id: id ?? '',
		threadId: threadId ?? '',
		snippet: snippetText(snippet ?? ''),
		subject: headerOf(message, 'Subject'),
		sender: list('from'),
		to: list('to'),
		// The sender sets the Date header, so Gmail's own time is used.
		date: Number.isNaN(date.getTime()) ? '' : date.toISOString(),
		status: labelIds?.includes('UNREAD') ? 'unread' : 'read',
		labelIds: labelIds ?? [],
	};
}

/** Invisible characters that senders use to pad the preview of an email. */
const padding = /[\s\u00ad\u034f\u200b-\u200d\u2060\ufeff]/;

/** Gmail's preview text, unescaped from HTML and without padding at either end. */
function snippetText(snippet: string): string {
	const characters = Array.from(decodeHTML(snippet));
	const isSeen = (character: string) => !padding.test(character);
	const from = characters.findIndex(isSeen);
	return characters.slice(from, characters.findLastIndex(isSeen) + 1).join('');
}

/** @param related whether the part is in a `multipart/related`, such as a picture of the HTML */
function storedFile(part: Part, related: boolean): StoredFile {
	const contentId = partHeader(part, 'Content-ID').trim().replaceAll(/^<|>$/g, '');
	const disposition = dispositionOf(part);
	const info = {
		attachmentId: part.body?.attachmentId ?? '',
		fileName: decodeWords(part.filename ?? '') || nameInHeader(part),
		mimeType: typeOf(part),
		size: part.body?.size ?? 0,
		inline: disposition === 'inline' || (related && contentId !== '' && disposition !== 'attachment'),
		contentId,
	};
	const isMail = (part.parts?.length ?? 0) > 0;
	return { info, data: part.body?.data ?? '', partId: part.partId ?? '', isMail };
}

/** Finds a name that Gmail did not read, such as RFC 2231 in quotes: `attachment; filename*= "UTF-8''XYZ%20A6-1.pdf"`. */
function nameInHeader(part: Part): string {
	for (const header of ['Content-Disposition', 'Content-Type']) {
		const [, star, quoted, plain] =
			/;\s*(?:file)?name(\*?)\s*=\s*(?:"([^"]*)"|([^;]*))/i.exec(partHeader(part, header)) ?? [];
		const value = (quoted ?? plain ?? '').trim();
		const [, charset, text] = (star ? /^([^']*)'[^']*'(.*)$/s.exec(value) : undefined) ?? [];
		const name =
			text === undefined ? decodeWords(value) : decodeText(unescapeBytes(text, '%'), charset ?? '');
		if (name !== '') return name;
	}
	return '';
}
