import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** For emails that name no charset, or an unknown one. */
const usual = 'windows-1252';

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
	return isUtf8(bytes) ? bytes.toString('utf8').replace(/^\ufeff/, '') : decoderOf(charset).decode(bytes);
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

/**
 * ISO-2022-KR as EUC-KR, which has the same letters with the eighth bit set (RFC 1557). Each line begins unshifted.
 */
function unshifted(bytes: Buffer): Buffer {
	const text = bytes
		.toString('latin1')
		.replaceAll(koreanMark, '')
		.replaceAll(/\u000e([^\u000f\n]*)/g, (_shift, letters: string) =>
			letters.replaceAll(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) | 0x80)),
		)
		.replaceAll(/[\u000e\u000f]/g, '');
	return Buffer.from(text, 'latin1');
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
	const names = page === undefined ? [] : [codePages[page] ?? `windows-${page}`];
	for (const each of new Set([...names, name, name.replace(/^x-/, ''), name.replaceAll('_', '-')])) {
		try {
			return new TextDecoder(each);
		} catch {
			// Not a known name; perhaps the next one is.
		}
	}
	return undefined;
}
