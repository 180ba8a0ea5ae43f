import { htmlToText } from '../html/htmlToText';
import { decodeHeader, decodeText } from './charset';
import {
	type MimeContext,
	type MimePart,
	getMediaType,
	getRawHeader,
	isFile,
} from './mimeStructure';
import { type MailFile, readFile } from './readFile';

/** What an email says, and its files. */
interface MailContent {
	readonly text: string;
	readonly html: string;
	/** The texts of attached emails, each below the lines of its header. */
	readonly attachedTexts: string[];
	readonly files: MailFile[];
	readonly missingTextIds: string[];
}

export interface TextOptions {
	readonly withText: boolean;
	/** Texts that Gmail stores separately, in base64url, by attachment ID. */
	readonly separateTexts: Readonly<Record<string, string>>;
}

/** The text of a part in the formats that the part has. */
interface PartText {
	readonly plain?: string;
	readonly html?: string;
	/** Whether any of the plain text was converted from HTML. */
	readonly isConverted?: boolean;
}

/** Reads an email, or one that is attached to another. */
export function readContent(payload: MimePart, options: TextOptions): MailContent {
	const reader = new PartReader(options);
	const { plain, html = '' } = reader.read(payload, { multipartType: '', isAfterHtml: false });
	// An email has CRLF between lines; the output has LF.
	const text = (plain ?? htmlToText(html)).replaceAll(/\r\n?/g, '\n').trimEnd();
	const { attachedTexts, files, missingTextIds } = reader;
	return { text, html, attachedTexts, files, missingTextIds };
}

class PartReader {
	readonly attachedTexts: string[] = [];
	readonly files: MailFile[] = [];
	readonly missingTextIds: string[] = [];
	readonly #options: TextOptions;

	constructor(options: TextOptions) {
		this.#options = options;
	}

	read(part: MimePart, context: MimeContext): PartText {
		const type = getMediaType(part);
		const parts = part.parts ?? [];
		if (type.startsWith('multipart/') && parts.length > 0)
			return this.#readMultipart(type, parts);
		if (isFile(part, context)) {
			// Gmail gives some attached emails neither an ID nor bytes. Their texts and files are read below.
			const isElsewhere = Boolean(part.body?.attachmentId ?? part.body?.data);
			if (parts.length === 0 || isElsewhere)
				this.files.push(readFile(part, context.multipartType === 'multipart/related'));
			if (type === 'message/rfc822') for (const mail of parts) this.#readAttachedMail(mail);
			return {};
		}
		const isHtml = type === 'text/html';
		const text = this.#readText(part, isHtml);
		return isHtml ? { html: text } : { plain: text };
	}

	#readMultipart(type: string, parts: readonly MimePart[]): PartText {
		const isRelated = type === 'multipart/related';
		const texts: PartText[] = [];
		let isAfterHtml = false;
		for (const part of parts) {
			const text = this.read(part, { multipartType: type, isAfterHtml });
			if (text.plain !== undefined || text.html !== undefined) texts.push(text);
			isAfterHtml ||= isRelated && text.html !== undefined;
		}
		const hasAlternatives = type === 'multipart/alternative' || (isRelated && isOneText(texts));
		return hasAlternatives ? chooseText(texts) : joinTexts(texts);
	}

	#readText(part: MimePart, isHtml: boolean): string {
		if (!this.#options.withText) return '';
		const { data, attachmentId } = part.body ?? {};
		let content = data ?? '';
		if (content === '' && attachmentId) {
			const separateText = this.#options.separateTexts[attachmentId];
			if (separateText === undefined) this.missingTextIds.push(attachmentId);
			content = separateText ?? '';
		}
		const bytes = Buffer.from(content, 'base64url');
		const charset = findCharsetInType(part) || (isHtml ? findCharsetInHtml(bytes) : '');
		return decodeText(bytes, charset);
	}

	#readAttachedMail(mail: MimePart): void {
		const { text, attachedTexts, files, missingTextIds } = readContent(mail, this.#options);
		this.files.push(...files);
		this.missingTextIds.push(...missingTextIds);
		if (!this.#options.withText) return;
		const lines = ['---------- Attached email ---------'];
		for (const name of ['From', 'Date', 'Subject', 'To']) {
			const value = decodeHeader(getRawHeader(mail, name));
			if (value !== '') lines.push(`${name}: ${value}`);
		}
		this.attachedTexts.push(`${lines.join('\n')}\n\n${text}`.trimEnd(), ...attachedTexts);
	}
}

