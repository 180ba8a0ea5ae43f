import { createRefusal } from '../../../core/errors';
import { isSameIgnoringCase } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import {
	buildParagraph,
	cleanText,
	joinSpans,
	type Span,
} from '../../../untrusted/document/blocks';
import type { Block, DocumentContent, ParagraphBlock } from '../../../untrusted/document/blocks';
import type { Item } from '../../operation';
import { type ContentPlace, collapseBlanks, type Section } from './contentPlace';
import { layOut, placeSpans, type PlacedTable } from './layout';
import { RequestBuilder } from './requestBuilder';
import type { Change } from './revisionGuard';
import { hasStyle, setLists, setStyles, type StyleChoice } from './styleRequests';

interface ContentParams {
	readonly content: string;
	readonly contentFormat: 'text' | 'markdown';
	readonly insertImages: boolean;
}

export interface Content extends DocumentContent {
	/** Whether images become pictures. Otherwise they are links. */
	readonly insertImages: boolean;
}

/** Adds a hint for plain text that looks like Markdown. @throws NodeError 400 for Markdown that cannot be read */
export async function parseContent(
	{ content, contentFormat, insertImages }: ContentParams,
	item: Item,
): Promise<Content> {
	if (contentFormat === 'markdown')
		return await readMarkdown(content, 'content', insertImages, item);
	const text = cleanText(content);
	if (markdownSigns.some((sign) => sign.test(text)))
		item.addHint(
			`The content looks like Markdown, but was written as plain text. To format it, set ${quoteField('contentFormat')} to ${mentionChoice('contentFormat', 'markdown')}.`,
		);
	const blocks = text === '' ? [] : [buildParagraph([{ text, marks: {} }], 'plain')];
	return { blocks, lists: [], simplified: [], hasImages: false, insertImages };
}

/** Parses the Markdown of a field, with hints about what Docs shows differently. @throws NodeError 400 if it cannot be read */
export async function readMarkdown(
	markdown: string,
	field: string,
	insertImages: boolean,
	item: Item,
): Promise<Content> {
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
	return { ...content, insertImages };
}

/** Signs of Markdown: a heading, a quote, code, bold text, a link, a task, a list of two items, or the line below the header of a table. */
const markdownSigns = [
	/^#{1,6} \S/m,
	/^> \S/m,
	/^```|`[^`\n]+`/m,
	/\*\*[^\s*][^*\n]*\*\*/,
	/\[[^[\]\n]+\]\(https?:/,
	/^[-*] \[[ x]\] /m,
	/^ {0,3}(?:[-*+]|\d{1,9}[.)]) \S.*\n\s*(?:[-*+]|\d{1,9}[.)]) \S/m,
	/^\|?[ :-]*-[ :-]*\|[ |:-]*$/m,
];

const headingLevels = [1, 2, 3, 4, 5, 6] as const;

/**
 * Fits content into a section. Lowers its headings below the level of the section's heading, so that all content belongs to the section.
 * Leaves out a first heading with the text of the section's heading if content follows, because the next write would find two such headings.
 */
export function fitIntoSection(content: Content, { heading, level }: Section): Content {
	if (level === 0) return content;
	const [first, ...otherBlocks] = content.blocks;
	const repeatsHeading =
		first &&
		isHeading(first) &&
		isSameIgnoringCase(collapseBlanks(joinSpans(first.spans)), heading);
	const blocks = repeatsHeading && otherBlocks.length > 0 ? otherBlocks : content.blocks;
	const levels = blocks.filter(isHeading).map(({ format }) => format);
	const steps = Math.max(0, level + 1 - Math.min(...levels));
	const lower = (block: Block): Block => {
		if (!isHeading(block)) return block;
		// Level 6 is the lowest. Under a heading of level 6, headings become text.
		const lowestFormat = level < 6 ? 6 : 'text';
		return { ...block, format: headingLevels[block.format + steps - 1] ?? lowestFormat };
	};
	return { ...content, blocks: blocks.map(lower) };
}

type Heading = ParagraphBlock & { readonly format: number };
const isHeading = (block: Block): block is Heading =>
	block.kind === 'paragraph' && typeof block.format === 'number';

export const isEmpty = ({ blocks }: DocumentContent) => blocks.length === 0;

