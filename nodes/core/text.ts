/**
 * Shortens a text that comes from outside, for a message or a hint.
 * @param maxLength in UTF-16 units, without the ellipsis
 */
export function shorten(text: string, maxLength = 100): string {
	if (text.length <= maxLength) return text;
	return `${dropHalfCharacter(text.slice(0, maxLength))}…`;
}

/** Removes half of a surrogate pair, such as of an emoji, from the end of a text that was cut. */
export const dropHalfCharacter = (text: string) => text.replace(/[\ud800-\udbff]$/, '');

/** Replaces each half of a surrogate pair, which has no form in UTF-8. */
export const replaceHalfCharacters = (text: string) => text.replace(/\p{Surrogate}/gu, '\uFFFD');

/** Joins the lines of a text, and removes what else could forge a header. */
export const joinLines = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();

/** Builds an excerpt of a response: the beginning of its text on one line. A web page has none. */
export function buildExcerpt(text: string): string {
	const line = joinLines(text);
	return line.startsWith('<') ? '' : shorten(line, 300);
}

/** Adds a period, unless the text ends like a sentence. */
export const endSentence = (text: string): string => text.replace(/([^.!?…])$/, '$1.');

/** Joins sentences with spaces, and leaves out empty and missing texts. */
export const joinSentences = (...texts: ReadonlyArray<string | false | undefined>): string =>
	texts.filter(Boolean).join(' ');

/**
 * n8n's editor shows hints and errors as HTML, where a text from outside must not become a link or
 * a picture. A zero-width space after `<` prevents that. An HTML entity would be visible in all the
 * places that show the text as it is.
 */
export const escapeForEditor = (text: string) => text.replaceAll(/<(?=[a-z/!?])/gi, '<\u200b');

export const escapeHtml = (text: string) =>
	text
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;');

/**
 * Puts an untrusted text on one line, and removes what could forge a log line, reverse text or hide
 * a secret from the sanitizer.
 */
export function toSingleLine(text: string): string {
	const visibleText = text
		.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
		.replace(/[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]+/g, '');
	return replaceHalfCharacters(visibleText);
}

/**
 * Returns whether texts differ at most in case, which Google ignores in titles, names and labels,
 * and mail servers in addresses.
 */
export const isSameIgnoringCase = (text: string | null | undefined, otherText: string) =>
	text?.toLowerCase() === otherText.toLowerCase();

/** Compares by character codes. The first call of `localeCompare` would cost n8n's start 5 ms. */
export function compareNames(a: string, b: string): number {
	if (a === b) return 0;
	return a < b ? -1 : 1;
}

/**
 * Prints names for a message, in quotes and separated by commas: at most 20 names of 60 characters
 * each.
 */
export function listNames(names: readonly string[]): string {
	const quotedNames = names.slice(0, 20).map((name) => `'${shorten(name, 60)}'`);
	if (names.length > quotedNames.length)
		quotedNames.push(`${names.length - quotedNames.length} more`);
	return quotedNames.join(', ');
}
