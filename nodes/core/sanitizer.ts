import type { IDataObject, Logger } from 'n8n-workflow';

import { type NodeError, onOneLine, shortened, statusName } from './errors';

interface Range {
	readonly start: number;
	readonly end: number;
}

/** A text as it is searched. For each of its UTF-16 units, it has the start and the end in the original text. */
interface View {
	readonly text: string;
	readonly starts: Uint32Array;
	readonly ends: Uint32Array;
}

/** One of the forms in which a secret is searched for, for example its base64. */
interface Needle {
	readonly text: string;
	/** Units per character of the secret. */
	readonly scale: number;
	/** Base64 or hex. What is encoded next to a secret reveals a little about its ends, so the whole word is masked. */
	readonly isEncoded: boolean;
}

/** A part of a needle, `pieceLength` units long, by which the needle is found. */
interface Piece {
	readonly needle: Needle;
	readonly at: number;
}

/** In characters. Anything shorter is not treated as a secret, because masking it would leave nothing of a text. */
const leastSecret = 4;
/** This many characters from anywhere in a secret are recognized anywhere in a text. */
const enough = 12;
/** This many of a secret's first characters are recognized where a word ends after them. */
const leastBeginning = 6;
/** This many of a secret's last characters are recognized where a word begins with them. */
const leastEnd = 8;
const pieceLength = 4;
/** Pieces begin this many units apart, so that whatever is long enough to be recognized contains a whole one. */
const pieceDistance = 9;

/**
 * Finds secrets and parts of them in a text. White space, invisible characters, the case of letters and escapes make no difference;
 * Base64 and hex, also of UTF-16, are found anywhere in other encoded data.
 */
class SecretSearch {
	readonly #secrets = new Set<string>();
	/** The number of secrets that are prepared. None is before the first text is searched, which saves time where no text is. */
	#prepared = 0;
	/** Secrets as they are, for those that consist of escapes and white space. */
	readonly #literals: string[] = [];
	readonly #pieces = new Map<string, Piece[]>();

	add(secret: string): void {
		this.#secrets.add(secret);
	}

	/** Replaces what reveals a secret. */
	masked(text: string): string {
		for (const secret of [...this.#secrets].slice(this.#prepared)) this.#prepare(secret);
		this.#prepared = this.#secrets.size;
		const literal = this.#literals.flatMap((form) => placesOf(form, text));
		const ranges = [...literal, ...this.#foundIn(visible(text), text)];
		const pieces: string[] = [];
		let done = 0;
		for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
			if (end <= done) continue;
			if (start >= done) pieces.push(text.slice(done, start), mask);
			done = end;
		}
		pieces.push(text.slice(done));
		return pieces.join('');
	}

	#prepare(secret: string): void {
		// Neither the frame of a PEM key nor the 0x of a hex number is secret.
		const body = secret.replaceAll(/-----(?:BEGIN|END) [A-Z ]+-----/g, '').trim();
		const digits = body.replace(/^0x/i, '');
		const part = digits.length < leastSecret ? body : digits;
		if (part.length < leastSecret) return;
		const literal = onOneLine(part).trim();
		if (literal.length >= leastSecret) this.#literals.push(literal);
		for (const needle of formsOf(part)) this.#addPieces(needle);
	}

	#addPieces(needle: Needle): void {
		const last = needle.text.length - pieceLength;
		for (let from = 0; from < last + pieceDistance; from += pieceDistance) {
			const at = Math.min(from, last);
			const text = needle.text.slice(at, at + pieceLength);
			const same = this.#pieces.get(text) ?? [];
			same.push({ needle, at });
			this.#pieces.set(text, same);
		}
	}

	#foundIn(view: View, source: string): Range[] {
		const found: Range[] = [];
		let foundUntil = 0;
		for (const [begin, start] of view.starts.entries()) {
			// A masked part is not searched again, because a secret that repeats itself would match at every place.
			if (start < foundUntil) continue;
			for (const piece of this.#pieces.get(view.text.slice(begin, begin + pieceLength)) ?? []) {
				const range = rangeAround(piece, begin, view, source);
				if (range === undefined) continue;
				found.push(range);
				foundUntil = Math.max(foundUntil, range.end);
			}
		}
		return found;
	}
}

function formsOf(part: string): Needle[] {
	const utf8 = Buffer.from(part);
	const plain = new Set([part, part.replaceAll(' ', '+'), utf8.toString('latin1')]);
	const encoded = [utf8, Buffer.from(part, 'utf16le')].flatMap((bytes) => [
		bytes.toString('hex'),
		...[0, 1, 2].map((offset) => base64Of(bytes, offset).toLowerCase()),
	]);
	return [
		...[...plain].map((form) => ({ text: visible(form).text, scale: 1, isEncoded: false })),
		...encoded.map((text) => ({ text, scale: text.length / part.length, isEncoded: true })),
	];
}

