import { decodeHTML } from 'entities/decode';

/** Invisible characters that senders use to pad the preview of an email. */
const padding = /[\s\u00ad\u034f\u200b-\u200d\u2060\ufeff]/;

/** Gmail's preview text, unescaped from HTML and without padding at either end. */
export function snippetText(snippet: string): string {
	const text = decodeHTML(snippet);
	let from = 0;
	let to = text.length;
	while (from < to && padding.test(text.charAt(from))) from++;
	while (to > from && padding.test(text.charAt(to - 1))) to--;
	return text.slice(from, to);
}
