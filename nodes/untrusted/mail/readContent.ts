import { parseHeaderValue } from 'nodemailer/lib/mime-funcs';

import { escapeHtml } from '../../core/text';
import { htmlToText } from '../html/htmlToText';
import { decodeHeader, decodeText } from './charset';
import {
	type MimePart,
	getDecodedHeader,
	getDisposition,
	getMediaType,
	getRawHeader,
} from './mimePart';

export interface TextOptions {
	readonly withText: boolean;
	/** Texts that Gmail stores separately, in base64url, by attachment ID. */
	readonly separateTexts: Readonly<Record<string, string>>;
}

/** The text of a part in the formats that the part has. */
interface PartText {
	readonly plain?: string;
	readonly html?: string;
}

/** Reads an email, or one that is attached to another. */
export function readContent(payload: MimePart, options: TextOptions) {
	const reader = new PartReader(options);
	const { plain, html = '' } = reader.read(payload, '');
	// An email has CRLF between lines; the output has LF.
	const text = (plain ?? htmlToText(html)).replaceAll(/\r\n?/g, '\n').trimEnd();
	const { attachedTexts, files, missingTextIds } = reader;
	return { text, html, attachedTexts, files, missingTextIds };
}

class PartReader {
	/** The texts of attached emails, each below the lines of its header. */
	readonly attachedTexts: string[] = [];
	readonly files: MailFile[] = [];
	readonly missingTextIds: string[] = [];
	readonly #options: TextOptions;

	constructor(options: TextOptions) {
		this.#options = options;
	}

	/** @param multipartType the type of the surrounding multipart; '' for the email itself */
	read(part: MimePart, multipartType: string): PartText {
		const type = getMediaType(part);
		const parts = part.parts ?? [];
		if (type.startsWith('multipart/') && parts.length > 0) {
			const texts = parts.map((innerPart) => this.read(innerPart, type));
			return type === 'multipart/alternative' ? chooseText(texts) : joinTexts(texts);
		}
		if (!isFile(part, type, multipartType)) return this.#readText(part, type);
		const hasBytes = parts.length === 0 || part.body?.attachmentId;
		if (hasBytes) this.files.push(readFile(part));
		// Gmail gives some attached emails neither an ID nor bytes. Their texts and files are read
		// here.
		if (type === 'message/rfc822') for (const mail of parts) this.#readAttachedMail(mail);
		return {};
	}

	#readText(part: MimePart, type: string): PartText {
		const isHtml = type === 'text/html';
		if (!this.#options.withText) return isHtml ? { html: '' } : { plain: '' };
		const { data, attachmentId } = part.body ?? {};
		let content = data ?? '';
		if (content === '' && attachmentId) {
			const separateText = this.#options.separateTexts[attachmentId];
			if (separateText === undefined) this.missingTextIds.push(attachmentId);
			content = separateText ?? '';
		}
		const rawText = decodeText(Buffer.from(content, 'base64url'), findCharset(part));
		return isHtml ? { html: rawText } : { plain: unwrapText(rawText, part) };
	}

