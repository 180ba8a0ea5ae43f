import { randomBytes } from 'node:crypto';
import type { RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import type { Construct } from 'micromark-util-types';

/** A single tilde is text, as in `10~20`. */
const syntax = gfm({ singleTilde: false });

/** Parses GitHub Flavored Markdown. */
export function parseMarkdown(markdown: string): RootContent[] {
	const options = { extensions: [syntax], mdastExtensions: [gfmFromMarkdown()] };
	return fromMarkdown(markdown, options).children;
}

/** The beginning of a link or a definition up to the `cid:` of an attached file. */
const attachmentLinkStartPattern = /(\]\(\s*<?|\]:\s*<?)cid:/gi;

type HtmlExtension = ReturnType<typeof gfmHtml>;

/** A tag on a line of its own comes with the blanks around it. */
export const brTagPattern = /^\s*<br\s*\/?>\s*$/i;

/**
 * Line breaks are the only tags of the Markdown that stay tags: models write them, and a cell of a
 * table has no others.
 */
const writeTag: Required<HtmlExtension>['exit']['htmlTextData'] = function (token) {
	const tag = this.sliceSerialize(token);
	this.raw(brTagPattern.test(tag) ? '<br>' : this.encode(tag));
};

const htmlExtension: HtmlExtension = {
	enter: {
		/** Keeps the line breaks in code blocks of list items, which micromark would leave out. */
		codeFencedFence() {
			this.setData('slurpAllLineEndings');
		},
	},
	exit: {
		htmlFlowData: writeTag,
		htmlTextData: writeTag,
		hardBreakTrailing(token) {
			this.tag('<br>');
			this.raw(this.sliceSerialize(token));
		},
		/** The line ends behind it anyway. */
		hardBreakEscape() {},
	},
};

const lineBreak: Construct = {
	tokenize: (effects, ok) => (code) => {
		effects.enter('hardBreakTrailing');
		effects.consume(code);
		effects.exit('hardBreakTrailing');
		return ok;
	},
};

/** Makes each end of a line in a text a line break: micromark's codes of CR, LF and CR LF. */
const lineBreaks = { text: { [-5]: lineBreak, [-4]: lineBreak, [-3]: lineBreak } };

/**
 * Converts GitHub Flavored Markdown to the HTML of an email, which keeps the lines of its text.
 * HTML in the Markdown becomes text, except for line breaks.
 */
export function markdownToHtml(markdown: string): string {
	// Links to attached files (`cid:`) are relative links during the conversion, because micromark
	// would remove their addresses.
	const placeholder = `cid${randomBytes(12).toString('hex')}/`;
	const source = markdown.replaceAll(attachmentLinkStartPattern, `$1${placeholder}`);
	const html = micromark(source, {
		extensions: [syntax, lineBreaks],
		htmlExtensions: [gfmHtml(), htmlExtension],
	});
	// A tag at the end of a line breaks it only once.
	return html.replaceAll(/<br> *(?=<br>\s)/g, '').replaceAll(placeholder, 'cid:');
}
