import { toSingleLine } from './text';

/** Stands in a text in place of a secret. */
export const secretMask = '•••';

/** In characters. A shorter secret is not searched, because that would leave nothing of a text. */
const minSecretLength = 4;
/**
 * In characters. From this length on, parts of a secret are searched, too: its beginning, because a
 * service may shorten what it repeats, and the lines of a key, because they may be repeated singly.
 */
const minPartLength = 12;
/**
 * No key is longer. Of a longer secret, only the beginning is searched, because a pattern cannot
 * have any length.
 */
const maxSecretLength = 4096;

/** Nobody sees these characters, so a secret with some of them inside can still be read. */
const invisiblePattern = /\p{Default_Ignorable_Code_Point}/gu;

/** Replaces what matches the pattern of secrets. */
export function replaceSecrets(text: string, pattern: RegExp): string {
	const visibleText = text.replaceAll(invisiblePattern, '');
	const cleanText = visibleText.replaceAll(pattern, secretMask);
	// Invisible characters that hide no secret stay, because they also join emojis.
	return cleanText === visibleText ? text : cleanText;
}

/**
 * Builds the pattern that finds secrets in a text: as they are, URL-encoded, in base64, in
 * hexadecimal and in JSON, without regard to case.
 */
export function buildSecretPattern(secrets: Iterable<string>): RegExp {
	const sources = new Set<string>();
	for (const secret of secrets) {
		const lines = secret.split(/\r?\n|\\n/).map((line) => line.trim());
		const longLines = lines.filter(
			(line) => line.length >= minPartLength && !line.startsWith('-----'),
		);
		for (const part of [secret, ...longLines])
			for (const source of buildSources(part)) sources.add(source);
	}
	// Where several forms match, the longest one is replaced. Without a secret, nothing matches.
	const longestFirst = [...sources].sort((a, b) => b.length - a.length);
	return new RegExp(longestFirst.join('|') || '(?!)', 'gi');
}

/**
 * Builds the patterns of each form that a secret may have in a text: whole, and its beginning with
 * what may follow, up to the place where it was cut off.
 */
function buildSources(secret: string): string[] {
	const visibleSecret = secret.replaceAll(invisiblePattern, '').trim();
	// The 0x of a hexadecimal number is not secret, and may be missing.
	const unprefixedSecret = visibleSecret.replace(/^0x/i, '');
	const wholeText = unprefixedSecret.length < minSecretLength ? visibleSecret : unprefixedSecret;
	const text = wholeText.slice(0, maxSecretLength);
	if (text.length < minSecretLength) return [];
	const bytes = Buffer.from(text);
	const base64Forms = [0, 1, 2].map((offset) => buildBase64Form(bytes, offset));
	const beginningLength = minPartLength - (visibleSecret.length - wholeText.length);
	return [text, escapeControls(text), bytes.toString('hex'), ...base64Forms].flatMap((form) => {
		const characters = Array.from(form.replaceAll(runPattern, '\n'));
		const sources = characters.map((character, index) =>
			buildCharacterSource(character, characters[index - 1]),
		);
		const source = sources.join('');
		if (sources.length <= beginningLength) return [source];
		return [source, `${sources.slice(0, beginningLength).join('')}[^\\s"'<>,;&]*`];
	});
}

/**
 * Builds the part of base64 that does not depend on the bytes around.
 * @param offset bytes before, modulo 3
 */
function buildBase64Form(bytes: Buffer, offset: number): string {
	const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
	const start = Math.ceil((offset * 8) / 6);
	const end = Math.floor(((offset + bytes.length) * 8) / 6);
	return text.slice(start, end);
}

/** Escapes control characters as in JSON. */
const escapeControls = (text: string) =>
	text.replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));

/**
 * Matches blanks, control characters and backslashes, of which a text may have more or fewer than
 * the secret.
 */
const runPattern = /[ \p{Cc}\\\u2028\u2029]+/gu;
const gapSource = String.raw`(?:[\s\0-\x1f\x7f-\x9f\\]|%(?:0[9ad]|20|5c))`;
const runSource = String.raw`(?:${gapSource}+|\+{1,9}(?!\+))`;

/**
 * Builds the pattern of a character in each notation: as it is, URL-encoded, and escaped as in
 * JSON. Services differ in what they escape. No text matches in two ways. Otherwise, all
 * combinations would be tried.
 * @param previous the character before, '\n' for a run
 */
function buildCharacterSource(character: string, previous: string | undefined): string {
	if (/[a-z\d]/i.test(character)) return character;
	// A match that could begin with a long run would be tried from each of its characters.
	if (character === '\n') return previous === undefined ? gapSource : runSource;
	const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16));
	const notations = new Set([
		Buffer.from(character).toString('hex').replaceAll(/../g, '%$&'),
		units.map((unit) => `\\u${unit.padStart(4, '0')}`).join(''),
		// A run includes the backslash.
		previous === '\n' ? character : `\\${character}`,
		toSingleLine(character),
		base64Substitutes[character] ?? character,
	]);
	return `(?:${Array.from(notations, escapePattern).join('|')})`;
}

/** Base64 has two alphabets. */
const base64Substitutes: Record<string, string> = { '+': '-', '/': '_' };

const escapePattern = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
