import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

import { BoundedMap, getOrAdd } from '../../core/boundedMap';

/** Decodes text of any charset. Does not fail, whatever the name is. @param charset the name in the email; '' if the email has none */
export function decodeText(bytes: Buffer, charset: string): string {
	const isJapanese = /^[\0-\u007f]*?\u001b\$[@B]/.test(bytes.toString('latin1'));
	// Some senders give no name for ISO-2022-JP, or a wrong one (zammad/zammad#6144).
	const name = isJapanese ? 'iso-2022-jp' : charset.trim().toLowerCase();
	// Gmail converts some texts to UTF-8 and keeps the name. Such a text has no bytes that only these charsets need.
	const isOwn = asciiCharsetPattern.test(name) && (bytes.includes(0) || bytes.includes(0x1b));
	if (!isOwn && isMeantAsUtf8(bytes, name)) return bytes.toString('utf8').replace(/^\ufeff/, '');
	return getDecoder(name).decode(bytes);
}

/** Charsets in which the bytes of ASCII also stand for other letters, so that a text may look like UTF-8. */
const asciiCharsetPattern = /^(?:utf-16|ucs-2|unicode|iso-10646-ucs-2|iso-2022)/;

/** A text with more valid non-ASCII letters per error is UTF-8, whatever its charset name is. In other charsets, hardly any are valid. */
const lettersPerError = 4;

/**
 * Whether a text is UTF-8, in spite of its charset name. Gmail returns most texts in UTF-8 with the name of their original charset, and
 * senders use wrong names. UTF-8 text may have a few wrong bytes, for example where a program cut a letter in two.
 */
function isMeantAsUtf8(bytes: Buffer, name: string): boolean {
	if (isUtf8(bytes)) return true;
	const nonAscii = bytes.toString('utf8').replaceAll(/[\0-\u007f]/g, '');
	const letterCount = nonAscii.replaceAll('\ufffd', '').length;
	const errorCount = nonAscii.length - letterCount;
	const isLikelyName = /^(?:utf[-_]?8.*|(?:us-)?ascii)?$/.test(name);
	return letterCount > 0 && letterCount >= errorCount * (isLikelyName ? 1 : lettersPerError);
}

/** The charset for a text whose charset name is missing, unknown, or UTF-8 although the text is not in UTF-8. */
const fallbackCharset = 'windows-1252';

/** Decoders by charset name, because creating a decoder takes much longer than decoding a word. Emails can have any number of names. */
const decoders = new BoundedMap<string, TextDecoder>(200);

const getDecoder = (name: string) => getOrAdd(decoders, name, () => createDecoder(name));

function createDecoder(name: string): TextDecoder {
	try {
		return new TextDecoder(/^utf-?8$/.test(name) ? fallbackCharset : name);
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
		const isBase64 = encoding.toUpperCase() === 'B';
		bytes += isBase64
			? Buffer.from(content, 'base64').toString('latin1')
			: unescapeBytes(content);
	}
	return text + decodeText(Buffer.from(bytes, 'latin1'), charset);
}

/** Converts a text to bytes, each as the character with its number. `_` means a space, and an escape sequence such as `=E4` a byte. */
const unescapeBytes = (text: string) =>
	text
		.replaceAll('_', ' ')
		.replaceAll(/=([0-9A-F]{2})/gi, (_escape, hex: string) =>
			String.fromCharCode(Number.parseInt(hex, 16)),
		);
