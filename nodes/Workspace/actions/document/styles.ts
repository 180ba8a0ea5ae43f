import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import {
	type Alignment,
	type Block,
	type Content,
	type ListRange,
	type Marks,
	paragraph,
	type ParagraphBlock,
	type Span,
	type TableBlock,
	textOf,
} from '../../../untrusted/document/blocks';
import { listIndentPoints, ownSpacing, quoteIndentPoints } from '../../../untrusted/document/elements';

interface PlacedParagraph {
	readonly block: ParagraphBlock;
	readonly start: number;
	/** End of its text; its newline is the unit at that index. */
	readonly end: number;
}

export interface PlacedTable {
	readonly block: TableBlock;
	/** Where the table is put while the document has the text of all paragraphs, but none of the tables after it. */
	readonly insertAt: number;
	/** With the first index of each cell's text once everything stands. */
	readonly cells: ReadonlyArray<readonly PlacedCell[]>;
}

interface PlacedCell {
	readonly spans: readonly Span[];
	readonly start: number;
}

type Placed = PlacedParagraph | PlacedTable;

export interface Layout {
	readonly placed: readonly Placed[];
	readonly lists: readonly ListRange[];
	/** Text of all paragraphs, as one insertion. */
	readonly text: string;
	/** Index after the last paragraph's text. */
	readonly end: number;
}

export function isParagraph(placed: Placed): placed is PlacedParagraph {
	return placed.block.kind === 'paragraph';
}

/** A table stands between paragraphs: Google puts a newline before it, and a segment ends with a paragraph. */
function surroundTables({ blocks, lists }: Content): Content {
	const surrounded: Block[] = [];
	const moved = blocks.map((block) => {
		if (block.kind === 'table' && surrounded.at(-1)?.kind !== 'paragraph') surrounded.push(paragraph([]));
		return surrounded.push(block) - 1;
	});
	if (surrounded.at(-1)?.kind !== 'paragraph') surrounded.push(paragraph([]));
	const place = (position: number) => moved[position] ?? position;
	return {
		blocks: surrounded,
		lists: lists.map((list) => ({ ...list, first: place(list.first), last: place(list.last) })),
	};
}

/** Where everything will stand when the content goes in at an index inside a paragraph. */
export function layOut(content: Content, index: number): Layout {
	const { blocks, lists } = surroundTables(content);
	const placed: Placed[] = [];
	let text = '';
	let at = index;
	for (const [position, block] of blocks.entries()) {
		if (block.kind === 'paragraph') {
			const own = textOf(block.spans);
			placed.push({ block, start: at, end: at + own.length });
			text += blocks[position + 1]?.kind === 'paragraph' ? `${own}\n` : own;
			at += own.length + 1;
		} else {
			const { cells, end } = cellsOf(block, at);
			placed.push({ block, insertAt: index + text.length, cells });
			at = end;
		}
	}
	return { placed, lists, text, end: at - 1 };
}

/** A table, a row and a cell each begin with a unit of their own; a table also ends with one. */
function cellsOf(block: TableBlock, start: number): { cells: PlacedCell[][]; end: number } {
	let at = start + 1;
	const cells = block.rows.map((row) => {
		at += 1;
		return row.map((spans) => {
			const cell = { spans, start: at + 1 };
			at = cell.start + textOf(spans).length + 1;
			return cell;
		});
	});
	return { cells, end: at + 1 };
}

/** Index of an empty cell's text in a table that was just put in. */
export function emptyCell(insertedAt: number, columns: number, row: number, column: number): number {
	const tableStart = insertedAt + 1;
	return tableStart + 1 + row * (1 + 2 * columns) + 1 + 2 * column + 1;
}

const points = (magnitude: number): docs_v1.Schema$Dimension => ({ magnitude, unit: 'PT' });
const grey = (share: number): docs_v1.Schema$OptionalColor => ({
	color: { rgbColor: { red: share, green: share, blue: share } },
});
const border = (width: number, padding: number): docs_v1.Schema$ParagraphBorder => ({
	color: grey(0.8),
	dashStyle: 'SOLID',
	padding: points(padding),
	width: points(width),
});

const codeFont = 'Courier New';

const spacing: docs_v1.Schema$ParagraphStyle = {
	spaceBelow: points(ownSpacing.pointsBelow),
	spacingMode: ownSpacing.mode,
};

