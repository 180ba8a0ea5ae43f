/** The forms that a body is sent in; a mail program shows the best that it can. */
export interface Bodies {
	readonly text: string;
	readonly html?: string;
}

/** HTML never goes out without a text beside it; the text of a Markdown body is the Markdown itself. */
export async function bodiesOf(body: string, format: 'text' | 'html' | 'markdown'): Promise<Bodies> {
	if (format === 'text') return { text: body };
	if (format === 'markdown') {
		const { htmlOfMarkdown } = await import('./markdownHtml');
		return { text: body, html: htmlOfMarkdown(body) };
	}
	const { textOfHtml } = await import('./htmlText');
	return { text: textOfHtml(body), html: body };
}
