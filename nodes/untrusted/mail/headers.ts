import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodedText } from './charset';

/** Most characters of a header value that are read. */
export const longestHeader = 10_000;

/** Values of all headers with a name, ignoring case. */
export function headersOf({ payload }: gmail_v1.Schema$Message, name: string): string[] {
	const wanted = name.toLowerCase();
	return (payload?.headers ?? []).flatMap((header) =>
		header.name?.toLowerCase() === wanted ? [decodedWords(header.value ?? '')] : [],
	);
}

/** Value of the first header with a name, ignoring case. */
export function headerOf(message: gmail_v1.Schema$Message, name: string): string | undefined {
	return headersOf(message, name)[0];
}

const word = /=\?([\w.:-]{1,40})(?:\*[\w-]+)?\?([BbQq])\?([^?\r\n]*)\?=/;
/** White space between two encoded words is not part of the text. */
const words = new RegExp(`${word.source}(?:\\s*(?=${word.source}))?`, 'g');

/** Decodes encoded words (RFC 2047). Gmail decodes most headers itself; this handles what it leaves. */
export function decodedWords(value: string): string {
	if (!value.includes('=?')) return value;
	const read = value.slice(0, longestHeader);
	let text = '';
	let end = 0;
	let pending: Run | undefined;
	for (const match of read.matchAll(words)) {
		const [whole, charset = '', encoding = '', content = ''] = match;
		const bytes = encoding.toUpperCase() === 'B' ? Buffer.from(content, 'base64') : quoted(content);
		const joins = pending !== undefined && match.index === end && pending.charset === charset.toLowerCase();
		// A multibyte letter may begin in one word and end in the next.
		if (joins) pending?.bytes.push(bytes);
		else {
			text += flushed(pending) + value.slice(end, match.index);
			pending = { charset: charset.toLowerCase(), bytes: [bytes] };
		}
		end = match.index + whole.length;
	}
	return text + flushed(pending) + value.slice(end);
}

/** Adjacent encoded words of one charset. */
interface Run {
	readonly charset: string;
	readonly bytes: Buffer[];
}

function flushed(run: Run | undefined): string {
	return run === undefined ? '' : decodedText(Buffer.concat(run.bytes), run.charset);
}

function quoted(text: string): Buffer {
	const bytes = text
		.replaceAll('_', ' ')
		.replaceAll(/=([0-9A-Fa-f]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
	return Buffer.from(bytes, 'latin1');
}
