import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

import { BoundedMap, getOrAdd } from '../../core/boundedMap';

/** Decodes text of any charset. Does not fail, whatever the name is. @param charset the name in the email; '' if the email has none */
export function decodeText(bytes: Buffer, charset: string): string {
	const escape = findEscape(bytes, charset);
	if (escape === koreanEscape) return getDecoder('euc-kr').decode(toEucKr(bytes));
	if (escape !== undefined) return getDecoder('iso-2022-jp').decode(bytes);
	const utf16Name = findUtf16Name(bytes, charset);
	if (utf16Name === undefined && isMeantAsUtf8(bytes, charset))
		return bytes.toString('utf8').replace(/^\ufeff/, '');
	return getDecoder(utf16Name ?? charset).decode(bytes);
}

/** A text with more valid non-ASCII letters per error is UTF-8, whatever its charset name is. In other charsets, hardly any are valid. */
const lettersPerError = 4;

/**
 * Whether a text is UTF-8, in spite of its charset name. Gmail returns most texts in UTF-8 with the name of their original charset, and
 * senders use wrong names. UTF-8 text may have a few wrong bytes, for example where a program cut a letter in two.
 */
function isMeantAsUtf8(bytes: Buffer, charset: string): boolean {
	if (isUtf8(bytes)) return true;
	const nonAscii = bytes.toString('utf8').replaceAll(/[\0-\u007f]/g, '');
	const letterCount = nonAscii.replaceAll('\ufffd', '').length;
	const errorCount = nonAscii.length - letterCount;
	if (/^utf[-_]?8/i.test(charset.trim())) return letterCount > 0 && letterCount >= errorCount;
	const isUnnamedOrAscii = /^(?:(?:us-)?ascii)?$/i.test(charset.trim());
	return letterCount > (isUnnamedOrAscii ? errorCount : errorCount * lettersPerError);
}

/** Recognizes UTF-16 by its byte order mark or its charset name. Gmail converts some texts to UTF-8 and keeps the name. Such a text is not UTF-16. */
function findUtf16Name(bytes: Buffer, charset: string): string | undefined {
	const [firstByte, secondByte] = bytes;
	if (firstByte === 0xff && secondByte === 0xfe) return 'utf-16le';
	if (firstByte === 0xfe && secondByte === 0xff) return 'utf-16be';
	if (!/^(?:utf-?16|ucs-?2|unicode$|iso-10646-ucs-2)/i.test(charset)) return undefined;
	if (isUtf8(bytes) && !bytes.includes(0)) return undefined;
	return firstByte === 0 || /be$/i.test(charset) ? 'utf-16be' : 'utf-16le';
}

