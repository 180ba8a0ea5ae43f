/**
 * A text of a stranger's making on one line: a line break would forge a line of a log, a direction character what is shown, and one
 * that nobody sees hides a secret from being found.
 */
export function onOneLine(text: string): string {
	return text
		.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
		.replace(/[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]+/g, '')
		.replace(/\p{Cs}/gu, '\uFFFD');
}
