import { decodeHTML } from 'entities/decode';

/** Invisible characters with which senders fill up the preview of a mail, at either end. */
const padding = /^[\s\u00ad\u034f\u200b-\u200d\u2060\ufeff]+|[\s\u00ad\u034f\u200b-\u200d\u2060\ufeff]+$/g;

/** Gmail's preview text, which is HTML-escaped and may be padded. */
export function snippetText(snippet: string): string {
	return decodeHTML(snippet).replaceAll(padding, '');
}
