import { createRefusal } from '../../../core/errors';
import { isSameIgnoringCase } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import { buildParagraph, cleanText, joinSpans } from '../../../untrusted/document/blocks';
import type { Block, DocumentContent, ParagraphBlock } from '../../../untrusted/document/blocks';
import { type HeadingLevel, headingLevels } from '../../../untrusted/document/elements';
import type { Item } from '../../operation';
import type { Change, DocumentTarget } from './changeDocument';
import * as places from './contentPlace';
import { type Layout, layOut, type PictureChoice } from './layout';
import { RequestBuilder } from './requestBuilder';
import { setLists, setStyles } from './styleRequests';
import type { BodyState } from './documentState';

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
	return { blocks, lists: [], simplified: [], hasImages: false };
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
	const { runInWorker } = await import('../../../untrusted/runInWorker');
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

/** Content for a place in a document. */
export interface ContentJob extends DocumentTarget {
	readonly section: string;
	readonly content: DocumentContent;
}

/** Finds where to write, and fits the content into the section there. */
export function fitIntoDocument(job: ContentJob, body: BodyState, mode: 'append' | 'replace') {
	const section = places.findSection(body, job.section);
	const { allTabs, chosenTab } = body;
	if (job.tab === '' && allTabs.length > 1)
		job.item.addHint(
			`The document has ${allTabs.length} tabs. Without ${quoteField('tab')}, the content goes to the first one: '${chosenTab.title}'.`,
		);
	return {
		oldElements: section.elements,
		place: places.findPlace(body.tabId, section, mode),
		content: fitIntoSection(job.content, section),
	};
}

/**
 * Lowers the headings of content to a level below the section's heading, so that all content
 * belongs to the section. Leaves out a first heading with the text of the section's heading if
 * content follows, because the next write would find two such headings.
 */
function fitIntoSection(
	content: DocumentContent,
	{ heading, level }: places.Section,
): DocumentContent {
	if (level === 0) return content;
	const [first, ...otherBlocks] = content.blocks;
	const firstHeading = first && isHeading(first) ? joinSpans(first.spans) : '';
	const isRepeated = isSameIgnoringCase(places.collapseBlanks(firstHeading), heading);
	const blocks = isRepeated && otherBlocks.length > 0 ? otherBlocks : content.blocks;
	return { ...content, blocks: lowerHeadings(blocks, level) };
}

/** Lowers all headings as far as the highest one needs to be below a heading of the given level. */
function lowerHeadings(blocks: readonly Block[], level: number): Block[] {
	let shift = 0;
	for (const block of blocks)
		if (isHeading(block)) shift = Math.max(shift, level + 1 - block.format);
	return blocks.map((block) => {
		if (!isHeading(block)) return block;
		const index = Math.min(block.format + shift, headingLevels.length) - 1;
		// Under a heading of level 6, headings become text.
		return { ...block, format: headingLevels[Math.max(index, level)] ?? 'text' };
	});
}

type Heading = ParagraphBlock & { readonly format: HeadingLevel };
const isHeading = (block: Block): block is Heading =>
	block.kind === 'paragraph' && typeof block.format === 'number';

export const isEmpty = ({ blocks }: DocumentContent) => blocks.length === 0;

const hasStyle = ({ format, quoteDepth, list }: ParagraphBlock) =>
	quoteDepth > 0 || list !== undefined || !['text', 'plain'].includes(String(format));

/**
 * Plans content after the text at a place. Without a new paragraph, plain text and an unstyled
 * first paragraph continue the last line.
 */
export function planAppend(
	content: DocumentContent,
	newParagraph: boolean,
	place: places.ContentPlace,
	isPicture: PictureChoice,
): Change {
	const [first] = content.blocks;
	const isUnstyled = first?.kind === 'paragraph' && !hasStyle(first);
	const blocks = [...content.blocks];
	// An empty first paragraph stands for the existing paragraph.
	if (!place.isParagraphEmpty && (newParagraph || !isUnstyled))
		blocks.unshift(buildParagraph([]));
	// Plain text keeps the look of the text before it. Only a new paragraph after a heading is
	// reset, because Google gives it the heading's style.
	const isAfterHeading = place.addedAt !== undefined || (newParagraph && place.isHeading);
	const keepsStyle = isUnstyled && first.format === 'plain' && !isAfterHeading;
	return planContent({ ...content, blocks }, { ...place, keepsStyle }, isPicture);
}

/**
 * Plans the requests in an order that keeps their indexes right: text, tables and pictures from
 * first to last, styles.
 */
export function planContent(
	content: DocumentContent,
	place: places.ContentPlace,
	isPicture: PictureChoice,
): Change {
	const { blocks, filler } = closeBlocks(content.blocks, place);
	const layout = layOut(blocks, place.index, isPicture);
	const end = layout.end - filler.length;
	const builder = new RequestBuilder(place.tabId);
	builder.delete({ start: place.index, end: place.deletedEnd });
	if (place.addedAt !== undefined) builder.insertText('\n', place.addedAt);
	builder.insertText(layout.text, place.index);
	insertTablesAndPictures(builder, layout);
	setStyles(builder, layout, place);
	setLists(builder, layout, content.lists);
	builder.delete({ start: end, end: layout.end });
	const text = buildStoredText(layout, filler);
	return {
		requests: builder.requests,
		text,
		growth: end - place.deletedEnd + Number(place.addedAt !== undefined),
		characterCount: text.length,
	};
}

function buildStoredText({ lines }: Layout, filler: string): string {
	const text = lines.map(({ spans }) => joinSpans(spans)).join('\n');
	return text.slice(0, text.length - filler.length);
}

/**
 * Lets the content begin with a paragraph, because Google inserts a newline before a table, and end
 * with one, as every segment does. The last newline of a segment cannot have a style, so an empty
 * last paragraph gets a filler, which is deleted once all styles are set.
 */
function closeBlocks(blocks: readonly Block[], { keepsStyle }: places.ContentPlace) {
	const closedBlocks = [...blocks];
	if (blocks[0]?.kind === 'table') closedBlocks.unshift(buildParagraph([]));
	let last = closedBlocks.at(-1);
	if (last?.kind !== 'paragraph') {
		last = buildParagraph([], 'plain');
		closedBlocks.push(last);
	}
	const isEmptyAtEnd = /(?:^|\n)$/.test(joinSpans(last.spans));
	const filler = isEmptyAtEnd && (!keepsStyle || last.format !== 'plain') ? '.' : '';
	const spans = [...last.spans, { text: filler, marks: {} }];
	return { blocks: closedBlocks.with(-1, { ...last, spans }), filler };
}

function insertTablesAndPictures(builder: RequestBuilder, { lines }: Layout): void {
	for (const { spans, start, isCell, newTable } of lines) {
		// Before the text of the first cell come a newline before the table, the table, its first
		// row and the cell itself.
		if (newTable) builder.insert('insertTable', start - 4, newTable);
		if (isCell) builder.insertText(joinSpans(spans), start);
		for (const { imageUrl: uri, start: index } of spans)
			if (uri !== undefined) builder.insert('insertInlineImage', index, { uri });
	}
}
