import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

import { BoundedMap } from '../../core/boundedMap';

/** Decodes text of any charset. An unknown name never loses any text. @param charset as the email names it; '' if it names none */
export function decodeText(bytes: Buffer, charset: string): string {
	const escape = findEscape(bytes, charset);
	if (escape === korean) return findDecoder('euc-kr').decode(decodeShifts(bytes));
	if (escape !== undefined) return findDecoder('iso-2022-jp').decode(bytes);
	const wide = findWideName(bytes, charset);
	if (wide === undefined && isMeantAsUtf8(bytes, charset))
		return bytes.toString('utf8').replace(/^\ufeff/, '');
	return findDecoder(wide ?? charset).decode(bytes);
}

/** A text with this many letters for each wrong byte is UTF-8 under the name of another charset: so many hardly come by chance. */
const lettersPerError = 4;

/**
 * Gmail returns most texts in UTF-8 under the name of their original charset, and senders use wrong names. A few wrong bytes, such as
 * where a program cut a letter, do not mean that the text is in another charset.
 */
function isMeantAsUtf8(bytes: Buffer, charset: string): boolean {
	if (isUtf8(bytes)) return true;
	const found = bytes.toString('utf8').replaceAll(/[\0-\u007f]/g, '');
	const letters = found.replaceAll('\ufffd', '').length;
	const errors = found.length - letters;
	if (/^utf[-_]?8/i.test(charset.trim())) return letters > 0 && letters >= errors;
	return letters > errors * (/^(?:(?:us-)?ascii)?$/i.test(charset.trim()) ? 1 : lettersPerError);
}

/** UTF-16 is recognized by its byte order mark or by the zeros in its ASCII characters. Text with neither was converted to UTF-8. */
function findWideName(bytes: Buffer, charset: string): string | undefined {
	const [first, second] = bytes;
	if (first === 0xff && second === 0xfe) return 'utf-16le';
	if (first === 0xfe && second === 0xff) return 'utf-16be';
	if (!/^(?:utf-?16|ucs-?2|unicode$|iso-10646-ucs-2)/i.test(charset)) return undefined;
	if (isUtf8(bytes) && !bytes.includes(0)) return undefined;
	return first === 0 || /be$/i.test(charset) ? 'utf-16be' : 'utf-16le';
}

/** The escape of ISO-2022-KR, which is rare but still sent (jhillyerd/enmime#36). */
const korean = '\u001b$)C';
const escapes = /\u001b(?:\$\)C|\$[@B(]|\([IJ])/;

/**
 * Charsets that write all letters in seven bits, recognized by their first escape. Such text is also valid UTF-8, so
 * only the escapes reveal it. Some senders name no charset, or ASCII (zammad/zammad#6144).
 */
function findEscape(bytes: Buffer, charset: string): string | undefined {
	if (!/^(?:iso-2022-|$|(?:us-)?ascii|utf-?8|iso-8859-1$)/i.test(charset)) return undefined;
	const text = bytes.includes(0x1b) ? bytes.toString('latin1') : '';
	return /[\u0080-\u00ff]/.test(text) ? undefined : escapes.exec(text)?.[0];
}

/** ISO-2022-KR as EUC-KR, which has the same letters with the eighth bit set (RFC 1557). Each line begins with letters of seven bits. */
function decodeShifts(bytes: Buffer): Buffer {
	const text = bytes
		.toString('latin1')
		.replaceAll(korean, '')
		.replaceAll(/\u000e([^\u000f\n]*)/g, (_shift, letters: string) =>
			letters.replaceAll(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) | 0x80)),
		)
		.replaceAll(/[\u000e\u000f]/g, '');
	return Buffer.from(text, 'latin1');
}

/** Decoders by charset name, of which emails can give any number. Making a decoder takes much longer than decoding a word of a header. */
const decoders = new BoundedMap<string, TextDecoder>(200);

function findDecoder(charset: string): TextDecoder {
	const name = charset.trim().toLowerCase().slice(0, 40);
	const decoder = decoders.get(name) ?? createDecoder(name);
	decoders.set(name, decoder);
	return decoder;
}

/** The charset for emails that name none or an unknown one, or that name UTF-8 but are not in UTF-8. */
const fallbackCharset = 'windows-1252';

/** Microsoft's code page numbers, which are missing from the names that `TextDecoder` knows. */
const codePages: Readonly<Record<string, string>> = {
	'874': 'windows-874',
	'932': 'shift_jis',
	'936': 'gbk',
	'949': 'euc-kr',
	'950': 'big5',
};

function createDecoder(name: string): TextDecoder {
	const page = /^(?:cp|ms|win|windows|ibm|dos|x-cp)[-_]?(\d+)$/.exec(name)?.[1];
	const names = page === undefined ? [] : [codePages[page] ?? `windows-${page}`];
	if (/^utf-?8$/.test(name)) names.push(fallbackCharset);
	for (const each of new Set([...names, name, name.replace(/^x-/, ''), name.replaceAll('_', '-')])) {
		try {
			return new TextDecoder(each);
		} catch {
			// Not a known name; perhaps the next one is.
		}
	}
	return new TextDecoder(fallbackCharset);
}

/** The bytes of a text in which some are escapes: `=E4` or `%E4`. */
export function unescapeBytes(text: string, sign: '=' | '%'): Buffer {
	const bytes = text.replaceAll(new RegExp(`${sign}([0-9A-F]{2})`, 'gi'), (_escape, hex: string) =>
		String.fromCharCode(Number.parseInt(hex, 16)),
	);
	return Buffer.from(bytes, 'latin1');
}

/** How many characters of a header value are read. */
export const maxHeaderCharacters = 10_000;

const word = /=\?([\w.:-]{1,40})(?:\*[\w-]+)?\?([BbQq])\?([^?\r\n]*)\?=/g;
/** White space between two encoded words is not part of the text. */
const words = new RegExp(`${word.source}(?:\\s*${word.source})*`, 'g');

/** Decodes encoded words (RFC 2047). Gmail decodes most headers itself; this handles what it leaves. */
export function decodeWords(value: string): string {
	if (!value.includes('=?')) return value;
	const read = value.slice(0, maxHeaderCharacters).replaceAll(words, (found) => {
		const runs: Array<{ readonly charset: string; readonly bytes: Buffer[] }> = [];
		for (const [, name = '', encoding = '', content = ''] of found.matchAll(word)) {
			const [charset, isBase64] = [name.toLowerCase(), encoding.toUpperCase() === 'B'];
			const bytes = isBase64
				? Buffer.from(content, 'base64')
				: unescapeBytes(content.replaceAll('_', ' '), '=');
			const last = runs.at(-1);
			// A multibyte letter may begin in one word and end in the next.
			if (last?.charset === charset) last.bytes.push(bytes);
			else runs.push({ charset, bytes: [bytes] });
		}
		return runs.map(({ charset, bytes }) => decodeText(Buffer.concat(bytes), charset)).join('');
	});
	return read + value.slice(maxHeaderCharacters);
}
