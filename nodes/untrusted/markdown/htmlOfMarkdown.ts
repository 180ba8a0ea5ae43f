import { randomBytes } from 'node:crypto';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** The place where a link or a definition names an attached file. */
const cidLink = /(\]\(\s*<?|\]:\s*<?)cid:/gi;

/**
 * Converts Markdown, including GitHub's tables, strikethrough and bare links, to HTML. HTML inside it is
 * shown as text. Links to attached files (`cid:`) are preserved: micromark drops all but a few protocols, so
 * meanwhile they are made to look relative.
 */
export function htmlOfMarkdown(markdown: string): string {
	const placeholder = `cid${randomBytes(12).toString('hex')}/`;
	const relative = markdown.replaceAll(cidLink, (_all, before: string) => before + placeholder);
	const html = micromark(relative, { extensions: [gfm()], htmlExtensions: [gfmHtml()] });
	return html.replaceAll(placeholder, 'cid:');
}
