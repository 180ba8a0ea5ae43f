import { toSingleLine } from './text';

/** Stands in a text in place of a secret. */
export const secretMask = '•••';

interface TextRange {
	readonly start: number;
	readonly end: number;
}

/** A view of a text for the search. Its UTF-16 unit at an index stands for the original text from `starts[index]` to `ends[index]`. */
interface SearchableText {
	readonly text: string;
	readonly starts: Uint32Array;
	readonly ends: Uint32Array;
}

interface Needle {
	readonly text: string;
	/** How many UTF-16 units of the needle stand for one character of the secret, such as 2 in hex. */
	readonly scale: number;
	/** Whether this is base64 or hex. Then the whole word is replaced, because the characters next to a match depend on the secret too. */
	readonly isEncoded: boolean;
}

/** The `pieceLength` units of a needle that begin at `offset`. A match is found by one of its pieces. */
interface NeedlePiece {
	readonly needle: Needle;
	readonly offset: number;
}

/** In characters. A shorter secret is not replaced, because that would leave nothing of a text. */
const minSecretLength = 4;
/** A part of a secret is recognized anywhere in a text if it has this many characters. */
const minInnerLength = 12;
/** The beginning of a secret is recognized if it has this many characters and a word ends after it. */
const minPrefixLength = 6;
/** The end of a secret is recognized if it has this many characters and a word begins with it. */
const minSuffixLength = 8;
const pieceLength = 4;
/** Pieces begin this many units apart, so that each part of `minInnerLength` units (9 + 4 - 1) contains a whole piece. */
const pieceSpacing = 9;

/**
 * Finds secrets and parts of them in a text, in these steps:
 * 1. Each secret becomes several needles: as it is, in base64 and in hex, even inside other encoded data.
 * 2. The text becomes a view: escapes are decoded, white space and invisible characters are dropped, and ASCII letters are in lower case.
 * 3. At each place of the view, the next few units are looked up among the pieces of all needles.
 * 4. The match of a piece is extended to both sides. It is replaced if it is a whole needle, or a part that is long enough.
 *
 * An example: the secret `café` is in the text as `caf%C3%A9`, and in the view as `cafÃ©`. One needle has the same form, because it is made
 * of the secret's UTF-8 bytes, read as Latin-1. Each secret is also looked for in the text as it is, as a literal.
 */
export class SecretSearch {
	readonly #secrets = new Set<string>();
	/** How many secrets have needles. These are built when the next text is searched. Often, no text is searched. */
	#preparedCount = 0;
	/** The secrets as they are. A secret that consists of escapes and white space has empty needles, so only its literal finds it. */
	readonly #literals: string[] = [];
	readonly #piecesByText = new Map<string, NeedlePiece[]>();

	addSecret(secret: string): void {
		this.#secrets.add(secret);
	}

	replaceSecrets(text: string): string {
		for (const secret of [...this.#secrets].slice(this.#preparedCount))
			this.#prepareSecret(secret);
		this.#preparedCount = this.#secrets.size;
		const literalRanges = this.#literals.flatMap((literal) => findOccurrences(literal, text));
		const ranges = [...literalRanges, ...this.#findRanges(toSearchableText(text), text)];
		const parts: string[] = [];
		let copiedLength = 0;
		for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
			// A range may lie in the one before it, or continue it.
			if (end <= copiedLength) continue;
			if (start >= copiedLength) parts.push(text.slice(copiedLength, start), secretMask);
			copiedLength = end;
		}
		parts.push(text.slice(copiedLength));
		return parts.join('');
	}

	#prepareSecret(secret: string): void {
		// Neither the first and last line of a PEM key nor the 0x of a hex number is secret.
		const body = secret.replaceAll(/-----(?:BEGIN|END) [A-Z ]+-----/g, '').trim();
		const withoutHexPrefix = body.replace(/^0x/i, '');
		const secretPart = withoutHexPrefix.length < minSecretLength ? body : withoutHexPrefix;
		if (secretPart.length < minSecretLength) return;
		const literal = toSingleLine(secretPart).trim();
		if (literal.length >= minSecretLength) this.#literals.push(literal);
		for (const needle of buildNeedles(secretPart)) this.#addPieces(needle);
	}

	#addPieces(needle: Needle): void {
		const lastOffset = needle.text.length - pieceLength;
		for (let start = 0; start < lastOffset + pieceSpacing; start += pieceSpacing) {
			const offset = Math.min(start, lastOffset);
			const text = needle.text.slice(offset, offset + pieceLength);
			const sameTextPieces = this.#piecesByText.get(text) ?? [];
			sameTextPieces.push({ needle, offset });
			this.#piecesByText.set(text, sameTextPieces);
		}
	}