/** The escape sequence of ISO-2022-KR, which some senders still use (jhillyerd/enmime#36). */
const koreanEscape = '\u001b$)C';
/** The escape sequences of ISO-2022-KR and ISO-2022-JP that select another set of letters than ASCII. */
const letterEscapePattern = /\u001b(?:\$\)C|\$[@B(]|\([IJ])/;

/**
 * Finds the first escape sequence of a charset that writes all letters in seven bits. Text in such a charset is also valid UTF-8, so only
 * its escape sequences reveal it. Some senders give no name for it, or the name ASCII (zammad/zammad#6144).
 */
function findEscape(bytes: Buffer, charset: string): string | undefined {
	if (!/^(?:iso-2022-|$|(?:us-)?ascii|utf-?8|iso-8859-1$)/i.test(charset)) return undefined;
	const text = bytes.includes(0x1b) ? bytes.toString('latin1') : '';
	return /[\u0080-\u00ff]/.test(text) ? undefined : letterEscapePattern.exec(text)?.[0];
}

/** Converts ISO-2022-KR to EUC-KR, which sets the eighth bit of Korean letters (RFC 1557). 0x0E begins them. 0x0F or a line's end ends them. */
function toEucKr(bytes: Buffer): Buffer {
	const text = bytes
		.toString('latin1')
		.replaceAll(koreanEscape, '')
		.replaceAll(/\u000e([^\u000f\n]*)/g, (_shift, letters: string) =>
			letters.replaceAll(/[!-~]/g, (letter) =>
				String.fromCharCode(letter.charCodeAt(0) | 0x80),
			),
		)
		.replaceAll(/[\u000e\u000f]/g, '');
	return Buffer.from(text, 'latin1');
}

/** Decoders by charset name, because creating a decoder takes much longer than decoding a word. Emails can have any number of names. */
const decoders = new BoundedMap<string, TextDecoder>(200);

function getDecoder(charset: string): TextDecoder {
	const name = charset.trim().toLowerCase().slice(0, 40);
	return getOrAdd(decoders, name, () => createDecoder(name));
}

/** The charset for a text whose charset name is missing, unknown, or UTF-8 although the text is not in UTF-8. */
const fallbackCharset = 'windows-1252';

/** Names for those of Microsoft's code pages that `TextDecoder` does not know by number. */
const codePages: Record<string, string> = {
	932: 'shift_jis',
	936: 'gbk',
	949: 'euc-kr',
	950: 'big5',
};

function createDecoder(name: string): TextDecoder {
	const codePage = /^(?:cp|ms|win|windows|ibm|dos|x-cp)[-_]?(\d+)$/.exec(name)?.[1];
	const names = codePage === undefined ? [] : [codePages[codePage] ?? `windows-${codePage}`];
	if (/^utf-?8$/.test(name)) names.push(fallbackCharset);
	for (const candidate of new Set([
		...names,
		name,
		name.replace(/^x-/, ''),
		name.replaceAll('_', '-'),
	])) {
		try {
			return new TextDecoder(candidate);
		} catch {
			// `TextDecoder` does not know this name, so the next name is tried.
		}
	}
	return new TextDecoder(fallbackCharset);
}

/** Converts a text to bytes. A byte is written as the character with its number, or as an escape sequence such as `=E4` or `%E4`. */
export function unescapeBytes(text: string, sign: '=' | '%'): Buffer {
	const bytes = text.replaceAll(
		new RegExp(`${sign}([0-9A-F]{2})`, 'gi'),
		(_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)),
	);
	return Buffer.from(bytes, 'latin1');
}

/** Only this many characters of a header value are decoded. */
export const maxHeaderCharacters = 10_000;
const encodedWordPattern = /=\?([\w.:-]{1,40})(?:\*[\w-]+)?\?([BbQq])\?([^?\r\n]*)\?=/g;
/** Adjacent encoded words with the white space between them, which is not part of the text. */
const wordsPattern = new RegExp(
	`${encodedWordPattern.source}(?:\\s*${encodedWordPattern.source})*`,
	'g',
);

/** Decodes the encoded words (RFC 2047) of a header value that Gmail has not decoded. */
export function decodeHeader(value: string): string {
	if (!value.includes('=?')) return value;
	const decodedStart = value
		.slice(0, maxHeaderCharacters)
		.replaceAll(wordsPattern, (encodedWords) => {
			const segments: Array<{ readonly charset: string; readonly bytes: Buffer[] }> = [];
			for (const [, name = '', encoding = '', content = ''] of encodedWords.matchAll(
				encodedWordPattern,
			)) {
				const charset = name.toLowerCase();
				const bytes =
					encoding.toUpperCase() === 'B'
						? Buffer.from(content, 'base64')
						: unescapeBytes(content.replaceAll('_', ' '), '=');
				const lastSegment = segments.at(-1);
				// A letter of several bytes may begin in one encoded word and end in the next.
				if (lastSegment?.charset === charset) lastSegment.bytes.push(bytes);
				else segments.push({ charset, bytes: [bytes] });
			}
			return segments
				.map(({ charset, bytes }) => decodeText(Buffer.concat(bytes), charset))
				.join('');
		});
	return decodedStart + value.slice(maxHeaderCharacters);
}
