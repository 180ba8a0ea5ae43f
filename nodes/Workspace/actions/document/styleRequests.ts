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
import {
	buildAlignmentRequests,
	type DocsRequest,
	layOutCells,
	type PlacedTable,
	type TextLine,
	type ToRange,
} from './tableRequests';

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
}

/** Calculates where everything will stand if the content is inserted at an index inside a paragraph. */
export function layOutContent({ blocks, lists }: DocumentContent, index: number): Layout {
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
	return { placed, paragraphs, tables, lines, lists, text, end: at - 1 };
}

/** The spans with the indexes of their texts. */
export function placeSpans({
	lines,
}: Layout): Array<Span & { readonly start: number; readonly end: number }> {
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

const paragraphSpacing: docs_v1.Schema$ParagraphStyle = {
	spaceBelow: toPoints(markdownParagraphSpacing.pointsBelow),
	spacingMode: markdownParagraphSpacing.mode,
};

function buildIndent(indentPoints: number): docs_v1.Schema$ParagraphStyle {
	return { indentStart: toPoints(indentPoints), indentFirstLine: toPoints(indentPoints) };
}

/** Paragraph style of a block; undefined for plain text. */
export function buildParagraphStyle({
	format,
	quoteDepth,
	list,
}: ParagraphBlock): docs_v1.Schema$ParagraphStyle | undefined {
	const style: docs_v1.Schema$ParagraphStyle = {};
	if (typeof format === 'number') style.namedStyleType = `HEADING_${format}`;
	if (format === 'code') style.shading = { backgroundColor: toGrey(0.95) };
	if (format === 'rule') style.borderBottom = buildBorder(1, 1);
	if (quoteDepth > 0) style.borderLeft = buildBorder(3, 6);
	const listPoints = list === undefined ? 0 : listIndentPoints * (list.level + 1);
	const indentPoints = listPoints + quoteIndentPoints * quoteDepth;
	if (list?.bullet !== true && indentPoints > 0) Object.assign(style, buildIndent(indentPoints));
	return Object.keys(style).length > 0 ? style : undefined;
}

/** Text style of marks; undefined for none. */
function buildTextStyle({ code, link, ...same }: TextMarks): docs_v1.Schema$TextStyle | undefined {
	const style: docs_v1.Schema$TextStyle = { ...same };
	if (code) style.weightedFontFamily = { fontFamily: 'Courier New', weight: 400 };
	if (link !== undefined) style.link = { url: link };
	return Object.keys(style).length > 0 ? style : undefined;
}

// All that can be set, except `direction`, which depends on the language, and `pageBreakBefore`, which some places refuse.
const resetParagraphFields =
	'namedStyleType,alignment,lineSpacing,spacingMode,spaceAbove,spaceBelow,borderBetween,borderTop,borderBottom,' +
	'borderLeft,borderRight,indentFirstLine,indentStart,indentEnd,keepLinesTogether,keepWithNext,avoidWidowAndOrphan,shading';

export interface InsertTarget {
	/** Inside a paragraph, at the end of its text. */
	readonly index: number;
	readonly tabId: string | undefined;
	/** Whether the first paragraph goes on in the one at the index and keeps that one's style. */
	readonly continues: boolean;
	/** Whether the paragraph at the index has a style of its own, which new paragraphs would take over. */
	readonly isStyled: boolean;
}

export function buildResetRequests(range: docs_v1.Schema$Range): DocsRequest[] {
	const normal = { namedStyleType: 'NORMAL_TEXT' };
	return [
		{ deleteParagraphBullets: { range } },
		{ updateParagraphStyle: { range, paragraphStyle: normal, fields: resetParagraphFields } },
		{ updateTextStyle: { range, textStyle: {}, fields: '*' } },
	];
}

function buildParagraphStyleRequest(
	range: docs_v1.Schema$Range,
	paragraphStyle: docs_v1.Schema$ParagraphStyle,
): DocsRequest {
	return { updateParagraphStyle: { range, paragraphStyle, fields: Object.keys(paragraphStyle).join(',') } };
}

/** Styles of paragraphs and text; they move nothing. */
export function buildStyleRequests(layout: Layout, target: InsertTarget, toRange: ToRange): DocsRequest[] {
	const { end } = layout;
	const paragraphs = target.continues ? layout.paragraphs.slice(1) : layout.paragraphs;
	const from = paragraphs[0]?.start ?? end;
	const requests: DocsRequest[] = [];
	if (target.isStyled && from < end) requests.push(...buildResetRequests(toRange(from, end)));
	if (target.isStyled && target.index < from) {
		const continued = toRange(target.index, from);
		requests.push({ updateTextStyle: { range: continued, textStyle: {}, fields: '*' } });
	}
	return [
		...requests,
		...buildSpacingRequests(paragraphs, toRange),
		...paragraphs.flatMap((one) => buildOwnStyleRequests(one, toRange)),
		...layout.tables.flatMap((table) => buildAlignmentRequests(table, toRange)),
		...buildTextStyleRequests(layout, toRange),
	];
}

/** One request for each stretch between tables. */
function buildSpacingRequests(paragraphs: readonly PlacedParagraph[], toRange: ToRange): DocsRequest[] {
	const stretches: Array<{ start: number; end: number }> = [];
	for (const { block, start, end } of paragraphs) {
		if (block.format === 'plain') continue;
		const last = stretches.at(-1);
		if (last !== undefined && last.end + 1 === start) last.end = end;
		else stretches.push({ start, end });
	}
	return stretches
		.filter(({ start, end }) => start < end)
		.map(({ start, end }) => buildParagraphStyleRequest(toRange(start, end), paragraphSpacing));
}

function buildOwnStyleRequests({ block, start, end }: PlacedParagraph, toRange: ToRange): DocsRequest[] {
	const style = buildParagraphStyle(block);
	if (style === undefined || block.list?.bullet === false) return [];
	return [buildParagraphStyleRequest(toRange(start, Math.max(end, start + 1)), style)];
}

function buildTextStyleRequests(layout: Layout, toRange: ToRange): DocsRequest[] {
	return placeSpans(layout).flatMap(({ marks, start, end }) => {
		const textStyle = buildTextStyle(marks);
		if (textStyle === undefined || start === end) return [];
		return [
			{
				updateTextStyle: { range: toRange(start, end), textStyle, fields: Object.keys(textStyle).join(',') },
			},
		];
	});
}

/**
 * The requests for bullets. Leading tabs give the level, and Google takes them out again, so that after each list every index is what it was.
 * A list is bulleted as a whole, inner lists of another kind, an item's later paragraphs and text between the items included,
 * because only that keeps one numbering; then the inner ones get bullets of their own and the paragraphs lose theirs.
 */
export function buildListRequests(
	layout: Layout,
	toRange: ToRange,
	tabId: string | undefined,
): DocsRequest[] {
	const requests = layout.lists.flatMap((list) =>
		splitAtTables(list, layout).flatMap((items) => buildBulletRequests(items, list, toRange, tabId)),
	);
	const later = layout.paragraphs.filter(({ block }) => block.isBetweenItems ?? block.list?.bullet === false);
	return [...requests, ...later.flatMap((one) => buildLaterParagraphRequests(one, toRange))];
}

/** Splits a list at its tables, because a table cannot be in a list. */
function splitAtTables({ first, last }: ListRange, { placed }: Layout): PlacedParagraph[][] {
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
	toRange: ToRange,
	tabId: string | undefined,
): DocsRequest[] {
	const first = items[0];
	const last = items.at(-1);
	if (first === undefined || last === undefined) return [];
	const tabs = items.toReversed().flatMap(({ block: { list }, start: index }) => {
		const text = list?.bullet ? '\t'.repeat(list.level) : '';
		return text === '' ? [] : [{ insertText: { text, location: { index, tabId } } }];
	});
	const tabUnits = tabs.reduce((sum, { insertText }) => sum + insertText.text.length, 0);
	const bulletPreset = ordered ? 'NUMBERED_DECIMAL_ALPHA_ROMAN' : 'BULLET_DISC_CIRCLE_SQUARE';
	const end = Math.max(last.end, last.start + 1) + tabUnits;
	return [...tabs, { createParagraphBullets: { range: toRange(first.start, end), bulletPreset } }];
}

function buildLaterParagraphRequests(
	{ block, start, end }: PlacedParagraph,
	toRange: ToRange,
): DocsRequest[] {
	const touched = toRange(start, Math.max(end, start + 1));
	const style = block.isBetweenItems
		? { ...buildIndent(0), ...buildParagraphStyle(block) }
		: buildParagraphStyle(block);
	return [
		{ deleteParagraphBullets: { range: touched } },
		...(style ? [buildParagraphStyleRequest(touched, style)] : []),
	];
}
