/** The beginning of a text that comes from outside, for a message or a hint. @param length in UTF-16 units */
export function shortened(text: string, length = 100): string {
	if (text.length <= length) return text;
	// Half a pair is no character.
	return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}

/**
 * A text as n8n's editor needs it. It shows hints, the description of an error and, in a toast, its message as HTML; what a
 * stranger wrote must not become a link or a picture there. The same texts stand elsewhere as they are, so `<` stays, and
 * a space without width keeps it from beginning a tag.
 */
export function forEditor(text: string): string {
	return text.replaceAll(/<(?=[a-z/!?])/gi, '<\u200b');
}

/**
 * An untrusted text on one line: a line break could forge a log line, a direction character could change what is shown, and an
 * invisible character could hide a secret from the search.
 */
export function onOneLine(text: string): string {
	return text
		.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
		.replace(/[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]+/g, '')
		.replace(/\p{Cs}/gu, '\uFFFD');
}
