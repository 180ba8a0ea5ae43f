import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import {
	type DocumentContent,
	type ListRange,
	type TextMarks,
	type ParagraphBlock,
	type Span,
	joinSpans,
} from '../../../untrusted/document/blocks';
import {
	listIndentPoints,
	markdownParagraphSpacing,
	quoteIndentPoints,
} from '../../../untrusted/document/elements';
import type { ContentPlace } from './contentPlace';
import { type DocsRequest, type Extent, layOutCells, type PlacedTable, type TextLine } from './tableRequests';

type ParagraphStyle = docs_v1.Schema$ParagraphStyle;

interface PlacedParagraph extends TextLine {
	readonly block: ParagraphBlock;
}

export interface Layout extends Pick<DocumentContent, 'lists'> {
	/** One for each block. */
	readonly placed: ReadonlyArray<PlacedParagraph | PlacedTable>;
	readonly paragraphs: readonly PlacedParagraph[];
	readonly tables: readonly PlacedTable[];
	/** Lines of paragraphs and cells, in their order. */
	readonly lines: readonly TextLine[];
	/** Text of all paragraphs, as one insertion. */
	readonly text: string;
	/** Index after the last paragraph's text. */
	readonly end: number;
	readonly toRange: (startIndex: number, endIndex: number) => docs_v1.Schema$Range;
	readonly toLocation: (index: number) => docs_v1.Schema$Location;
}

/** Calculates where everything will stand if the content is inserted at an index inside a paragraph. */
export function layOutContent({ blocks, lists }: DocumentContent, index: number, tabId?: string): Layout {
	let text = '';
	let at = index;
	const placed = blocks.map((block, position) => {
		if (block.kind === 'table') {
			const cells = layOutCells(block, at);
			at = (cells.at(-1)?.at(-1)?.end ?? at) + 2;
			return { block, insertAt: index + text.length, cells };
		}
		const line = { block, spans: block.spans, start: at, end: at + joinSpans(block.spans).length };
		text += joinSpans(block.spans) + (blocks[position + 1]?.kind === 'paragraph' ? '\n' : '');
		at = line.end + 1;
		return line;
	});
	const paragraphs = placed.filter((one) => 'spans' in one);
	const tables = placed.filter((one) => 'cells' in one);
	const lines = placed.flatMap((one): readonly TextLine[] => ('spans' in one ? [one] : one.cells.flat()));
	const toRange = (startIndex: number, endIndex: number) => ({ startIndex, endIndex, tabId });
	const toLocation = (start: number) => ({ index: start, tabId });
	return { placed, paragraphs, tables, lines, lists, text, end: at - 1, toRange, toLocation };
}

/** The spans with the indexes of their texts. */
export function placeSpans({ lines }: Layout): Array<Span & Extent> {
	return lines.flatMap(({ spans, start }) => {
		let end = start;
		return spans.map((span) => {
			const from = end;
			end += span.text.length;
			return { ...span, start: from, end };
		});
	});
}

const toPoints = (magnitude: number): docs_v1.Schema$Dimension => ({ magnitude, unit: 'PT' });
const toGrey = (share: number): docs_v1.Schema$OptionalColor => ({
	color: { rgbColor: { red: share, green: share, blue: share } },
});
const buildBorder = (width: number, padding: number): docs_v1.Schema$ParagraphBorder => ({
	color: toGrey(0.8),
	dashStyle: 'SOLID',
	padding: toPoints(padding),
	width: toPoints(width),
});

const buildIndent = (points: number) => ({
	indentStart: toPoints(points),
	indentFirstLine: toPoints(points),
});

