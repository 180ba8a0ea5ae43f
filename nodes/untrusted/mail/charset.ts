import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

import { BoundedMap, getOrAdd } from '../../core/maps';

/**
 * Decodes text of any charset. Does not fail, whatever the name is.
 * @param charset the name in the email; '' if the email has none
 */
export function decodeText(bytes: Buffer, charset: string): string {
	const name = charset.trim().toLowerCase();
	// Gmail returns most texts in UTF-8 with the name of their original charset.
	if (isUtf8(bytes) && !isInOriginalCharset(bytes, name)) return decodeUtf8(bytes);
	// Programs that do not know the charset of a text call it ASCII.
	if (!/^(?:utf-?8|(?:us-)?ascii)?$/.test(name)) return getDecoder(name).decode(bytes);
	return isMostlyUtf8(bytes) ? decodeUtf8(bytes) : getDecoder(fallbackCharset).decode(bytes);
}

const decodeUtf8 = (bytes: Buffer) => bytes.toString('utf8').replace(/^\ufeff/, '');

/** Recognizes ISO-2022 and UTF-16, whose bytes may also be valid UTF-8. */
const isInOriginalCharset = (bytes: Buffer, name: string) =>
	/^(?:iso-2022|utf-16)/.test(name) && (bytes.includes(0x1b) || bytes.includes(0));

/**
 * Whether a text has at least as many letters in UTF-8 as wrong bytes, such as those of a letter
 * that a program cut in two. Latin-1 that is named UTF-8 has hardly any such letters.
 */
function isMostlyUtf8(bytes: Buffer): boolean {
	const nonAscii = bytes.toString('utf8').replaceAll(/[\0-\u007f]/g, '');
	return nonAscii.replaceAll('\ufffd', '').length >= nonAscii.length / 2;
}

/** For a text whose charset name is missing, unknown or wrong. */
const fallbackCharset = 'windows-1252';

/** Decoders by charset name, because creating one takes much longer than decoding a word. */
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
	try {
		return new TextDecoder(name);
	} catch {
		return new TextDecoder(fallbackCharset);
	}
}

/** An encoded word, and the white space up to the next one, which is not part of the text. */
const encodedWordPattern =
	/=\?([\w.:-]{1,40})(?:\*[\w-]+)?\?([bq])\?([^?\r\n]*)\?=(?:\s+(?==\?))?/gi;

/** Decodes the encoded words (RFC 2047) of a header value that Gmail has not decoded. */
export const decodeHeader = (value: string) =>
	value.replaceAll(
		encodedWordPattern,
		(_word, charset: string, encoding: string, content: string) => {
			const bytes = /b/i.test(encoding)
				? Buffer.from(content, 'base64')
				: unescapeBytes(content.replaceAll('_', ' '));
			return decodeText(bytes, charset);
		},
	);

/** Converts a text to bytes. An escape sequence such as `=E4` means the byte with this number. */
const unescapeBytes = (text: string) =>
	Buffer.from(
		text.replaceAll(/=([0-9A-F]{2})/gi, (_escape, hex: string) =>
			String.fromCharCode(Number.parseInt(hex, 16)),
		),
		'latin1',
	);
