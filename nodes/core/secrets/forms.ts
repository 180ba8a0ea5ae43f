import { onOneLine } from './oneLine';
import type { Range, View } from './unescaped';

/** A form in which a secret may occur in a text. */
export interface Needle {
	/** In lower case, except for base64. */
	readonly text: string;
	readonly isBase64: boolean;
	/** This many of its first characters are recognized at the end of a word or of the text. */
	readonly least: number;
	/** This many of its first characters are recognized anywhere. */
	readonly enough: number;
}

/**
 * In characters of the secret. Anything shorter than `leastSecret` is not treated as a secret, because
 * masking it would leave nothing of a text.
 */
const leastSecret = 4;
const leastPrefix = 6;
const enoughPrefix = 12;

/** A secret in plain form, in base64 at any offset of the encoded data, and in hex. */
export function needlesOf(secret: string): Needle[] {
	const parts = secret.includes('-----BEGIN') ? keyLines(secret) : [secret, secret.replace(/^0x/i, '')];
	return [...new Set(parts.map((part) => part.trim()))]
		.filter((part) => part.length >= leastSecret)
		.flatMap(formsOf);
}

/** A text may contain a part of a key file, so each line is searched for separately. */
function keyLines(key: string): string[] {
	return key.split(/\r?\n|\\n/).filter((line) => !line.startsWith('-----') && line.length > enoughPrefix);
}

function formsOf(part: string): Needle[] {
	const bytes = Buffer.from(part);
	const line = onOneLine(part);
	const plain = [line, bytes.toString('latin1'), line.replaceAll(' ', '+')].map(lowerCase);
	const base64 = [0, 1, 2].map((offset) => base64Of(bytes, offset));
	const needle = (text: string, isBase64: boolean): Needle => ({
		text,
		isBase64,
		least: Math.ceil((leastPrefix * text.length) / part.length),
		enough: Math.ceil((enoughPrefix * text.length) / part.length),
	});
	return [
		...[...new Set([...plain, bytes.toString('hex')])].map((text) => needle(text, false)),
		...[...new Set(base64)].map((text) => needle(text, true)),
	];
}

/**
 * The base64 characters that do not depend on what precedes or follows.
 * @param offset bytes before it, modulo 3
 */
function base64Of(bytes: Buffer, offset: number): string {
	const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
	const begin = Math.ceil((offset * 8) / 6);
	const end = Math.floor(((offset + bytes.length) * 8) / 6);
	return text.slice(begin, end);
}

/** Converts ASCII letters only, so that every character keeps its position. */
export function lowerCase(text: string): string {
	return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Positions of the needle, or of a truncated needle, in a view. */
export function placesOf(needle: Needle, view: View, prepared: string): Range[] {
	const { text, least, enough } = needle;
	const found: Range[] = [];
	const begin = text.slice(0, Math.min(least, text.length));
	for (let at = prepared.indexOf(begin); at !== -1; at = prepared.indexOf(begin, at + 1)) {
		let length = begin.length;
		while (length < text.length && prepared[at + length] === text[length]) length++;
		const isTold = length === text.length || length >= enough || endsAt(view.text, at + length);
		if (!isTold) continue;
		// Other data encoded with it reveals a little about its ends, so the whole word is masked.
		const [start, end] = needle.isBase64 ? wordAround(prepared, at, at + length) : [at, at + length];
		found.push({
			start: (view.places[start] ?? nowhere).start,
			end: (view.places[end - 1] ?? nowhere).end,
		});
		at = end - 1;
	}
	return found;
}

const nowhere: Range = { start: 0, end: 0 };

/** @param text in the standard base64 alphabet */
function wordAround(text: string, from: number, to: number): [number, number] {
	let [start, end] = [from, to];
	while (start > 0 && /[A-Za-z0-9+/]/.test(text.charAt(start - 1))) start--;
	while (end < text.length && /[A-Za-z0-9+/=]/.test(text.charAt(end))) end++;
	return [start, end];
}

/** Whether a word ends at this position. */
function endsAt(text: string, at: number): boolean {
	return at >= text.length || !/[\p{L}\p{N}_-]/u.test(text.slice(at, at + 1));
}