/** Paragraph style of a block; empty for plain text. */
function buildParagraphStyle({ format, quoteDepth, list }: ParagraphBlock): ParagraphStyle {
	const indentPoints = listIndentPoints * (list ? list.level + 1 : 0) + quoteIndentPoints * quoteDepth;
	return {
		...(typeof format === 'number' && { namedStyleType: `HEADING_${format}` }),
		...(format === 'code' && { shading: { backgroundColor: toGrey(0.95) } }),
		...(format === 'rule' && { borderBottom: buildBorder(1, 1) }),
		...(quoteDepth > 0 && { borderLeft: buildBorder(3, 6) }),
		...(!list?.bullet && indentPoints > 0 && buildIndent(indentPoints)),
	};
}

/** Whether a block has a paragraph style of its own. */
export const hasStyle = (block: ParagraphBlock) => Object.keys(buildParagraphStyle(block)).length > 0;

const buildTextStyle = ({ code, link, ...same }: TextMarks): docs_v1.Schema$TextStyle => ({
	...same,
	...(code && { weightedFontFamily: { fontFamily: 'Courier New', weight: 400 } }),
	...(link !== undefined && { link: { url: link } }),
});

// Resets all fields but `direction`, which depends on the language, and `pageBreakBefore`, which some places refuse.
const resetParagraphFields =
	'namedStyleType,alignment,lineSpacing,spacingMode,spaceAbove,spaceBelow,borderBetween,borderTop,borderBottom,' +
	'borderLeft,borderRight,indentFirstLine,indentStart,indentEnd,keepLinesTogether,keepWithNext,avoidWidowAndOrphan,shading';

export interface InsertTarget extends Pick<ContentPlace, 'index' | 'tabId' | 'isStyled'> {
	/** Whether the first paragraph continues the existing one at the index and takes over its style. */
	readonly continues: boolean;
}

function buildResetRequests(range: docs_v1.Schema$Range): DocsRequest[] {
	const normal = { namedStyleType: 'NORMAL_TEXT' };
	return [
		{ deleteParagraphBullets: { range } },
		{ updateParagraphStyle: { range, paragraphStyle: normal, fields: resetParagraphFields } },
		{ updateTextStyle: { range, textStyle: {}, fields: '*' } },
	];
}

/** The range of a paragraph's text; of an empty one, that of its newline. */
const toTextRange = ({ start, end }: Extent, { toRange }: Layout) => toRange(start, Math.max(end, start + 1));

/** The request that gives paragraphs a style; none for an empty style. */
function styleParagraphs(at: Extent, paragraphStyle: ParagraphStyle, layout: Layout): DocsRequest[] {
	const fields = Object.keys(paragraphStyle).join(',');
	const range = toTextRange(at, layout);
	return fields === '' ? [] : [{ updateParagraphStyle: { range, paragraphStyle, fields } }];
}

/** Styles of paragraphs and text; they move nothing. */
export function buildStyleRequests(layout: Layout, target: InsertTarget): DocsRequest[] {
	const { end, toRange } = layout;
	const paragraphs = target.continues ? layout.paragraphs.slice(1) : layout.paragraphs;
	const from = paragraphs[0]?.start ?? end;
	const requests: DocsRequest[] = [];
	if (target.isStyled && from < end) requests.push(...buildResetRequests(toRange(from, end)));
	if (target.isStyled && target.index < from) {
		const continued = toRange(target.index, from);
		requests.push({ updateTextStyle: { range: continued, textStyle: {}, fields: '*' } });
	}
	const own = paragraphs.filter(({ block }) => block.list?.bullet !== false);
	return [
		...requests,
		...buildSpacingRequests(paragraphs, layout),
		...own.flatMap((one) => styleParagraphs(one, buildParagraphStyle(one.block), layout)),
		...layout.tables.flatMap((table) => buildAlignmentRequests(table, layout)),
		...buildTextStyleRequests(layout),
	];
}