/** Plans content after the text at a place. Without a new paragraph, plain text and an unstyled first paragraph continue the last line. */
export function planAppend(
	content: Content,
	newParagraph: boolean,
	place: ContentPlace,
	refusedUrls: ReadonlySet<string>,
): Change {
	const [first] = content.blocks;
	const isUnstyled = first?.kind === 'paragraph' && !hasStyle(first);
	const continuesParagraph = !place.isParagraphEmpty;
	// Plain text keeps the look of the text before it. Only an added paragraph is reset, because it may have taken over a heading's style.
	const keepsStyle = isUnstyled && first.format === 'plain' && place.addedAt === undefined;
	// An empty first paragraph stands for the existing paragraph.
	const needsParagraph = continuesParagraph && (newParagraph || !isUnstyled);
	const blocks = needsParagraph ? [buildParagraph([]), ...content.blocks] : content.blocks;
	return planContent(
		{ ...content, blocks },
		{ ...place, resetsStyle: !keepsStyle, continuesParagraph },
		refusedUrls,
	);
}

export const planWrite = (
	content: Content,
	place: ContentPlace,
	refusedUrls: ReadonlySet<string>,
): Change =>
	planContent(content, { ...place, resetsStyle: true, continuesParagraph: false }, refusedUrls);

/** Plans the requests in an order that keeps their indexes right: text, tables from last to first, styles, images from last to first. */
export function planContent(
	content: Content,
	place: ContentPlace & StyleChoice,
	refusedUrls: ReadonlySet<string> = new Set(),
): Change {
	const { index, deletedEnd, addedAt, tabId } = place;
	const builder = new RequestBuilder(tabId);
	builder.delete({ start: index, end: deletedEnd });
	if (addedAt !== undefined) builder.insertText('\n', addedAt);
	const { blocks, filler } = closeBlocks(content.blocks, place);
	const layout = layOut(blocks, index);
	builder.insertText(layout.text, index);
	for (const table of layout.tables.toReversed()) insertTable(builder, table);
	setStyles(builder, layout, place);
	setLists(builder, layout, content.lists);
	builder.delete({ start: layout.end - filler.length, end: layout.end });
	let growth = layout.end - filler.length - deletedEnd;
	if (addedAt !== undefined) growth += 1;
	const isPicture = ({ imageUrl }: Span) =>
		imageUrl !== undefined && content.insertImages && !refusedUrls.has(imageUrl);
	for (const picture of placeSpans(layout).filter(isPicture).toReversed()) {
		builder.delete(picture);
		builder.insertImage(picture.imageUrl ?? '', picture.start);
		// A picture takes one index and has no text.
		growth += 1 - picture.text.length;
	}
	const lines = layout.lines.map(({ spans }) =>
		joinSpans(spans.filter((span) => !isPicture(span))),
	);
	const characterCount = lines.join('\n').length - filler.length;
	const text = lines.join('\n').slice(0, characterCount);
	return { requests: builder.requests, text, growth, characterCount };
}

/**
 * Lets the content begin with a paragraph, because Google inserts a newline before a table, and end with one, as every segment does. The last
 * newline of a segment cannot have a style, so an empty last paragraph gets a filler, which is deleted once all styles are set.
 */
function closeBlocks(blocks: readonly Block[], { resetsStyle }: StyleChoice) {
	const closedBlocks = [...blocks];
	if (blocks[0]?.kind === 'table') closedBlocks.unshift(buildParagraph([]));
	let last = closedBlocks.pop();
	if (last?.kind === 'table') closedBlocks.push(last);
	if (last?.kind !== 'paragraph') last = buildParagraph([], 'plain');
	const isEmptyAtEnd = /(?:^|\n)$/.test(joinSpans(last.spans));
	const filler = isEmptyAtEnd && (resetsStyle || hasStyle(last)) ? '.' : '';
	const spans = [...last.spans, { text: filler, marks: {} }];
	return { blocks: [...closedBlocks, { ...last, spans }], filler };
}

/** Inserts a table, and fills it from the last cell to the first, so that no text moves a cell to fill later. */
function insertTable(builder: RequestBuilder, { block, insertIndex }: PlacedTable): void {
	const columnCount = block.rows[0]?.length ?? 0;
	builder.insertTable(block.rows.length, columnCount, insertIndex);
	// An empty row has an index of its own. Each of its cells has two: its own and that of its newline.
	const indexesPerRow = 1 + 2 * columnCount;
	for (const [rowIndex, row] of [...block.rows.entries()].toReversed())
		for (const [columnIndex, spans] of [...row.entries()].toReversed()) {
			// The 4 indexes before the first cell's text: the newline before the table, the table, its first row and first cell.
			const index = insertIndex + 4 + rowIndex * indexesPerRow + 2 * columnIndex;
			builder.insertText(joinSpans(spans), index);
		}
}
