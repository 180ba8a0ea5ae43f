import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** For emails that name no charset, or an unknown one. */
const usual = 'windows-1252';

/** Charset names that say little, because senders use them for text in any charset. */
const western =
	/^(?:(?:us-)?ascii|ansi|iso[-_]?8859[-_]1(?:5)?$|latin-?[19]$|(?:windows|cp|win)-?1252|utf-?8|unknown|x-unknown|8bit|binary|default|none)/i;

/**
 * Decodes text of any charset. An unknown name never loses any text.
 * @param charset as the email names it; '' if it names none
 */
export function decodedText(bytes: Buffer, charset: string): string {
	const other = wideName(bytes, charset) ?? escapedName(bytes, charset);
	if (other === 'iso-2022-kr') return decoderOf('euc-kr').decode(unshifted(bytes));
	if (other !== undefined) return decoderOf(other).decode(bytes);
	// Gmail returns most texts in UTF-8 but with the name of their original charset, and senders mislabel
	// theirs.
	if (!isUtf8(bytes)) return decoderOf(charset).decode(bytes);
	const text = bytes.toString('utf8');
	return ownReading(bytes, text, charset) ?? text.replace(/^\ufeff/, '');
}

/**
 * UTF-16 is recognized by its byte order mark or by the zeros in its ASCII characters. Text with neither was
 * converted to UTF-8.
 */
function wideName(bytes: Buffer, charset: string): string | undefined {
	const [first, second] = bytes;
	if (first === 0xff && second === 0xfe) return 'utf-16le';
	if (first === 0xfe && second === 0xff) return 'utf-16be';
	if (!/^(?:utf-?16|ucs-?2|unicode$|iso-10646-ucs-2)/i.test(charset)) return undefined;
	if (isUtf8(bytes) && !bytes.includes(0)) return undefined;
	return first === 0 || /be$/i.test(charset) ? 'utf-16be' : 'utf-16le';
}

/**
 * Charsets that write all letters in seven bits, recognized by their escapes. Such text is also valid UTF-8, so only
 * the escapes reveal it. Some senders name no charset, or ASCII (zammad/zammad#6144).
 */
function escapedName(bytes: Buffer, charset: string): string | undefined {
	if (!/^(?:iso-2022-|$|(?:us-)?ascii|utf-?8|iso-8859-1$)/i.test(charset)) return undefined;
	if (!bytes.includes(0x1b) || bytes.some((byte) => byte >= 0x80)) return undefined;
	// Rare, but still sent (jhillyerd/enmime#36).
	if (bytes.includes(koreanMark)) return 'iso-2022-kr';
	return ['$@', '$B', '$(', '(I', '(J'].some((escape) => bytes.includes(`\u001b${escape}`))
		? 'iso-2022-jp'
		: undefined;
}

const koreanMark = '\u001b$)C';

/** ISO-2022-KR as EUC-KR, which has the same letters with the eighth bit set (RFC 1557). */
function unshifted(bytes: Buffer): Buffer {
	const [shiftOut, shiftIn, lineFeed, space] = [0x0e, 0x0f, 0x0a, 0x20];
	const text = Buffer.allocUnsafe(bytes.length);
	let length = 0;
	let isShifted = false;
	for (let at = 0; at < bytes.length; at++) {
		const byte = bytes[at] ?? 0;
		if (byte === 0x1b && bytes.toString('latin1', at, at + koreanMark.length) === koreanMark) {
			at += koreanMark.length - 1;
		} else if (byte === shiftOut || byte === shiftIn) isShifted = byte === shiftOut;
		else {
			// Each line begins unshifted.
			if (byte === lineFeed) isShifted = false;
			text[length++] = isShifted && byte > space ? byte | 0x80 : byte;
		}
	}
	return text.subarray(0, length);
}

/**
 * The text in its own charset, if that is the better reading of bytes that are also valid UTF-8. A short text
 * can be both: 模 in GBK is ģ in UTF-8. Text that Gmail converted to UTF-8 has no letters that its charset
 * lacks.
 */
function ownReading(bytes: Buffer, utf8: string, charset: string): string | undefined {
	// Three-byte UTF-8 sequences hardly ever occur by chance, and signs such as © occur in emails of all
	// languages.
	if (western.test(charset) || !/[^\u0000-\u007f]/.test(utf8)) return undefined;
	if (/[\u0800-\uffff]|[^\p{L}\u0000-\u007f]/u.test(utf8)) return undefined;
	const decoder = knownDecoder(charset);
	if (!decoder || decoder.encoding === 'utf-8') return undefined;
	const own = decoder.decode(bytes);
	// When UTF-8 is read in another charset, letters of two scripts are adjacent, or there are signs among
	// them.
	if (/[^\p{L}\u0000-\u007f]|[A-Za-z][^\u0000-\u007f]|[^\u0000-\u007f][A-Za-z]/u.test(own)) return undefined;
	const letters = known.get(decoder.encoding) ?? lettersOf(decoder);
	known.set(decoder.encoding, letters);
	for (const letter of utf8) if (letter > '\u007f' && !letters.has(letter)) return own;
	return undefined;
}

/** Letters by encoding. Building a set takes milliseconds, and a header may have thousands of words. */
const known = new Map<string, Set<string>>();

/** All characters that a charset can encode with one or two bytes above ASCII. */
function lettersOf(decoder: TextDecoder): Set<string> {
	const isOneByte = decoder.decode(Buffer.from([0xc4, 0xe3])).length === 2;
	const bytes: number[] = [];
	for (let lead = 0x80; lead < 0xff; lead++) {
		if (isOneByte) bytes.push(lead);
		// The line break ends a lead byte without a trail byte.
		else for (let trail = 0x40; trail < 0xff; trail++) bytes.push(lead, trail, 0x0a);
	}
	return new Set(decoder.decode(Buffer.from(bytes)));
}

function decoderOf(charset: string): TextDecoder {
	return knownDecoder(/^utf-?8$/i.test(charset) ? usual : charset) ?? decoderOf(usual);
}

/** Microsoft's code page numbers, which are missing from the names that `TextDecoder` knows. */
const codePages: Readonly<Record<string, string>> = {
	'874': 'windows-874',
	'932': 'shift_jis',
	'936': 'gbk',
	'949': 'euc-kr',
	'950': 'big5',
};

/** By charset name. Making a decoder takes much longer than decoding a word of a header. */
const decoders = new Map<string, TextDecoder | undefined>();
/** Emails can name any number of charsets. */
const mostDecoders = 200;
const longestName = 40;

/** The decoder for a charset name as found in emails. */
function knownDecoder(charset: string): TextDecoder | undefined {
	const name = charset.trim().toLowerCase();
	if (name.length > longestName) return undefined;
	if (!decoders.has(name)) {
		if (decoders.size >= mostDecoders) decoders.clear();
		decoders.set(name, newDecoder(name));
	}
	return decoders.get(name);
}

function newDecoder(name: string): TextDecoder | undefined {
	const page = /^(?:cp|ms|win|windows|ibm|dos|x-cp)[-_]?(\d+)$/.exec(name)?.[1];
	const names = page === undefined ? [name] : [codePages[page] ?? `windows-${page}`, name];
	for (const each of [...names, name.replace(/^x-/, ''), name.replaceAll('_', '-')]) {
		try {
			return new TextDecoder(each);
		} catch {
			// Not a known name; perhaps the next one is.
		}
	}
	return undefined;
}
