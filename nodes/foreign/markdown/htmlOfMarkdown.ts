import { randomBytes } from 'node:crypto';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** Where a link or a definition names an attached file. */
const cidLink = /(\]\(\s*<?|\]:\s*<?)cid:/gi;

/**
 * Markdown with GitHub's tables, strike-through and bare links as HTML. HTML inside it is shown as text. Links to attached files
 * (`cid:`) are kept; micromark, which drops all but a few protocols, takes them for relative ones meanwhile.
 */
export function htmlOfMarkdown(markdown: string): string {
	const placeholder = `cid${randomBytes(12).toString('hex')}/`;
	const relative = markdown.replaceAll(cidLink, (_all, before: string) => before + placeholder);
	const html = micromark(relative, { extensions: [gfm()], htmlExtensions: [gfmHtml()] });
	return html.replaceAll(placeholder, 'cid:');
}
