import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

import { sevenBitText } from './sevenBit';

/** Of emails that name none, or one that nobody knows. */
const usual = 'windows-1252';

/** Charsets whose name says little: senders write them whatever the text is in. */
const western =
	/^(?:(?:us-)?ascii|ansi|iso[-_]?8859[-_]1(?:5)?$|latin-?[19]$|(?:windows|cp|win)-?1252|utf-?8|unknown|x-unknown|8bit|binary|default|none)/i;

/**
 * Text of any charset; nothing is ever thrown away for a name that nobody knows.
 * @param charset as the email names it; '' when it does not
 */
export function decodedText(bytes: Buffer, charset: string): string {
	const sevenBit = sevenBitText(bytes, charset);
	if (sevenBit !== undefined) return sevenBit;
	const wide = wideName(bytes, charset);
	if (wide !== undefined) return new TextDecoder(wide).decode(bytes);
	// Gmail hands over most texts in UTF-8 under the name of the charset that they were in, and senders mislabel theirs.
	if (!isUtf8(bytes)) return decoderOf(charset).decode(bytes);
	const text = bytes.toString('utf8');
	return ownReading(bytes, text, charset) ?? text.replace(/^\ufeff/, '');
}

/** UTF-16 shows by its mark, or by the zeros that its ASCII has; what has neither was changed to UTF-8. */
function wideName(bytes: Buffer, charset: string): string | undefined {
	const [first, second] = bytes;
	if (first === 0xff && second === 0xfe) return 'utf-16le';
	if (first === 0xfe && second === 0xff) return 'utf-16be';
	if (!/^(?:utf-?16|ucs-?2|unicode$|iso-10646-ucs-2)/i.test(charset)) return undefined;
	if (isUtf8(bytes) && !bytes.includes(0)) return undefined;
	return first === 0 || /be$/i.test(charset) ? 'utf-16be' : 'utf-16le';
}

/**
 * The text in its own charset, where that is the better reading of bytes that are UTF-8, too. A short text can be both: 模 in GBK is
 * ģ in UTF-8. What Gmail has changed to UTF-8 has no letters that its charset lacks.
 */
function ownReading(bytes: Buffer, utf8: string, charset: string): string | undefined {
	// Three bytes in a row that are UTF-8 are hardly ever chance, and signs such as © stand in emails of all languages.
	if (western.test(charset) || !/[^\u0000-\u007f]/.test(utf8)) return undefined;
	if (/[\u0800-\uffff]|[^\p{L}\u0000-\u007f]/u.test(utf8)) return undefined;
	const decoder = knownDecoder(charset);
	if (!decoder || decoder.encoding === 'utf-8') return undefined;
	const own = decoder.decode(bytes);
	// In UTF-8 read as something else, letters of two scripts stand next to each other, or there are signs among them.
	if (/[^\p{L}\u0000-\u007f]|[A-Za-z][^\u0000-\u007f]|[^\u0000-\u007f][A-Za-z]/u.test(own)) return undefined;
	const letters = known.get(decoder.encoding) ?? lettersOf(decoder);
	known.set(decoder.encoding, letters);
	return [...utf8.matchAll(/[^\u0000-\u007f]/gu)].every(([letter]) => letters.has(letter)) ? undefined : own;
}

/** By encoding. Making one takes milliseconds, and a header may have thousands of words. */
const known = new Map<string, Set<string>>();

/** All that a charset can write with one or two bytes above ASCII. */
function lettersOf(decoder: TextDecoder): Set<string> {
	const isOneByte = decoder.decode(Buffer.from([0xc4, 0xe3])).length === 2;
	const bytes: number[] = [];
	for (let lead = 0x80; lead < 0xff; lead++) {
		if (isOneByte) bytes.push(lead);
		// The line break ends a lead byte that stands alone.
		else for (let trail = 0x40; trail < 0xff; trail++) bytes.push(lead, trail, 0x0a);
	}
	return new Set(decoder.decode(Buffer.from(bytes)));
}

function decoderOf(charset: string): TextDecoder {
	return knownDecoder(/^utf-?8$/i.test(charset) ? usual : charset) ?? new TextDecoder(usual);
}

/** Microsoft's numbers, which Unicode's list of names lacks. */
const codePages: Readonly<Record<string, string>> = {
	'874': 'windows-874',
	'932': 'shift_jis',
	'936': 'gbk',
	'949': 'euc-kr',
	'950': 'big5',
};

/** The decoder of a name as emails have them. */
function knownDecoder(charset: string): TextDecoder | undefined {
	const name = charset.trim().toLowerCase();
	const page = /^(?:cp|ms|win|windows|ibm|dos|x-cp)[-_]?(\d+)$/.exec(name)?.[1];
	const names = page === undefined ? [name] : [codePages[page] ?? `windows-${page}`, name];
	for (const each of [...names, name.replace(/^x-/, ''), name.replaceAll('_', '-')]) {
		try {
			return new TextDecoder(each);
		} catch {
			// No such name; perhaps the next.
		}
	}
	return undefined;
}