/** The base64 characters that do not depend on what precedes or follows. @param offset number of preceding bytes, modulo 3 */
function base64Of(bytes: Buffer, offset: number): string {
	const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
	return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function placesOf(literal: string, text: string): Range[] {
	const found: Range[] = [];
	for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + literal.length)) {
		found.push({ start: at, end: at + literal.length });
	}
	return found;
}

/** The range of everything that matches around a piece, if it is long enough to reveal something. */
function rangeAround({ needle, at }: Piece, begin: number, view: View, source: string): Range | undefined {
	const { text, scale, isEncoded } = needle;
	let before = 0;
	while (before < at && view.text[begin - before - 1] === text[at - before - 1]) before++;
	let after = 0;
	while (at + after < text.length && view.text[begin + after] === text[at + after]) after++;
	const start = view.starts[begin - before] ?? 0;
	const end = view.ends[begin + after - 1] ?? 0;
	const length = before + after;
	const isTold =
		length === text.length ||
		length >= enough * scale ||
		(before === at && length >= leastBeginning * scale && !isWordAt(source, end)) ||
		(at + after === text.length && length >= leastEnd * scale && !isWordAt(source, start - 1));
	if (!isTold) return undefined;
	return isEncoded ? wordAround(source, start, end) : { start, end };
}

const isWordAt = (text: string, at: number) => /[\p{L}\p{N}_-]/u.test(text.charAt(at));

function wordAround(text: string, from: number, to: number): Range {
	let [start, end] = [from, to];
	while (/[\w+/-]/.test(text.charAt(start - 1))) start--;
	while (/[\w+/=-]/.test(text.charAt(end))) end++;
	return { start, end };
}

