import { toSingleLine } from './text';

/** Stands in a text in place of a secret. */
export const dots = '•••';

interface TextRange {
	readonly start: number;
	readonly end: number;
}

/** A text as it is searched. For each of its UTF-16 units, it has the start and the end in the original text. */
interface SearchableText {
	readonly text: string;
	readonly starts: Uint32Array;
	readonly ends: Uint32Array;
}

/** One of the forms in which a secret is searched for, for example its base64. */
interface Needle {
	readonly text: string;
	/** Units per character of the secret. */
	readonly scale: number;
	/** Base64 or hex. What is encoded next to a secret reveals a little about its ends, so the whole word is replaced. */
	readonly isEncoded: boolean;
}

/** A part of a needle, `pieceLength` units long, by which the needle is found. */
interface NeedlePiece {
	readonly needle: Needle;
	readonly offset: number;
}

/** In characters. Anything shorter is not treated as a secret, because replacing it would leave nothing of a text. */
const minSecretLength = 4;
/** This many characters from anywhere in a secret are recognized anywhere in a text. */
const minInnerLength = 12;
/** This many of a secret's first characters are recognized where a word ends after them. */
const minPrefixLength = 6;
/** This many of a secret's last characters are recognized where a word begins with them. */
const minSuffixLength = 8;
const pieceLength = 4;
/** Pieces begin this many units apart, so that whatever is long enough to be recognized contains a whole one. */
const pieceSpacing = 9;

/**
 * Finds secrets and parts of them in a text. White space, invisible characters, the case of letters and escapes make no difference;
 * Base64 and hex, also of UTF-16, are found anywhere in other encoded data.
 */
export class SecretSearch {
	readonly #secrets = new Set<string>();
	/** How many secrets are prepared. Preparing waits for the first text, which saves time if no text is searched. */
	#preparedCount = 0;
	/** Secrets that are searched for as they are, because they consist only of escapes and white space. */
	readonly #literals: string[] = [];
	readonly #piecesByText = new Map<string, NeedlePiece[]>();

	addSecret(secret: string): void {
		this.#secrets.add(secret);
	}

	/** Replaces what reveals a secret. */
	replaceSecrets(text: string): string {
		for (const secret of [...this.#secrets].slice(this.#preparedCount)) this.#prepareSecret(secret);
		this.#preparedCount = this.#secrets.size;
		const literal = this.#literals.flatMap((form) => findOccurrences(form, text));
		const ranges = [...literal, ...this.#findRanges(toSearchableText(text), text)];
		const pieces: string[] = [];
		let done = 0;
		for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
			if (end <= done) continue;
			if (start >= done) pieces.push(text.slice(done, start), dots);
			done = end;
		}
		pieces.push(text.slice(done));
		return pieces.join('');
	}

	#prepareSecret(secret: string): void {
		// Neither the frame of a PEM key nor the 0x of a hex number is secret.
		const body = secret.replaceAll(/-----(?:BEGIN|END) [A-Z ]+-----/g, '').trim();
		const digits = body.replace(/^0x/i, '');
		const part = digits.length < minSecretLength ? body : digits;
		if (part.length < minSecretLength) return;
		const literal = toSingleLine(part).trim();
		if (literal.length >= minSecretLength) this.#literals.push(literal);
		for (const needle of buildNeedles(part)) this.#addPieces(needle);
	}

	#addPieces(needle: Needle): void {
		const last = needle.text.length - pieceLength;
		for (let from = 0; from < last + pieceSpacing; from += pieceSpacing) {
			const offset = Math.min(from, last);
			const text = needle.text.slice(offset, offset + pieceLength);
			const same = this.#piecesByText.get(text) ?? [];
			same.push({ needle, offset });
			this.#piecesByText.set(text, same);
		}
	}

	#findRanges(view: SearchableText, source: string): TextRange[] {
		const found: TextRange[] = [];
		let foundUntil = 0;
		for (const [begin, start] of view.starts.entries()) {
			// A replaced part is not searched again, because a secret that repeats itself would match at every place.
			if (start < foundUntil) continue;
			for (const piece of this.#piecesByText.get(view.text.slice(begin, begin + pieceLength)) ?? []) {
				const range = findMatchAround(piece, begin, view, source);
				if (range === undefined) continue;
				found.push(range);
				foundUntil = Math.max(foundUntil, range.end);
			}
		}
		return found;
	}
}

function buildNeedles(part: string): Needle[] {
	const utf8 = Buffer.from(part);
	const plain = new Set([part, part.replaceAll(' ', '+'), utf8.toString('latin1')]);
	const encoded = [utf8, Buffer.from(part, 'utf16le')].flatMap((bytes) => [
		bytes.toString('hex'),
		...[0, 1, 2].map((offset) => encodeStableBase64(bytes, offset).toLowerCase()),
	]);
	return [
		...[...plain].map((form) => ({ text: toSearchableText(form).text, scale: 1, isEncoded: false })),
		...encoded.map((text) => ({ text, scale: text.length / part.length, isEncoded: true })),
	];
}