/** Some programs send plain text and HTML of the same text in a `multipart/related`, which is meant for HTML and its images. */
const isOneText = ([first, second, third]: readonly PartText[]) =>
	!first?.html && !second?.plain && !third;

/** Chooses the last plain text and the last HTML (RFC 2046, 5.1.4). Prefers text that was not converted from HTML, and any text to a blank one. */
function chooseText(alternatives: readonly PartText[]): PartText {
	const htmls = alternatives.map(({ html }) => html).filter((html) => html !== undefined);
	const html = htmls.findLast((text) => !isBlank(text)) ?? htmls.at(-1);
	const filled = alternatives.filter(({ plain }) => !isBlank(plain ?? ''));
	const best = filled.findLast(({ isConverted }) => !isConverted) ?? filled.at(-1);
	const plain = best?.plain;
	if (html === undefined || isBlank(html))
		return {
			plain: plain ?? alternatives.find((text) => text.plain !== undefined)?.plain,
			html,
		};
	// Some programs send HTML with a blank plain text, or with one that says little of what the HTML says.
	if (plain === undefined || isPlaceholder(plain, html)) return { html };
	return { plain, html, isConverted: best?.isConverted };
}

/** Joins the texts of parts that follow each other, such as a message and its footer. */
function joinTexts(parts: readonly PartText[]): PartText {
	const htmls = parts.map(({ html }) => html).filter((html) => html !== undefined);
	const html = htmls.length > 0 ? htmls.join('\n') : undefined;
	if (parts.every(({ plain }) => plain === undefined)) return { html };
	const plain = parts.map((part) => part.plain ?? htmlToText(part.html ?? '')).join('\n');
	const isConverted = parts.some((part) => part.isConverted ?? part.plain === undefined);
	return { plain, html, isConverted };
}

const isBlank = (text: string) => !/\S/.test(text);

/** Placeholders, such as "Your email program does not show HTML", and footers of mailing lists are shorter than this. */
const maxPlaceholderCharacters = 2_000;
/** Of a shorter HTML, too little can be missing in the plain text to tell. */
const minMissingWords = 5;

/** Whether a plain text says little of what the HTML says: more than half of the HTML's words are missing in it. */
function isPlaceholder(plain: string, html: string): boolean {
	if (plain.length > maxPlaceholderCharacters) return false;
	const plainWords = findWords(plain);
	const htmlWords = findWords(htmlToText(html));
	const missingWords = Array.from(htmlWords).filter((word) => !plainWords.has(word));
	if (missingWords.length <= htmlWords.size / 2) return false;
	if (plainWords.has('html')) return true;
	return missingWords.length >= minMissingWords && htmlWords.size >= plainWords.size;
}

/** Finds the different words of a text without its addresses. In scripts without spaces, each character counts as a word. */
function findWords(text: string): Set<string> {
	const words = text
		.replaceAll(/\[\S*\]|\w+:\/\/\S+/g, ' ')
		.toLowerCase()
		.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}]+/gu);
	return new Set(words);
}

/** Finds the charset name in the header, or in the type that Gmail returns (openclaw/gogcli#428). @returns '' if there is no name */
function findCharsetInType(part: MimePart): string {
	const types = `${getRawHeader(part, 'Content-Type')};${part.mimeType ?? ''}`;
	return /\bcharset\*?\s*=\s*["']?(?:[\w-]*'[\w-]*')?([^\s"';]+)/i.exec(types)?.[1] ?? '';
}

function findCharsetInHtml(bytes: Buffer): string {
	const start = bytes.toString('latin1', 0, 1024);
	return /<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(start)?.[1] ?? '';
}