/** One request for each stretch between tables. */
function buildSpacingRequests(paragraphs: readonly PlacedParagraph[], layout: Layout): DocsRequest[] {
	const stretches: Array<{ start: number; end: number }> = [];
	for (const { block, start, end } of paragraphs) {
		if (block.format === 'plain') continue;
		const last = stretches.at(-1);
		if (last !== undefined && last.end + 1 === start) last.end = end;
		else stretches.push({ start, end });
	}
	const filled = stretches.filter(({ start, end }) => start < end);
	return filled.flatMap((one) => styleParagraphs(one, markdownParagraphSpacing, layout));
}

const docsAlignments = { center: { alignment: 'CENTER' }, right: { alignment: 'END' }, left: {} } as const;

const buildAlignmentRequests = ({ block, cells }: PlacedTable, layout: Layout) =>
	cells.flatMap((row) =>
		row.flatMap(({ start }, column) => {
			const style = docsAlignments[block.alignments[column] ?? 'left'];
			return styleParagraphs({ start, end: start }, style, layout);
		}),
	);

function buildTextStyleRequests(layout: Layout): DocsRequest[] {
	return placeSpans(layout).flatMap(({ marks, start, end }) => {
		const textStyle = buildTextStyle(marks);
		const fields = Object.keys(textStyle).join(',');
		if (fields === '' || start === end) return [];
		return [{ updateTextStyle: { range: layout.toRange(start, end), textStyle, fields } }];
	});
}

/**
 * Builds the requests for bullets. Leading tabs set the level. Google removes them again, so that after each list every index is right.
 * Bullets a list as a whole, with inner lists of another kind, later paragraphs of an item and text between items, because only that
 * keeps one numbering. Then inner lists get bullets of their own, and the paragraphs lose theirs.
 */
export function buildListRequests(layout: Layout): DocsRequest[] {
	const requests = layout.lists.flatMap((list) =>
		splitAtTables(list, layout).flatMap((items) => buildBulletRequests(items, list, layout)),
	);
	const later = layout.paragraphs.filter(({ block }) => block.isBetweenItems ?? block.list?.bullet === false);
	return [...requests, ...later.flatMap((one) => buildLaterParagraphRequests(one, layout))];
}

/** Splits a list at its tables, because a table cannot be in a list. */
function splitAtTables(
	{ firstIndex: first, lastIndex: last }: ListRange,
	{ placed }: Layout,
): PlacedParagraph[][] {
	const found: PlacedParagraph[][] = [[]];
	for (const one of placed.slice(first, last + 1)) {
		if ('cells' in one) found.push([]);
		else if (one.block.list !== undefined) found.at(-1)?.push(one);
	}
	return found.filter((items) => items.some(({ block }) => block.list?.bullet));
}

function buildBulletRequests(
	items: readonly PlacedParagraph[],
	{ ordered }: ListRange,
	{ toRange, toLocation }: Layout,
): DocsRequest[] {
	const first = items[0];
	const last = items.at(-1);
	if (first === undefined || last === undefined) return [];
	const tabs = items.toReversed().flatMap(({ block: { list }, start }) => {
		const text = list?.bullet ? '\t'.repeat(list.level) : '';
		return text === '' ? [] : [{ insertText: { text, location: toLocation(start) } }];
	});
	const tabUnits = tabs.reduce((sum, { insertText }) => sum + insertText.text.length, 0);
	const bulletPreset = ordered ? 'NUMBERED_DECIMAL_ALPHA_ROMAN' : 'BULLET_DISC_CIRCLE_SQUARE';
	const end = Math.max(last.end, last.start + 1) + tabUnits;
	return [...tabs, { createParagraphBullets: { range: toRange(first.start, end), bulletPreset } }];
}

function buildLaterParagraphRequests(paragraph: PlacedParagraph, layout: Layout): DocsRequest[] {
	const { block } = paragraph;
	const style = { ...(block.isBetweenItems && buildIndent(0)), ...buildParagraphStyle(block) };
	const deleteParagraphBullets = { range: toTextRange(paragraph, layout) };
	return [{ deleteParagraphBullets }, ...styleParagraphs(paragraph, style, layout)];
}