	#readAttachedMail(mail: MimePart): void {
		const { text, attachedTexts, files, missingTextIds } = readContent(mail, this.#options);
		this.files.push(...files);
		this.missingTextIds.push(...missingTextIds);
		if (!this.#options.withText) return;
		const lines = ['---------- Attached email ---------'];
		for (const name of ['From', 'Date', 'Subject', 'To']) {
			const value = getDecodedHeader(mail, name);
			if (value !== '') lines.push(`${name}: ${value}`);
		}
		this.attachedTexts.push(`${lines.join('\n')}\n\n${text}`.trimEnd(), ...attachedTexts);
	}
}

/** Joins the lines that the sender's program wrapped, if the header says that it did. */
function unwrapText(rawText: string, part: MimePart): string {
	const text = rawText.replaceAll(/\r\n?/g, '\n');
	const type = getRawHeader(part, 'Content-Type');
	if (!/\bformat\s*=\s*"?flowed\b/i.test(type)) return text;
	const between = /\bdelsp\s*=\s*"?yes\b/i.test(type) ? '' : ' ';
	const paragraphs = findWrappedLines(text);
	return paragraphs.map((lines) => lines.join('\n').replaceAll(' \n', between)).join('\n');
}

/**
 * Finds the lines of each paragraph that the sender's program wrapped (RFC 3676): a line that ends
 * in a space goes on in the next one with as many quote marks.
 */
function findWrappedLines(text: string): string[][] {
	const paragraphs: string[][] = [];
	let openMarks: string | undefined;
	for (const line of text.split('\n')) {
		// A space protects the start of a line.
		const [, marks = '', content = ''] = /^(>*) ?(.*)$/s.exec(line) ?? [];
		const isAlone = /^(?:-- )?$/.test(content);
		if (!isAlone && marks === openMarks) paragraphs.at(-1)?.push(content);
		else paragraphs.push([marks === '' ? content : line]);
		openMarks = !isAlone && content.endsWith(' ') ? marks : undefined;
	}
	return paragraphs;
}

/** Text types whose content is data for a program, such as an invitation. */
const dataTypePattern =
	/^text\/(?:calendar|csv|directory|(?:x-)?vcard|rfc822-headers|x-amp-html|xml|rtf)$/;

/** Whether a part is a file. Any other part belongs to the email's text. */
function isFile(part: MimePart, type: string, multipartType: string): boolean {
	if (getDisposition(part) === 'attachment') return true;
	// Gmail returns a multipart with broken boundaries as a single part that contains its text.
	if (type === '' || type.startsWith('multipart/')) return findFileName(part) !== '';
	if (!type.startsWith('text/') || dataTypePattern.test(type)) return true;
	const isBody = type === 'text/plain' || type === 'text/html';
	if (!isBody) return multipartType !== '';
	// Some programs give the text itself a file name.
	const mayHaveName = multipartType === '' || multipartType === 'multipart/alternative';
	return !mayHaveName && findFileName(part) !== '';
}

/** Finds the name in the headers if Gmail does not return it. @returns '' if there is no name */
function findFileName(part: MimePart): string {
	const parse = (name: string) => parseHeaderValue(getRawHeader(part, name)).params;
	const name =
		part.filename ||
		parse('Content-Disposition')['filename'] ||
		parse('Content-Type')['name'] ||
		'';
	return decodeHeader(name);
}

export type MailFile = ReturnType<typeof readFile>;

function readFile(part: MimePart) {
	const contentId = getRawHeader(part, 'Content-ID').trim().replaceAll(/^<|>$/g, '');
	const disposition = getDisposition(part);
	const info = {
		/**
		 * Only valid for this read, because Gmail returns another ID each time. '' if Gmail returns
		 * no ID, for example for an empty file.
		 */
		attachmentId: part.body?.attachmentId ?? '',
		/** '' for a file without a name. */
		fileName: findFileName(part),
		mimeType: getMediaType(part),
		/** Bytes, according to Gmail. */
		size: part.body?.size ?? 0,
		/** Whether the file is shown in the text, such as an image in an HTML email. */
		inline: disposition === 'inline' || (contentId !== '' && disposition === ''),
		/** Without angle brackets; '' for a file without a content ID. */
		contentId,
	};
	/** The content in base64url; '' if Gmail returns it only for the attachment ID. */
	const data = part.body?.data ?? '';
	return { info, data };
}

const hasText = (text: string | undefined) => text !== undefined && /\S/.test(text);

/** Chooses the last plain text and the last HTML (RFC 2046, 5.1.4) that are not blank. */
function chooseText(alternatives: readonly PartText[]): PartText {
	const html = alternatives.findLast((text) => hasText(text.html))?.html;
	const plain = alternatives.findLast((text) => hasText(text.plain))?.plain;
	if (html === undefined) return { plain: plain ?? '' };
	// Some programs send HTML with a blank plain text, or with one that says little of what the
	// HTML says.
	if (plain === undefined || isPlaceholder(plain, html)) return { html };
	return { plain, html };
}

function textToHtml(text: string): string {
	const lines = text.trim();
	return lines === '' ? '' : `<div>${escapeHtml(lines).replaceAll(/\r\n?|\n/g, '<br>\n')}</div>`;
}

/** Joins the texts of parts that follow each other, such as a message and its footer. */
function joinTexts(parts: readonly PartText[]): PartText {
	const texts = parts.filter(({ plain, html }) => plain !== undefined || html !== undefined);
	const joined: { plain?: string; html?: string } = {};
	if (texts.some(({ plain }) => plain !== undefined))
		joined.plain = texts.map(({ plain, html = '' }) => plain ?? htmlToText(html)).join('\n');
	if (texts.some(({ html }) => html !== undefined))
		joined.html = texts.map(({ html, plain = '' }) => html ?? textToHtml(plain)).join('\n');
	return joined;
}

/**
 * Placeholders, such as "Your email program does not show HTML", and footers of mailing lists are
 * shorter than this.
 */
const maxPlaceholderCharacters = 2_000;
/** Of a shorter HTML, too little can be missing in the plain text to tell. */
const minMissingWords = 5;

/**
 * Whether a plain text says little of what the HTML says: more than half of the HTML's words are
 * missing in it.
 */
function isPlaceholder(plain: string, html: string): boolean {
	if (plain.length > maxPlaceholderCharacters) return false;
	const plainWords = findWords(plain);
	const htmlWords = findWords(htmlToText(html));
	const missingWords = Array.from(htmlWords).filter((word) => !plainWords.has(word));
	if (missingWords.length <= htmlWords.size / 2) return false;
	// Such as "Your email program does not show HTML".
	if (plainWords.has('html')) return true;
	return missingWords.length >= minMissingWords && htmlWords.size >= plainWords.size;
}

/**
 * Finds the different words of a text without its addresses. In scripts without spaces, each
 * character counts as a word.
 */
function findWords(text: string): Set<string> {
	const words = text
		.replaceAll(/\[[^\s[\]]*\]|(?<!\w)\w+:\/\/\S+/g, ' ')
		.toLowerCase()
		.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}]+/gu);
	return new Set(words);
}

/**
 * Finds the charset name in the header, or in the type that Gmail returns.
 * @returns '' if there is no name
 */
function findCharset(part: MimePart): string {
	const types = `${getRawHeader(part, 'Content-Type')};${part.mimeType ?? ''}`;
	return /\bcharset\*?\s*=\s*["']?(?:[\w-]*'[\w-]*')?([^\s"';]+)/i.exec(types)?.[1] ?? '';
}
