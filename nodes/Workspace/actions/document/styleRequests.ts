import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { getOrAdd } from '../../../core/maps';
import * as blocks from '../../../untrusted/document/blocks';
import type { ContentPlace } from './contentPlace';
import type { Layout, PlacedParagraph } from './layout';
import type { RequestBuilder } from './requestBuilder';

const toPoints = (magnitude: number): docs_v1.Schema$Dimension => ({ magnitude, unit: 'PT' });
const toGray = (brightness: number): docs_v1.Schema$OptionalColor => ({
	color: { rgbColor: { red: brightness, green: brightness, blue: brightness } },
});
const buildBorder = (width: number, padding: number) => ({
	color: toGray(0.8),
	dashStyle: 'SOLID',
	padding: toPoints(padding),
	width: toPoints(width),
});

/** Builds the paragraph style of a block. @returns an empty style for plain text */
function buildParagraphStyle({ format, quoteDepth, list }: blocks.ParagraphBlock) {
	const style: docs_v1.Schema$ParagraphStyle = {};
	if (typeof format === 'number') style.namedStyleType = `HEADING_${format}`;
	if (format === 'code') style.shading = { backgroundColor: toGray(0.95) };
	if (format === 'rule') style.borderBottom = buildBorder(1, 1);
	if (quoteDepth > 0) style.borderLeft = buildBorder(3, 6);
	const listLevels = list ? list.level + 1 : 0;
	const indentPoints =
		blocks.listIndentPoints * listLevels + blocks.quoteIndentPoints * quoteDepth;
	if (indentPoints > 0 && !list?.hasBullet) {
		style.indentStart = toPoints(indentPoints);
		style.indentFirstLine = toPoints(indentPoints);
	}
	return style;
}

function buildTextStyle({ code, link, ...otherMarks }: blocks.TextMarks): docs_v1.Schema$TextStyle {
	const style: docs_v1.Schema$TextStyle = otherMarks;
	if (code) style.weightedFontFamily = { fontFamily: 'Courier New', weight: 400 };
	if (link !== undefined) style.link = { url: link };
	return style;
}

// All fields except `direction`, which depends on the language, and `pageBreakBefore`, which Google
// refuses in some places.
const resetFields =
	'namedStyleType,alignment,lineSpacing,spacingMode,spaceAbove,spaceBelow,borderBetween,borderTop,borderBottom,' +
	'borderLeft,borderRight,indentFirstLine,indentStart,indentEnd,keepLinesTogether,keepWithNext,avoidWidowAndOrphan,shading';

/** Adds the requests for styles of paragraphs and text. They change no index. */
export function setStyles(builder: RequestBuilder, layout: Layout, place: ContentPlace): void {
	// The first paragraph of content that continues a paragraph has the style of that paragraph.
	const paragraphs = layout.paragraphs.slice(place.isParagraphEmpty ? 0 : 1);
	if (!place.keepsStyle) resetStyles(builder, layout, paragraphs);
	setSpacing(builder, paragraphs);
	for (const paragraph of paragraphs) {
		// `setLists` styles later paragraphs of an item, because their style is reset when they
		// lose their bullet.
		const isLater = paragraph.block.list?.hasBullet === false;
		if (!isLater) builder.styleParagraphs(paragraph, buildParagraphStyle(paragraph.block));
	}
	for (const { spans } of layout.lines)
		for (const span of spans) builder.styleText(span, buildTextStyle(span.marks));
}

function resetStyles(
	builder: RequestBuilder,
	{ start, end }: Layout,
	[first]: readonly PlacedParagraph[],
): void {
	if (first && first.start < end) {
		const extent = { start: first.start, end };
		builder.change('deleteParagraphBullets', extent);
		builder.styleParagraphs(extent, { namedStyleType: 'NORMAL_TEXT' }, resetFields);
	}
	if (start < end) builder.styleText({ start, end }, {}, '*');
}

/** Adds one request for each stretch of paragraphs without a table or plain text between them. */
function setSpacing(builder: RequestBuilder, paragraphs: readonly PlacedParagraph[]): void {
	const stretches: Array<{ start: number; end: number }> = [];
	for (const { block, start, end } of paragraphs) {
		const stretch = stretches.at(-1);
		if (block.format === 'plain') continue;
		if (stretch?.end === start - 1) stretch.end = end;
		else stretches.push({ start, end });
	}
	// An empty paragraph alone, such as a blank line, has no spacing of its own.
	for (const stretch of stretches)
		if (stretch.start < stretch.end)
			builder.styleParagraphs(stretch, blocks.markdownParagraphSpacing);
}

const bulletPresets = {
	bullet: 'BULLET_DISC_CIRCLE_SQUARE',
	number: 'NUMBERED_DECIMAL_ALPHA_ROMAN',
	checkbox: 'BULLET_CHECKBOX',
} as const;

/**
 * Adds the requests for bullets. A list gives bullets to all of its paragraphs, because otherwise
 * its numbering would begin anew. Then inner lists of another kind get their own bullets, and later
 * paragraphs of an item lose theirs.
 */
export function setLists(
	builder: RequestBuilder,
	{ paragraphs }: Layout,
	lists: readonly blocks.ListKind[],
): void {
	for (const [list, items] of splitIntoLists(paragraphs))
		addBullets(builder, items, bulletPresets[lists[list] ?? 'bullet']);
	for (const paragraph of paragraphs) {
		if (paragraph.block.list?.hasBullet !== false) continue;
		builder.change('deleteParagraphBullets', paragraph);
		builder.styleParagraphs(paragraph, buildParagraphStyle(paragraph.block));
	}
}

/**
 * Finds the paragraphs of each list. A table splits a list, because Docs allows no table in a list.
 */
function splitIntoLists(paragraphs: readonly PlacedParagraph[]) {
	let itemsByList = new Map<number, PlacedParagraph[]>();
	const stretches = [itemsByList];
	let lastEnd = -1;
	for (const paragraph of paragraphs) {
		if (paragraph.start > lastEnd + 1) {
			itemsByList = new Map();
			stretches.push(itemsByList);
		}
		lastEnd = paragraph.end;
		for (const list of paragraph.block.list?.lists ?? [])
			getOrAdd(itemsByList, list, () => []).push(paragraph);
	}
	return stretches.flatMap((lists) => [...lists]);
}

/**
 * Tab characters set the level of an item. Google removes these characters, so later indexes stay
 * right.
 */
function addBullets(
	builder: RequestBuilder,
	items: readonly PlacedParagraph[],
	bulletPreset: string,
): void {
	const [first] = items;
	const last = items.at(-1);
	if (!first || !last) return;
	let end = Math.max(last.end, last.start + 1);
	for (const { block, start } of items.toReversed()) {
		if (!block.list?.hasBullet) continue;
		builder.insertText('\t'.repeat(block.list.level), start);
		end += block.list.level;
	}
	builder.change('createParagraphBullets', { start: first.start, end }, { bulletPreset });
}
