import { buildParagraph, joinSpans } from '../../../../untrusted/document/blocks';
import type { Block, DocumentContent, ParagraphBlock } from '../../../../untrusted/document/blocks';
import type { Change } from '../changeDocument';
import type { ContentPlace } from './contentPlace';
import { type Layout, layOut, type PictureTest } from './layout';
import { RequestBuilder } from './requestBuilder';
import { addListRequests, addStyleRequests } from './styleRequests';

function isUnstyled(block: Block | undefined): block is ParagraphBlock {
	if (block?.kind !== 'paragraph') return false;
	const { format, quoteDepth, list } = block;
	return (format === 'text' || format === 'plain') && quoteDepth === 0 && list === undefined;
}

/**
 * Plans content after the text at a place. Without a new paragraph, plain text and an unstyled
 * first paragraph continue the last line.
 */
export function planAppend(
	content: DocumentContent,
	newParagraph: boolean,
	place: ContentPlace,
	isPicture: PictureTest,
): Change {
	const [first] = content.blocks;
	const canContinueLine = isUnstyled(first);
	const blocks = [...content.blocks];
	// The text is inserted at the end of a paragraph. An empty first block ends that paragraph.
	if (!place.isParagraphEmpty && (newParagraph || !canContinueLine))
		blocks.unshift(buildParagraph([]));
	// Google gives a paragraph that is added beside a heading the heading's style.
	const getsHeadingStyle =
		place.newParagraphIndex !== undefined || (newParagraph && place.isHeading);
	// Other plain text keeps the look of the text before it.
	const keepsStyle = canContinueLine && first.format === 'plain' && !getsHeadingStyle;
	return planContent({ ...content, blocks }, { ...place, keepsStyle }, isPicture);
}

/**
 * Plans the requests in an order that keeps their indexes right: text, tables and pictures from
 * first to last, styles.
 */
export function planContent(
	content: DocumentContent,
	place: ContentPlace,
	isPicture: PictureTest,
): Change {
	const { blocks, filler } = closeBlocks(content.blocks, place);
	const layout = layOut(blocks, place.index, isPicture);
	const end = layout.end - filler.length;
	const addedNewline = place.newParagraphIndex === undefined ? '' : '\n';
	const builder = new RequestBuilder(place.tabId);
	builder.delete({ start: place.index, end: place.deletedEnd });
	builder.insertText(addedNewline, place.newParagraphIndex ?? 0);
	builder.insertText(layout.text, place.index);
	insertTablesAndPictures(builder, layout);
	addStyleRequests(builder, layout, place);
	addListRequests(builder, layout, content.listKinds);
	builder.delete({ start: end, end: layout.end });
	const text = buildStoredText(layout, filler);
	return {
		requests: builder.requests,
		text,
		growth: end - place.deletedEnd + addedNewline.length,
		characterCount: text.length,
	};
}

function buildStoredText({ lines }: Layout, filler: string): string {
	const text = lines.map(({ spans }) => joinSpans(spans)).join('\n');
	return text.slice(0, text.length - filler.length);
}

/**
 * Adds a paragraph before a first table, where Google inserts a newline, and after a last table,
 * because a tab always ends with a paragraph. The last newline of a tab cannot have a style, so an
 * empty last paragraph gets a filler, which is deleted once all styles are set.
 */
function closeBlocks(blocks: readonly Block[], { keepsStyle }: ContentPlace) {
	const closedBlocks = [...blocks];
	if (blocks[0]?.kind === 'table') closedBlocks.unshift(buildParagraph([], 'plain'));
	let last = closedBlocks.at(-1);
	if (last?.kind !== 'paragraph') {
		last = buildParagraph([], 'plain');
		closedBlocks.push(last);
	}
	const isEmptyAtEnd = /(?:^|\n)$/.test(joinSpans(last.spans));
	const getsStyle = !keepsStyle || last.format !== 'plain';
	const filler = isEmptyAtEnd && getsStyle ? '.' : '';
	const spans = [...last.spans, { text: filler, marks: {} }];
	return { blocks: closedBlocks.with(-1, { ...last, spans }), filler };
}

function insertTablesAndPictures(builder: RequestBuilder, { lines }: Layout): void {
	for (const { spans, start, isCell, newTable } of lines) {
		// Before the text of the first cell come a newline before the table, the table, its first
		// row and the cell itself.
		if (newTable) builder.addAtIndex('insertTable', start - 4, newTable);
		if (isCell) builder.insertText(joinSpans(spans), start);
		for (const { imageUrl: uri, start: index } of spans)
			if (uri !== undefined) builder.addAtIndex('insertInlineImage', index, { uri });
	}
}
