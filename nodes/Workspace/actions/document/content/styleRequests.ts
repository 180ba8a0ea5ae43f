import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { getOrAdd } from '../../../../core/maps';
import * as blocks from '../../../../untrusted/document/blocks';
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
export function addStyleRequests(
	builder: RequestBuilder,
	layout: Layout,
	place: ContentPlace,
): void {
	// The first paragraph of content that continues a paragraph has the style of that paragraph.
	const paragraphs = layout.paragraphs.slice(place.isParagraphEmpty ? 0 : 1);
	if (!place.keepsStyle) addResetRequests(builder, layout, paragraphs);
	for (const stretch of splitAtTables(paragraphs)) addSpacingRequest(builder, stretch);
	for (const paragraph of paragraphs)
		// Without its bullet, a later paragraph of an item loses its style, so `addListRequests`
		// styles it.
		if (paragraph.block.list?.hasBullet !== false)
			builder.styleParagraphs(paragraph, buildParagraphStyle(paragraph.block));
	for (const { spans } of layout.lines)
		for (const span of spans) builder.styleText(span, buildTextStyle(span.marks));
}

function addResetRequests(
	builder: RequestBuilder,
	{ start, end }: Layout,
	[first]: readonly PlacedParagraph[],
): void {
	if (first && first.start < end) {
		const extent = { start: first.start, end };
		builder.addForRange('deleteParagraphBullets', extent);
		builder.styleParagraphs(extent, { namedStyleType: 'NORMAL_TEXT' }, resetFields);
	}
	if (start < end) builder.styleText({ start, end }, {}, '*');
}

/** Splits paragraphs where a table stands between them. */
function splitAtTables(paragraphs: readonly PlacedParagraph[]): PlacedParagraph[][] {
	const stretches: PlacedParagraph[][] = [];
	for (const paragraph of paragraphs) {
		const stretch = stretches.at(-1);
		if (stretch?.at(-1)?.end === paragraph.start - 1) stretch.push(paragraph);
		else stretches.push([paragraph]);
	}
	return stretches;
}

/** Plain text is no Markdown, so it keeps the document's spacing. */
function addSpacingRequest(builder: RequestBuilder, stretch: readonly PlacedParagraph[]): void {
	const [first] = stretch;
	if (!first || first.block.format === 'plain') return;
	const extent = { start: first.start, end: stretch.at(-1)?.end ?? first.end };
	builder.styleParagraphs(extent, blocks.markdownParagraphSpacing);
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
export function addListRequests(
	builder: RequestBuilder,
	{ paragraphs }: Layout,
	listKinds: readonly blocks.ListKind[],
): void {
	// Docs allows no table in a list, so a table splits a list.
	for (const stretch of splitAtTables(paragraphs))
		for (const [listIndex, items] of groupByList(stretch))
			addBullets(builder, items, bulletPresets[listKinds[listIndex] ?? 'bullet']);
	for (const paragraph of paragraphs) {
		if (paragraph.block.list?.hasBullet !== false) continue;
		builder.addForRange('deleteParagraphBullets', paragraph);
		builder.styleParagraphs(paragraph, buildParagraphStyle(paragraph.block));
	}
}

function groupByList(paragraphs: readonly PlacedParagraph[]) {
	const paragraphsByList = new Map<number, PlacedParagraph[]>();
	for (const paragraph of paragraphs)
		for (const listIndex of paragraph.block.list?.listIndexes ?? [])
			getOrAdd(paragraphsByList, listIndex, () => []).push(paragraph);
	return paragraphsByList;
}

/**
 * Adds tab characters, which set the level of an item, and the request for the bullets. Google then
 * removes these characters, so later indexes stay right.
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
	const extent = { start: first.start, end };
	builder.addForRange('createParagraphBullets', extent, { bulletPreset });
}
