import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** The byte order marks of UTF-16, as characters of Latin-1. */
const utf16Marks: Record<string, string> = {
	'\u00ff\u00fe': 'utf-16le',
	'\u00fe\u00ff': 'utf-16be',
};
/** Names that `TextDecoder` does not know. */
const otherNames: Record<string, string> = {
	cp932: 'shift_jis',
	cp936: 'gbk',
	cp949: 'euc-kr',
	cp950: 'big5',
};
/** The charset for a text whose charset name is missing or unknown, or UTF-8 although the text is not in UTF-8. */
const fallbackCharset = 'windows-1252';

/**
 * Decodes text of any charset. Gmail returns most texts in UTF-8 with the name of their original charset, and senders use wrong names. So the
 * bytes come before the name. @param charset the name in the email; '' if the email has none
 */
export function decodeText(bytes: Buffer, charset: string): string {
	if (isJapanese(bytes)) return new TextDecoder('iso-2022-jp').decode(bytes);
	const hasZeros = bytes.includes(0);
	if (isUtf8(bytes) && !hasZeros) return decodeUtf8(bytes);
	const mark = utf16Marks[bytes.toString('latin1', 0, 2)];
	const decoder = createDecoder(mark ?? charset.trim().toLowerCase());
	const isUtf16 = hasZeros && decoder.encoding.startsWith('utf-16');
	if (!isUtf16 && isMeantAsUtf8(bytes, decoder)) return decodeUtf8(bytes);
	return decoder.decode(bytes);
}

const decodeUtf8 = (bytes: Buffer) => bytes.toString('utf8').replace(/^\ufeff/, '');

function createDecoder(name: string): TextDecoder {
	try {
		return new TextDecoder(
			/^utf-?8$/.test(name) ? fallbackCharset : (otherNames[name] ?? name),
		);
	} catch {
		return new TextDecoder(fallbackCharset);
	}
}

/** Recognizes ISO-2022-JP by its escape sequences, because its bytes are also valid UTF-8. Some senders give no name for it (zammad/zammad#6144). */
const isJapanese = (bytes: Buffer) =>
	bytes.includes(0x1b) &&
	/^[\0-\u007f]*\u001b(?:\$[@B]|\([IJ])[\0-\u007f]*$/.test(bytes.toString('latin1'));

/** A text with more valid letters per error is UTF-8, although its charset has another name. In other charsets, hardly any letters are valid. */
const lettersPerError = 4;

/** UTF-8 may have a few wrong bytes, for example where a program cut a letter in two. */
function isMeantAsUtf8(bytes: Buffer, { encoding }: TextDecoder): boolean {
	const nonAscii = bytes.toString('utf8').replaceAll(/[\0-\u007f]/g, '');
	const letters = nonAscii.replaceAll('\ufffd', '');
	const errorCount = nonAscii.length - letters.length;
	const wantedCount = encoding === fallbackCharset ? errorCount : errorCount * lettersPerError;
	return letters !== '' && letters.length >= wantedCount;
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

/** Converts a text to bytes, each as the character with its number. An escape sequence such as `=E4` also means a byte. */
const unescapeBytes = (text: string) =>
	text.replaceAll(/=([0-9A-F]{2})/gi, (_escape, hex: string) =>
		String.fromCharCode(Number.parseInt(hex, 16)),
	);