/** Escapes of URLs, JSON and HTML, also where they were escaped again. A line break in JSON counts as white space. */
const escape =
	/%(?:25)*([0-9a-f]{2})|(?<!\\)\\+(?:u([0-9a-f]{4})|x([0-9a-f]{2})|[bfnrt])|&(?:amp;)*(?:#x([0-9a-f]{1,6});?|#(\d{1,7});?|(amp|lt|gt|quot|apos);)/iy;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** An escaped byte is one character, because a secret is also searched for in that form. */
function characterOf([, percent, u, x, hex, decimal, entity]: RegExpExecArray): string {
	if (entity !== undefined) return entities[entity.toLowerCase()] ?? '';
	const hexadecimal = percent ?? u ?? x ?? hex;
	const code = hexadecimal === undefined ? Number(decimal ?? 0x20) : parseInt(hexadecimal, 16);
	return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
}

/** The search ignores white space, characters without width, and the backslash that JSON puts before a character. */
const hidden = /[\s\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\\]/u;
/** What the search sees for each ASCII character; 0 if it ignores it. */
const folded = Uint8Array.from({ length: 128 }, (_, code) => {
	const character = String.fromCharCode(code).replace(hidden, '\0');
	return character.toLowerCase().replace('-', '+').replace('_', '/').charCodeAt(0);
});

/** More than one pass is needed for escapes of different kinds inside each other, such as JSON in a URL. */
const mostPasses = 3;

/** The text in lowercase, unescaped, without what the search ignores, and with base64url in the standard alphabet of base64. */
function visible(text: string): View {
	const starts = Uint32Array.from({ length: text.length }, (_, at) => at);
	let view: View = { text, starts, ends: starts.map((at) => at + 1) };
	for (let pass = 1; pass < mostPasses && /[%&\\]/.test(view.text); pass++) {
		view = unescaped(view, (code) => code);
	}
	return unescaped(view, (code) => folded[code] ?? (hidden.test(String.fromCharCode(code)) ? 0 : code));
}

/** @param keep returns the code that replaces a character; 0 drops it */
function unescaped({ text, starts, ends }: View, keep: (code: number) => number): View {
	// Unescaping never makes a text longer.
	const codes = new Uint16Array(text.length);
	const [newStarts, newEnds] = [new Uint32Array(text.length), new Uint32Array(text.length)];
	let length = 0;
	for (let at = 0, end = 0; at < text.length; at = end) {
		const unit = text.charAt(at);
		escape.lastIndex = at;
		const escaped = /[%&\\]/.test(unit) ? escape.exec(text) : null;
		end = at + (escaped?.[0].length ?? 1);
		for (const one of escaped ? characterOf(escaped).split('') : [unit]) {
			const kept = keep(one.charCodeAt(0));
			if (!kept) continue;
			codes[length] = kept;
			newStarts[length] = starts[at] ?? 0;
			newEnds[length++] = ends[end - 1] ?? 0;
		}
	}
	const seen = Buffer.from(codes.buffer, 0, length * 2).toString('utf16le');
	return { text: seen, starts: newStarts.subarray(0, length), ends: newEnds.subarray(0, length) };
}

/** Stands in a text in place of a secret. */
export const mask = '•••';

/** Masks what looks like anybody's secret: PEM keys, Google's tokens, JSON web tokens, passwords in addresses, values named as secrets. */
function withoutTokens(text: string): string {
	return text
		.replace(/-----BEGIN [A-Z ]{0,40}-----[\s\S]*?(?:-----END [A-Z ]{0,40}-----|$)/g, mask)
		.replace(/\b(?:ya29\.|1\/\/|GOCSPX-|AIza)[\w.\-/]{8,}/g, mask)
		.replace(/\beyJ[\w-]{4,}\.[\w-]*(?:\.[\w-]*)?/g, mask)
		.replace(
			/\b(Bearer|Basic|Digest)(\s+|%20|\+)(?=[^\s"'<>,;]*\d|[^\s"'<>,;]{16})[^\s"'<>,;]+/gi,
			`$1$2${mask}`,
		)
		.replace(/(\/\/)[^\s/@]*@/g, `$1${mask}@`)
		.replace(namedValue, `$1${mask}`);
}

const names =
	'x?[-_]?api[-_]?key|signature|user[-_]?public[-_]?key|client[-_]?secret|private[-_]?key|assertion|(?:access|refresh|id|auth)[-_]?token|password';
const namedValue = new RegExp(
	String.raw`((?:${names})(?:=|%3D|\\?["']\s{0,4}:\s{0,4}\\?["']))[^\s&"'\\]+`,
	'gi',
);

/** Limit for every text shown to people. Untrusted text is truncated before it is searched. */
const maxTextLength = 4000;
const maxMessageLength = 1000;

/** Makes any text that may contain untrusted content safe to show, store and log: shortened, on one line, without secrets. */
export class Sanitizer {
	readonly #search = new SecretSearch();

	/** @param secrets of the credentials in use */
	constructor(secrets: Iterable<string> = []) {
		this.learn(secrets);
	}

	/** Adds secrets, because a token changes when it is refreshed. */
	learn(secrets: Iterable<string>): void {
		for (const secret of secrets) this.#search.add(secret);
	}

	text(text: string, maxLength = maxTextLength): string {
		return this.#clean(onOneLine(shortened(text, maxLength)));
	}

	/** The failure without its cause, which is not sanitized. */
	error(failure: NodeError): NodeError {
		const { code, status, message, description, details } = failure;
		return failure.with({
			message: this.text(message, maxMessageLength),
			description: description === undefined ? undefined : this.text(description),
			status: /^[A-Z][A-Z0-9_]{0,49}$/.test(status) ? status : statusName(code),
			details: details && (this.#value(details) as IDataObject),
			cause: undefined,
		});
	}

	/** Data keeps its line breaks. */
	#value(value: unknown): unknown {
		if (typeof value === 'string') return this.#clean(value);
		if (typeof value !== 'object' || value === null) return value;
		if (Array.isArray(value)) return value.map((entry) => this.#value(entry));
		const entries = Object.entries(value).map(([key, entry]) => [this.#value(key), this.#value(entry)]);
		return Object.fromEntries(entries) as unknown;
	}

	#clean(text: string): string {
		return withoutTokens(this.#search.masked(text));
	}
}

type CleanLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** n8n's log, restricted to sanitized texts: none can forge another line or contain a secret. */
export function cleanLog(logger: CleanLog, sanitizer: Sanitizer): CleanLog {
	const clean = (level: keyof CleanLog) => (text: string) => {
		logger[level](sanitizer.text(text));
	};
	return { debug: clean('debug'), info: clean('info'), warn: clean('warn'), error: clean('error') };
}

/** Secret fields of this package's credentials, and of what n8n stores for a sign-in. */
const secretField =
	/^(accessToken|access_token|apiKey|clientSecret|id_token|privateKey|refresh_token|signature|userPublicKey)$/;

/** The secrets in a credential's decrypted data. */
export function secretsIn(credential: object): string[] {
	return Object.entries(credential).flatMap(([name, value]: [string, unknown]) => {
		if (typeof value === 'object' && value !== null) return secretsIn(value);
		return typeof value === 'string' && secretField.test(name) ? [value] : [];
	});
}
