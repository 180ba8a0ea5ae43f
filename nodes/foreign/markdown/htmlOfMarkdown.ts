import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** Markdown with GitHub's tables, strike-through and bare links as HTML. HTML inside it is shown as text. */
export function htmlOfMarkdown(markdown: string): string {
	return micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()] });
}
