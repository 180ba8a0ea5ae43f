import { createRefusal } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import {
	buildParagraph,
	cleanText,
	type DocumentContent,
} from '../../../../untrusted/document/blocks';
import type { Item } from '../../../operation';

interface ContentParams {
	readonly content: string;
	readonly contentFormat: 'text' | 'markdown';
	readonly insertImages: boolean;
}

/**
 * Parses content in its format, with a hint for plain text that looks like Markdown.
 * @throws NodeError 400 for Markdown that cannot be read
 */
export async function parseContent(
	{ content, contentFormat, insertImages }: ContentParams,
	item: Item,
): Promise<DocumentContent> {
	if (contentFormat === 'markdown')
		return await readMarkdown(content, 'content', insertImages, item);
	const text = cleanText(content);
	if (markdownSigns.some((sign) => sign.test(text)))
		item.addHint(
			`The content looks like Markdown, but was written as plain text. To format it, set ${quoteField('contentFormat')} to ${mentionChoice('contentFormat', 'markdown')}.`,
		);
	const blocks = text === '' ? [] : [buildParagraph([{ text, marks: {} }], 'plain')];
	return { blocks, listKinds: [], simplified: [], hasImages: false };
}

/**
 * Parses the Markdown of a field, with hints about what Docs shows differently.
 * @throws NodeError 400 if it cannot be read
 */
export async function readMarkdown(
	markdown: string,
	field: string,
	insertImages: boolean,
	item: Item,
) {
	const { runInWorker } = await import('../../../../untrusted/runInWorker');
	const answer = await runInWorker('markdownToBlocks', cleanText(markdown), item.signal);
	if ('problem' in answer)
		throw createRefusal(
			`${quoteField(field)} cannot be read as Markdown: ${answer.problem}`,
			'Nothing was written. Shorten or simplify it, or set its format to Text.',
		);
	// The task `markdownToBlocks` returns a `DocumentContent` as JSON.
	const content = JSON.parse(answer.result) as DocumentContent;
	if (content.simplified.length > 0)
		item.addHint(
			`Google Docs has no place for these parts of the Markdown, so they became text or were left out: ${content.simplified.join(', ')}.`,
		);
	if (content.hasImages && !insertImages)
		item.addHint(
			`Images in the Markdown became links. Turn on ${quoteField('insertImages')} to insert them.`,
		);
	return content;
}

/**
 * Signs of Markdown: a heading, a quote, code, bold text, a link, a task, a list of two items, or
 * the line below the header of a table.
 */
const markdownSigns = [
	/^#{1,6} \S/m,
	/^> \S/m,
	/^```|`[^`\n]+`/m,
	/\*\*[^\s*][^*\n]*\*\*/,
	/\[[^[\]\n]+\]\(https?:/,
	/^[-*] \[[ x]\] /m,
	/^ {0,3}(?:[-*+]|\d{1,9}[.)]) \S.*\n\s*(?:[-*+]|\d{1,9}[.)]) \S/m,
	/^\|?[ :]*-[ :-]*\|[ |:-]*$/m,
];

export const isEmpty = ({ blocks }: DocumentContent) => blocks.length === 0;