/** The base64 characters that do not depend on what precedes or follows. @param offset number of preceding bytes, modulo 3 */
function encodeStableBase64(bytes: Buffer, offset: number): string {
	const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
	return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function findOccurrences(literal: string, text: string): TextRange[] {
	const found: TextRange[] = [];
	for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + literal.length)) {
		found.push({ start: at, end: at + literal.length });
	}
	return found;
}

/** The range of everything that matches around a piece, if it is long enough to reveal something. */
function findMatchAround(
	{ needle, offset }: NeedlePiece,
	begin: number,
	view: SearchableText,
	source: string,
): TextRange | undefined {
	const { text, scale, isEncoded } = needle;
	let before = 0;
	while (before < offset && view.text[begin - before - 1] === text[offset - before - 1]) before++;
	let after = 0;
	while (offset + after < text.length && view.text[begin + after] === text[offset + after]) after++;
	const start = view.starts[begin - before] ?? 0;
	const end = view.ends[begin + after - 1] ?? 0;
	const length = before + after;
	const isRevealing =
		length === text.length ||
		length >= minInnerLength * scale ||
		(before === offset && length >= minPrefixLength * scale && !hasWordCharacterAt(source, end)) ||
		(offset + after === text.length &&
			length >= minSuffixLength * scale &&
			!hasWordCharacterAt(source, start - 1));
	if (!isRevealing) return undefined;
	return isEncoded ? expandToWord(source, start, end) : { start, end };
}

const hasWordCharacterAt = (text: string, at: number) => /[\p{L}\p{N}_-]/u.test(text.charAt(at));

function expandToWord(text: string, from: number, to: number): TextRange {
	let [start, end] = [from, to];
	while (/[\w+/-]/.test(text.charAt(start - 1))) start--;
	while (/[\w+/=-]/.test(text.charAt(end))) end++;
	return { start, end };
}

/** Escapes of URLs, JSON and HTML, also where they were escaped again. A line break in JSON counts as white space. */
const escapeSequence =
	/%(?:25)*([0-9a-f]{2})|(?<!\\)\\+(?:u([0-9a-f]{4})|x([0-9a-f]{2})|[bfnrt])|&(?:amp;)*(?:#x([0-9a-f]{1,6});?|#(\d{1,7});?|(amp|lt|gt|quot|apos);)/iy;
const htmlEntities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** An escaped byte is one character, because a secret is also searched for in that form. */
function decodeEscape([, percent, u, x, hex, decimal, entity]: RegExpExecArray): string {
	if (entity !== undefined) return htmlEntities[entity.toLowerCase()] ?? '';
	const hexadecimal = percent ?? u ?? x ?? hex;
	const code = hexadecimal === undefined ? Number(decimal ?? 0x20) : parseInt(hexadecimal, 16);
	return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
}

/** The search ignores white space, characters without width, and the backslash that JSON puts before a character. */
const ignoredCharacter = /[\s\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\\]/u;
/** What the search sees for each ASCII character; 0 if it ignores it. */
const foldedAscii = Uint8Array.from({ length: 128 }, (_, code) => {
	const character = String.fromCharCode(code).replace(ignoredCharacter, '\0');
	return character.toLowerCase().replace('-', '+').replace('_', '/').charCodeAt(0);
});

/** More than one pass is needed for escapes of different kinds inside each other, such as JSON in a URL. */
const maxUnescapePasses = 3;

/** The text in lowercase, unescaped, without what the search ignores, and with base64url in the standard alphabet of base64. */
function toSearchableText(text: string): SearchableText {
	const starts = Uint32Array.from({ length: text.length }, (_, at) => at);
	let view: SearchableText = { text, starts, ends: starts.map((at) => at + 1) };
	for (let pass = 1; pass < maxUnescapePasses && /[%&\\]/.test(view.text); pass++) {
		view = unescapeOnce(view, (code) => code);
	}
	return unescapeOnce(
		view,
		(code) => foldedAscii[code] ?? (ignoredCharacter.test(String.fromCharCode(code)) ? 0 : code),
	);
}

/** @param keep returns the code that replaces a character; 0 drops it */
function unescapeOnce(
	{ text, starts, ends }: SearchableText,
	keep: (code: number) => number,
): SearchableText {
	// Unescaping never makes a text longer.
	const codes = new Uint16Array(text.length);
	const [newStarts, newEnds] = [new Uint32Array(text.length), new Uint32Array(text.length)];
	let length = 0;
	for (let at = 0, end = 0; at < text.length; at = end) {
		const unit = text.charAt(at);
		escapeSequence.lastIndex = at;
		const escaped = /[%&\\]/.test(unit) ? escapeSequence.exec(text) : null;
		end = at + (escaped?.[0].length ?? 1);
		for (const one of escaped ? decodeEscape(escaped).split('') : [unit]) {
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