function indent(indentPoints: number): docs_v1.Schema$ParagraphStyle {
	return { indentStart: points(indentPoints), indentFirstLine: points(indentPoints) };
}

/** Paragraph style of a block; undefined for plain text. */
export function styleOf({
	format,
	quoteDepth,
	list,
}: ParagraphBlock): docs_v1.Schema$ParagraphStyle | undefined {
	const style: docs_v1.Schema$ParagraphStyle = {};
	if (typeof format === 'number') style.namedStyleType = `HEADING_${format}`;
	if (format === 'code') style.shading = { backgroundColor: grey(0.95) };
	if (format === 'rule') style.borderBottom = border(1, 1);
	if (quoteDepth > 0) style.borderLeft = border(3, 6);
	const listPoints = list === undefined ? 0 : listIndentPoints * (list.level + 1);
	const indentPoints = listPoints + quoteIndentPoints * quoteDepth;
	if (list?.bullet !== true && indentPoints > 0) Object.assign(style, indent(indentPoints));
	return Object.keys(style).length > 0 ? style : undefined;
}

/** Text style of marks; undefined for none. */
function textStyleOf(marks: Marks): docs_v1.Schema$TextStyle | undefined {
	const style: docs_v1.Schema$TextStyle = {};
	if (marks.bold) style.bold = true;
	if (marks.italic) style.italic = true;
	if (marks.strikethrough) style.strikethrough = true;
	if (marks.code) style.weightedFontFamily = { fontFamily: codeFont, weight: 400 };
	if (marks.link !== undefined) style.link = { url: marks.link };
	return Object.keys(style).length > 0 ? style : undefined;
}

function alignmentOf(alignment: Alignment | undefined): docs_v1.Schema$ParagraphStyle | undefined {
	if (alignment === 'center') return { alignment: 'CENTER' };
	return alignment === 'right' ? { alignment: 'END' } : undefined;
}

// All that can be set but `direction`, which is the language's, and `pageBreakBefore`, which some places refuse.
const resetParagraphFields = [
	'namedStyleType',
	'alignment',
	'lineSpacing',
	'spacingMode',
	'spaceAbove',
	'spaceBelow',
	'borderBetween',
	'borderTop',
	'borderBottom',
	'borderLeft',
	'borderRight',
	'indentFirstLine',
	'indentStart',
	'indentEnd',
	'keepLinesTogether',
	'keepWithNext',
	'avoidWidowAndOrphan',
	'shading',
].join(',');

const resetTextFields = [
	'bold',
	'italic',
	'underline',
	'strikethrough',
	'smallCaps',
	'backgroundColor',
	'foregroundColor',
	'fontSize',
	'weightedFontFamily',
	'baselineOffset',
	'link',
].join(',');

export type Request = docs_v1.Schema$Request;
type RangeOf = (startIndex: number, endIndex: number) => docs_v1.Schema$Range;

export interface Target {
	/** Inside a paragraph, at the end of its text. */
	readonly index: number;
	readonly tabId: string | undefined;
	/** Whether the first paragraph goes on in the one at the index and keeps that one's style. */
	readonly continues: boolean;
	/** Whether the paragraph at the index has a style of its own, which new paragraphs would take over. */
	readonly styled: boolean;
}

export function resetRequests(range: docs_v1.Schema$Range): Request[] {
	const normal = { namedStyleType: 'NORMAL_TEXT' };
	return [
		{ deleteParagraphBullets: { range } },
		{ updateParagraphStyle: { range, paragraphStyle: normal, fields: resetParagraphFields } },
		{ updateTextStyle: { range, textStyle: {}, fields: resetTextFields } },
	];
}

function styled(range: docs_v1.Schema$Range, paragraphStyle: docs_v1.Schema$ParagraphStyle): Request {
	return { updateParagraphStyle: { range, paragraphStyle, fields: Object.keys(paragraphStyle).join(',') } };
}