	#findRanges(view: SearchableText, originalText: string): TextRange[] {
		const ranges: TextRange[] = [];
		let coveredUntil = 0;
		for (const [viewIndex, start] of view.starts.entries()) {
			// What a range covers is not searched again, because a secret that repeats itself would match at every place.
			if (start < coveredUntil) continue;
			for (const piece of this.#piecesByText.get(
				view.text.slice(viewIndex, viewIndex + pieceLength),
			) ?? []) {
				const range = findMatchAround(piece, viewIndex, view, originalText);
				if (range === undefined) continue;
				ranges.push(range);
				coveredUntil = Math.max(coveredUntil, range.end);
			}
		}
		return ranges;
	}
}

function buildNeedles(secretPart: string): Needle[] {
	const utf8 = Buffer.from(secretPart);
	const plainForms = new Set([
		secretPart,
		secretPart.replaceAll(' ', '+'),
		utf8.toString('latin1'),
	]);
	const encodedForms = [utf8, Buffer.from(secretPart, 'utf16le')].flatMap((bytes) => [
		bytes.toString('hex'),
		...[0, 1, 2].map((offset) => encodeStableBase64(bytes, offset).toLowerCase()),
	]);
	return [
		...[...plainForms].map((form) => ({
			text: toSearchableText(form).text,
			scale: 1,
			isEncoded: false,
		})),
		...encodedForms.map((text) => ({
			text,
			scale: text.length / secretPart.length,
			isEncoded: true,
		})),
	];
}

