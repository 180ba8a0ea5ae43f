import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

import { BoundedMap, getOrAdd } from '../../core/maps';

/**
 * Decodes text of any charset. Does not fail, whatever the name is.
 * @param charset the name in the email; '' if the email has none
 */
export function decodeText(bytes: Buffer, charset: string): string {
	const name = charset.trim().toLowerCase();
	const utf16 = findUtf16(bytes, name);
	if (utf16 !== undefined) return getDecoder(utf16).decode(bytes);
	if (isIso2022Jp(bytes, name)) return getDecoder('iso-2022-jp').decode(bytes);
	if (isMeantAsUtf8(bytes, name)) return bytes.toString('utf8').replace(/^\ufeff/, '');
	return getDecoder(name).decode(bytes);
}

/**
 * Recognizes UTF-16 by its byte order mark or its name. Gmail converts some texts to UTF-8 and
 * keeps the name. Such a text is not UTF-16.
 */
function findUtf16(bytes: Buffer, name: string): string | undefined {
	const mark = bytes.toString('latin1', 0, 2);
	if (mark === '\u00ff\u00fe') return 'utf-16le';
	if (mark === '\u00fe\u00ff') return 'utf-16be';
	if (!/^(?:utf-?16|ucs-?2|unicode$|iso-10646-ucs-2)/.test(name)) return undefined;
	if (isUtf8(bytes) && !bytes.includes(0)) return undefined;
	return bytes[0] === 0 || name.endsWith('be') ? 'utf-16be' : 'utf-16le';
}

/**
 * Recognizes ISO-2022-JP by its escape sequences, because its bytes are also valid UTF-8. Some
 * senders give no name for it (zammad/zammad#6144).
 */
const isIso2022Jp = (bytes: Buffer, name: string) =>
	/^(?:iso-2022-jp.*|(?:us-)?ascii|utf-?8)?$/.test(name) &&
	bytes.includes(0x1b) &&
	/^[\0-\u007f]*\u001b(?:\$[@B]|\([IJ])[\0-\u007f]*$/.test(bytes.toString('latin1'));

/**
 * A text with more valid non-ASCII letters per error is UTF-8, whatever its charset name is. In
 * other charsets, hardly any are valid.
 */
const lettersPerError = 4;

/**
 * Whether a text is UTF-8, in spite of its charset name. Gmail returns most texts in UTF-8 with the
 * name of their original charset, and senders use wrong names. UTF-8 text may have a few wrong
 * bytes, for example where a program cut a letter in two.
 */
function isMeantAsUtf8(bytes: Buffer, name: string): boolean {
	if (isUtf8(bytes)) return true;
	const nonAscii = bytes.toString('utf8').replaceAll(/[\0-\u007f]/g, '');
	const letterCount = nonAscii.replaceAll('\ufffd', '').length;
	const errorCount = nonAscii.length - letterCount;
	const isLikelyName = /^(?:utf[-_]?8.*|(?:us-)?ascii)?$/.test(name);
	return letterCount > 0 && letterCount >= errorCount * (isLikelyName ? 1 : lettersPerError);
}

/**
 * The charset for a text whose charset name is missing, unknown, or UTF-8 although the text is not
 * in UTF-8.
 */
const fallbackCharset = 'windows-1252';

/** Names for those of Microsoft's code pages that `TextDecoder` does not know by number. */
const codePages: Record<string, string> = {
	932: 'shift_jis',
	936: 'gbk',
	950: 'big5',
};

/**
 * Decoders by charset name, because creating a decoder takes much longer than decoding a word.
 * Emails can have any number of names.
 */
const decoders = new BoundedMap<string, TextDecoder>(200);

function getDecoder(name: string): TextDecoder {
	return getOrAdd(decoders, name, () => {
		const decoder = createDecoder(name);
		// Without it, Node 20 and some later versions take windows-1252 for ISO-8859-1:
		// nodejs/node#56542.
		decoder.decode(undefined, { stream: true });
		return decoder;
	});
}

function createDecoder(name: string): TextDecoder {
	const codePage = /^(?:cp|ms|win|windows)[-_]?(\d+)$/.exec(name)?.[1];
	const knownName =
		codePage === undefined ? name : (codePages[codePage] ?? `windows-${codePage}`);
	try {
		return new TextDecoder(/^utf-?8$/.test(name) ? fallbackCharset : knownName);
	} catch {
		return new TextDecoder(fallbackCharset);
	}
}

const encodedWordPattern = /=\?([\w.:-]{1,40})(?:\*[\w-]+)?\?([BbQq])\?([^?\r\n]*)\?=/g;
/** Adjacent encoded words with the white space between them, which is not part of the text. */
const wordsPattern = new RegExp(
	`${encodedWordPattern.source}(?:\\s*${encodedWordPattern.source})*`,
	'g',
);

/** Decodes the encoded words (RFC 2047) of a header value that Gmail has not decoded. */
export const decodeHeader = (value: string) =>
	value.replaceAll(wordsPattern, (words) => decodeWords(words));

function decodeWords(words: string): string {
	let text = '';
	let charset = '';
	let bytes = '';
	for (const [, name = '', encoding = '', content = ''] of words.matchAll(encodedWordPattern)) {
		// A letter of several bytes may begin in one encoded word and end in the next.
		if (name.toLowerCase() !== charset) {
			text += decodeText(Buffer.from(bytes, 'latin1'), charset);
			charset = name.toLowerCase();
			bytes = '';
		}
		if (encoding.toUpperCase() === 'B')
			bytes += Buffer.from(content, 'base64').toString('latin1');
		else bytes += unescapeBytes(content.replaceAll('_', ' '));
	}
	return text + decodeText(Buffer.from(bytes, 'latin1'), charset);
}

/**
 * Converts a text to bytes, each as the character with its number. An escape sequence such as `=E4`
 * also means a byte.
 */
const unescapeBytes = (text: string) =>
	text.replaceAll(/=([0-9A-F]{2})/gi, (_escape, hex: string) =>
		String.fromCharCode(Number.parseInt(hex, 16)),
	);