/** Styles of paragraphs and text; they move nothing. */
export function styleRequests({ placed, end }: Layout, target: Target, range: RangeOf): Request[] {
	const all = placed.filter(isParagraph);
	const paragraphs = target.continues ? all.slice(1) : all;
	const from = paragraphs[0]?.start ?? end;
	const requests: Request[] = [];
	if (target.styled && from < end) requests.push(...resetRequests(range(from, end)));
	if (target.styled && target.index < from) {
		const continued = range(target.index, from);
		requests.push({ updateTextStyle: { range: continued, textStyle: {}, fields: resetTextFields } });
	}
	requests.push(...spacingRequests(paragraphs, range), ...paragraphs.flatMap((one) => ownStyle(one, range)));
	for (const one of placed) {
		if (isParagraph(one)) requests.push(...spanStyles(one.block.spans, one.start, range));
		else requests.push(...cellStyles(one, range));
	}
	return requests;
}

/** One request for each stretch between tables. */
function spacingRequests(paragraphs: readonly PlacedParagraph[], range: RangeOf): Request[] {
	const stretches: Array<{ start: number; end: number }> = [];
	for (const { start, end } of paragraphs) {
		const last = stretches.at(-1);
		if (last !== undefined && last.end + 1 === start) last.end = end;
		else stretches.push({ start, end });
	}
	return stretches
		.filter(({ start, end }) => start < end)
		.map(({ start, end }) => styled(range(start, end), spacing));
}

function ownStyle({ block, start, end }: PlacedParagraph, range: RangeOf): Request[] {
	const style = styleOf(block);
	if (style === undefined || block.list?.bullet === false) return [];
	return [styled(range(start, Math.max(end, start + 1)), style)];
}

function spanStyles(spans: readonly Span[], start: number, range: RangeOf): Request[] {
	let at = start;
	return spans.flatMap(({ text, marks }) => {
		const from = at;
		at += text.length;
		const textStyle = textStyleOf(marks);
		if (textStyle === undefined || text === '') return [];
		return [
			{ updateTextStyle: { range: range(from, at), textStyle, fields: Object.keys(textStyle).join(',') } },
		];
	});
}

/** A table's first row is its header. */
function cellStyles({ block, cells }: PlacedTable, range: RangeOf): Request[] {
	return cells.flatMap((row, rowAt) =>
		row.flatMap(({ spans, start }, columnAt) => {
			const shown =
				rowAt > 0 ? spans : spans.map(({ text, marks }) => ({ text, marks: { ...marks, bold: true } }));
			const style = alignmentOf(block.alignments[columnAt]);
			return [...(style ? [styled(range(start, start + 1), style)] : []), ...spanStyles(shown, start, range)];
		}),
	);
}

/**
 * Bullets. Leading tabs give the level, and Google takes them out again, so that after each list every index is what it was.
 * A list is bulleted as a whole, inner lists of another kind, an item's later paragraphs and text between the items included,
 * because only that keeps one numbering; then the inner ones get bullets of their own and the paragraphs lose theirs.
 */
export function listRequests(layout: Layout, range: RangeOf, tabId: string | undefined): Request[] {
	const requests = layout.lists.flatMap((list) =>
		stretches(list, layout).flatMap((items) => bulletRequests(items, list, range, tabId)),
	);
	const later = layout.placed
		.filter(isParagraph)
		.filter(({ block }) => block.between ?? block.list?.bullet === false);
	return [...requests, ...later.flatMap((one) => laterParagraph(one, range))];
}

/** A table cannot be in a list: the list continues after it. */
function stretches({ first, last }: ListRange, { placed }: Layout): PlacedParagraph[][] {
	const found: PlacedParagraph[][] = [[]];
	for (const one of placed.slice(first, last + 1)) {
		if (!isParagraph(one)) found.push([]);
		else if (one.block.list !== undefined) found.at(-1)?.push(one);
	}
	return found.filter((items) => items.some(({ block }) => block.list?.bullet));
}

function bulletRequests(
	items: readonly PlacedParagraph[],
	{ ordered }: ListRange,
	range: RangeOf,
	tabId: string | undefined,
): Request[] {
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
	return [...tabs, { createParagraphBullets: { range: range(first.start, end), bulletPreset } }];
}

function laterParagraph({ block, start, end }: PlacedParagraph, range: RangeOf): Request[] {
	const touched = range(start, Math.max(end, start + 1));
	const style = block.between ? { ...indent(0), ...styleOf(block) } : styleOf(block);
	return [{ deleteParagraphBullets: { range: touched } }, ...(style ? [styled(touched, style)] : [])];
}