/** Returns the base64 characters that do not depend on the bytes around them. `offset` counts the bytes before them, modulo 3. */
function encodeStableBase64(bytes: Buffer, offset: number): string {
	const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
	return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function findOccurrences(literal: string, text: string): TextRange[] {
	const ranges: TextRange[] = [];
	for (
		let start = text.indexOf(literal);
		start !== -1;
		start = text.indexOf(literal, start + literal.length)
	)
		ranges.push({ start, end: start + literal.length });
	return ranges;
}

/** Extends the match of a piece to both sides. Returns the range if it is long enough to reveal something. */
function findMatchAround(
	{ needle, offset }: NeedlePiece,
	index: number,
	view: SearchableText,
	originalText: string,
): TextRange | undefined {
	const { text, scale, isEncoded } = needle;
	let headLength = 0;
	while (
		headLength < offset &&
		view.text[index - headLength - 1] === text[offset - headLength - 1]
	)
		headLength++;
	let tailLength = 0;
	while (
		offset + tailLength < text.length &&
		view.text[index + tailLength] === text[offset + tailLength]
	)
		tailLength++;
	const start = view.starts[index - headLength] ?? 0;
	const end = view.ends[index + tailLength - 1] ?? 0;
	const length = headLength + tailLength;
	const isPrefix = headLength === offset;
	const isSuffix = offset + tailLength === text.length;
	const isRevealing =
		(isPrefix && isSuffix) ||
		length >= minInnerLength * scale ||
		(isPrefix && length >= minPrefixLength * scale && !hasWordCharacterAt(originalText, end)) ||
		(isSuffix &&
			length >= minSuffixLength * scale &&
			!hasWordCharacterAt(originalText, start - 1));
	if (!isRevealing) return undefined;
	return isEncoded ? expandToWord(originalText, { start, end }) : { start, end };
}

const hasWordCharacterAt = (text: string, position: number) =>
	/[\p{L}\p{N}_-]/u.test(text.charAt(position));

function expandToWord(text: string, range: TextRange): TextRange {
	let { start, end } = range;
	while (/[\w+/-]/.test(text.charAt(start - 1))) start--;
	while (/[\w+/=-]/.test(text.charAt(end))) end++;
	return { start, end };
}

/** Matches an escape of URLs, JSON or HTML, even if it was escaped again. An escape such as `\n` counts as white space. */
const escapePattern = new RegExp(
	[
		// Each comment names the groups of its line. Named groups would make the search slower, because they are built for each match.
		String.raw`%(?:25)*([0-9a-f]{2})`, // percentHex
		String.raw`(?<!\\)\\+(?:u([0-9a-f]{4})|x([0-9a-f]{2})|[bfnrt])`, // unicodeHex, byteHex
		String.raw`&(?:amp;)*(?:#x([0-9a-f]{1,6});?|#(\d{1,7});?|(amp|lt|gt|quot|apos);)`, // htmlHex, decimal, name
	].join('|'),
	'iy',
);
const htmlEntities: Readonly<Record<string, string>> = {
	amp: '&',
	lt: '<',
	gt: '>',
	quot: '"',
	apos: "'",
};

/** Decodes an escape. A byte such as `%C3` becomes the Latin-1 character with this code. */
function decodeEscape([
	,
	percentHex,
	unicodeHex,
	byteHex,
	htmlHex,
	decimal,
	name,
]: RegExpExecArray): string {
	if (name !== undefined) return htmlEntities[name.toLowerCase()] ?? '';
	const hexCode = percentHex ?? unicodeHex ?? byteHex ?? htmlHex;
	const code = hexCode === undefined ? Number(decimal ?? 0x20) : parseInt(hexCode, 16);
	return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
}

/** The search ignores white space, characters without width, and the backslash that JSON puts before a character. */
const ignoredCharacterPattern = /[\s\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\\]/u;
/** The code that replaces each ASCII character in the search; 0 if the search ignores the character. */
const foldedAscii = Uint8Array.from({ length: 128 }, (_, code) => {
	const character = String.fromCharCode(code).replace(ignoredCharacterPattern, '\0');
	return character.toLowerCase().replace('-', '+').replace('_', '/').charCodeAt(0);
});

/** More than one pass is needed for escapes of different kinds inside each other, such as JSON in a URL. */
const maxUnescapePasses = 3;

/** Converts a text to lowercase without escapes, without what the search ignores, and with base64url in the alphabet of base64. */
function toSearchableText(text: string): SearchableText {
	const starts = Uint32Array.from({ length: text.length }, (_, index) => index);
	let view: SearchableText = { text, starts, ends: starts.map((index) => index + 1) };
	for (let pass = 1; pass < maxUnescapePasses && /[%&\\]/.test(view.text); pass++)
		view = unescapeAndFold(view, (code) => code);
	const isIgnored = (code: number) => ignoredCharacterPattern.test(String.fromCharCode(code));
	return unescapeAndFold(view, (code) => foldedAscii[code] ?? (isIgnored(code) ? 0 : code));
}

/** Removes one level of escapes. `foldCode` returns the code that replaces a character in the view, or 0 to drop it. */
function unescapeAndFold(
	{ text, starts, ends }: SearchableText,
	foldCode: (code: number) => number,
) {
	// Unescaping never makes a text longer.
	const codes = new Uint16Array(text.length);
	const newStarts = new Uint32Array(text.length);
	const newEnds = new Uint32Array(text.length);
	let length = 0;
	for (let position = 0, end = 0; position < text.length; position = end) {
		const unit = text.charAt(position);
		escapePattern.lastIndex = position;
		const escapeMatch = /[%&\\]/.test(unit) ? escapePattern.exec(text) : null;
		end = position + (escapeMatch?.[0].length ?? 1);
		for (const character of escapeMatch ? decodeEscape(escapeMatch).split('') : [unit]) {
			const foldedCode = foldCode(character.charCodeAt(0));
			if (!foldedCode) continue;
			codes[length] = foldedCode;
			newStarts[length] = starts[position] ?? 0;
			newEnds[length] = ends[end - 1] ?? 0;
			length++;
		}
	}
	const foldedText = Buffer.from(codes.buffer, 0, length * 2).toString('utf16le');
	return {
		text: foldedText,
		starts: newStarts.subarray(0, length),
		ends: newEnds.subarray(0, length),
	};
}
