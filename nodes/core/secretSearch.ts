import { onOneLine } from './text';

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

/** A part of a text, in UTF-16 units. */
export interface Range {
	readonly start: number;
	readonly end: number;
}

/**
 * A text in some decoded form, and for each of its UTF-16 units the range of the original text that it came
 * from.
 */
export interface View {
	readonly text: string;
	readonly places: readonly Range[];
}

/** Limit for text that was escaped repeatedly. */
const maxLevels = 3;

const escape =
	/%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});?|&#(\d{1,7});?|&(amp|lt|gt|quot|apos);|\\(["'\\/])/gi;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * The text itself, then with its percent, JSON and HTML escapes decoded, and so on while there are escapes
 * left.
 */
export function viewsOf(text: string): View[] {
	let view: View = {
		text,
		places: Array.from({ length: text.length }, (_, at) => ({ start: at, end: at + 1 })),
	};
	const views = [view];
	for (let level = 1; level <= maxLevels; level++) {
		const next = unescaped(view);
		if (next.text === view.text) break;
		views.push(next);
		view = next;
	}
	return views;
}

function unescaped({ text, places }: View): View {
	const pieces: string[] = [];
	const all: Range[] = [];
	let done = 0;
	const keep = (end: number) => {
		pieces.push(text.slice(done, end));
		for (let at = done; at < end; at++) all.push(places[at] ?? noPlace);
		done = end;
	};
	for (const match of text.matchAll(escape)) {
		keep(match.index);
		const character = characterOf(match);
		const end = match.index + match[0].length;
		const range = { start: (places[done] ?? noPlace).start, end: (places[end - 1] ?? noPlace).end };
		pieces.push(character);
		for (let unit = 0; unit < character.length; unit++) all.push(range);
		done = end;
	}
	keep(text.length);
	return { text: pieces.join(''), places: all };
}

const noPlace: Range = { start: 0, end: 0 };

/** A percent-escaped byte is decoded as a single character, because needles also exist in that form. */
function characterOf([, percent, u, x, hex, decimal, entity = '', plain = '']: RegExpExecArray): string {
	const hexadecimal = percent ?? u ?? x ?? hex;
	const code = hexadecimal === undefined ? Number(decimal ?? NaN) : parseInt(hexadecimal, 16);
	if (Number.isNaN(code)) return entities[entity.toLowerCase()] ?? plain;
	return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
}
