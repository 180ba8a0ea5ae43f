/**
 * A text as n8n's editor needs it. It shows hints, the description of an error and, in a toast, its message as HTML; what a
 * stranger wrote must not become a link or a picture there. The same texts stand elsewhere as they are, so `<` stays, and
 * a space without width keeps it from beginning a tag.
 */
export function forEditor(text: string): string {
	return text.replaceAll(/<(?=[a-z/!?])/gi, '<\u200b');
}
