import { randomBytes } from 'node:crypto';
import type { RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** Parses GitHub Flavored Markdown. */
export function parseMarkdown(markdown: string): RootContent[] {
	const options = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };
	return fromMarkdown(markdown, options).children;
}

/** The beginning of a link or a definition up to the `cid:` of an attached file. */
const attachmentLinkStartPattern = /(\]\(\s*<?|\]:\s*<?)cid:/gi;

/** Keeps the line breaks in code blocks of list items, which micromark would leave out. */
const codeInLists: ReturnType<typeof gfmHtml> = {
	enter: {
		codeFencedFence() {
			this.setData('slurpAllLineEndings');
		},
	},
};

/** Converts GitHub Flavored Markdown to HTML. HTML in the Markdown becomes text. */
export function markdownToHtml(markdown: string): string {
	// Links to attached files (`cid:`) are relative links during the conversion, because micromark would remove their addresses.
	const placeholder = `cid${randomBytes(12).toString('hex')}/`;
	const source = markdown.replaceAll(attachmentLinkStartPattern, `$1${placeholder}`);
	const html = micromark(source, {
		extensions: [gfm()],
		htmlExtensions: [gfmHtml(), codeInLists],
	});
	return html.replaceAll(placeholder, 'cid:');
}
