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
