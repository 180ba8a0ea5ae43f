import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { joinSpans, type Span, type TextMarks } from '../../../untrusted/document/blocks';
import type {
	Block,
	DocumentContent,
	ListRange,
	ParagraphBlock,
	TableBlock,
} from '../../../untrusted/document/blocks';
import * as elements from '../../../untrusted/document/elements';
import type { ContentPlace } from './contentPlace';
import {
	type DocsRequest,
	type Extent,
	layOutCells,
	type PlacedTable,
	type TextLine,
} from './tableRequests';

type ParagraphStyle = docs_v1.Schema$ParagraphStyle;

interface PlacedParagraph extends TextLine {
	readonly block: ParagraphBlock;
}

/** The indexes that all content will have. Its text is inserted first, and then its tables, from last to first. */
export class Layout {
	/** Text of all paragraphs, for a single `insertText`. */
	text = '';
	/** All blocks in the order of the document. */
	readonly placedBlocks: Array<PlacedParagraph | PlacedTable> = [];
	readonly paragraphs: PlacedParagraph[] = [];
	readonly tables: PlacedTable[] = [];
	/** Lines of paragraphs and cells in the order of the document. */
	readonly lines: TextLine[] = [];
	readonly lists: readonly ListRange[];
	readonly #textStart: number;
	readonly #tabId: string | undefined;
	/** Index of the next block once all tables before it are inserted. */
	#nextIndex: number;

	/** @param textStart where to insert the content, inside a paragraph */
	constructor({ blocks, lists }: DocumentContent, textStart: number, tabId?: string) {
		this.lists = lists;
		this.#textStart = textStart;
		this.#tabId = tabId;
		this.#nextIndex = textStart;
		for (const [position, block] of blocks.entries()) {
			if (block.kind === 'table') this.#placeTable(block);
			else this.#placeParagraph(block, blocks[position + 1]);
		}
	}

	/** Index after the text of the last paragraph. */
	get end(): number {
		return this.#nextIndex - 1;
	}

	toRange(startIndex: number, endIndex: number): docs_v1.Schema$Range {
		return { startIndex, endIndex, tabId: this.#tabId };
	}

	toLocation(index: number): docs_v1.Schema$Location {
		return { index, tabId: this.#tabId };
	}

	#placeParagraph(block: ParagraphBlock, nextBlock: Block | undefined): void {
		const text = joinSpans(block.spans);
		const start = this.#nextIndex;
		const paragraph = { block, spans: block.spans, start, end: start + text.length };
		// `insertTable` adds a newline before the table, so none is inserted there.
		this.text += nextBlock?.kind === 'paragraph' ? `${text}\n` : text;
		this.#nextIndex = paragraph.end + 1;
		this.placedBlocks.push(paragraph);
		this.paragraphs.push(paragraph);
		this.lines.push(paragraph);
	}

	#placeTable(block: TableBlock): void {
		const cells = layOutCells(block, this.#nextIndex);
		const table = { block, insertIndex: this.#textStart + this.text.length, cells };
		// After the last cell come its newline and the end of the table.
		this.#nextIndex = (cells.at(-1)?.at(-1)?.end ?? this.#nextIndex) + 2;
		this.placedBlocks.push(table);
		this.tables.push(table);
		this.lines.push(...cells.flat());
	}
}

export function placeSpans({ lines }: Layout): Array<Span & Extent> {
	return lines.flatMap(({ spans, start: lineStart }) => {
		let end = lineStart;
		return spans.map((span) => {
			const start = end;
			end += span.text.length;
			return { ...span, start, end };
		});
	});
}

const toPoints = (magnitude: number): docs_v1.Schema$Dimension => ({ magnitude, unit: 'PT' });
const toGray = (brightness: number): docs_v1.Schema$OptionalColor => ({
	color: { rgbColor: { red: brightness, green: brightness, blue: brightness } },
});
const buildBorder = ({ width, padding }: Readonly<Record<'width' | 'padding', number>>) => ({
	color: toGray(0.8),
	dashStyle: 'SOLID',
	padding: toPoints(padding),
	width: toPoints(width),
});

const toIndent = (points: number) => ({
	indentStart: toPoints(points),
	indentFirstLine: toPoints(points),
});

/** Builds the paragraph style of a block. @returns an empty style for plain text */
function buildParagraphStyle({ format, quoteDepth, list }: ParagraphBlock): ParagraphStyle {
	const indentPoints =
		elements.listIndentPoints * (list ? list.level + 1 : 0) +
		elements.quoteIndentPoints * quoteDepth;
	return {
		...(typeof format === 'number' && { namedStyleType: `HEADING_${format}` }),
		...(format === 'code' && { shading: { backgroundColor: toGray(0.95) } }),
		...(format === 'rule' && { borderBottom: buildBorder({ width: 1, padding: 1 }) }),
		...(quoteDepth > 0 && { borderLeft: buildBorder({ width: 3, padding: 6 }) }),
		...(!list?.hasBullet && indentPoints > 0 && toIndent(indentPoints)),
	};
}

const isLaterParagraphOfItem = ({ list }: ParagraphBlock) => list?.hasBullet === false;

export const hasStyle = (block: ParagraphBlock) =>
	Object.keys(buildParagraphStyle(block)).length > 0;

const buildTextStyle = ({ code, link, ...otherMarks }: TextMarks): docs_v1.Schema$TextStyle => ({
	...otherMarks,
	...(code && { weightedFontFamily: { fontFamily: 'Courier New', weight: 400 } }),
	...(link !== undefined && { link: { url: link } }),
});

// All fields except `direction`, which depends on the language, and `pageBreakBefore`, which Google refuses in some places.
const resetParagraphFields =
	'namedStyleType,alignment,lineSpacing,spacingMode,spaceAbove,spaceBelow,borderBetween,borderTop,borderBottom,' +
	'borderLeft,borderRight,indentFirstLine,indentStart,indentEnd,keepLinesTogether,keepWithNext,avoidWidowAndOrphan,shading';

export interface InsertTarget extends Pick<ContentPlace, 'index' | 'tabId' | 'mayInheritStyle'> {
	/** Whether the first paragraph continues the paragraph at the index, with the style of that paragraph. */
	readonly continuesParagraph: boolean;
}

function buildResetRequests(range: docs_v1.Schema$Range): DocsRequest[] {
	const normalStyle = { namedStyleType: 'NORMAL_TEXT' };
	return [
		{ deleteParagraphBullets: { range } },
		{
			updateParagraphStyle: {
				range,
				paragraphStyle: normalStyle,
				fields: resetParagraphFields,
			},
		},
		{ updateTextStyle: { range, textStyle: {}, fields: '*' } },
	];
}

/** Returns the range of a paragraph's text. An empty paragraph has the range of its newline, because Google refuses an empty range. */
const toTextRange = ({ start, end }: Extent, layout: Layout) =>
	layout.toRange(start, Math.max(end, start + 1));

/** Builds the request that gives paragraphs a style. @returns no request for an empty style */
function buildStyleUpdate(
	extent: Extent,
	paragraphStyle: ParagraphStyle,
	layout: Layout,
): DocsRequest[] {
	const fields = Object.keys(paragraphStyle).join(',');
	const range = toTextRange(extent, layout);
	return fields === '' ? [] : [{ updateParagraphStyle: { range, paragraphStyle, fields } }];
}

/** Builds the requests for styles of paragraphs and text. They change no index. */
export function buildStyleRequests(layout: Layout, target: InsertTarget): DocsRequest[] {
	const { end } = layout;
	const paragraphs = target.continuesParagraph ? layout.paragraphs.slice(1) : layout.paragraphs;
	const start = paragraphs[0]?.start ?? end;
	const requests: DocsRequest[] = [];
	if (target.mayInheritStyle && start < end)
		requests.push(...buildResetRequests(layout.toRange(start, end)));
	// Inserted text that continues a paragraph keeps the paragraph's style. Only the style of its text is reset.
	if (target.mayInheritStyle && target.index < start) {
		const range = layout.toRange(target.index, start);
		requests.push({ updateTextStyle: { range, textStyle: {}, fields: '*' } });
	}
	// `buildListRequests` gives later paragraphs of an item a bullet and removes it, which resets their style. Then it styles them itself.
	const paragraphsToStyle = paragraphs.filter(({ block }) => !isLaterParagraphOfItem(block));
	return [
		...requests,
		...buildSpacingRequests(paragraphs, layout),
		...paragraphsToStyle.flatMap((line) =>
			buildStyleUpdate(line, buildParagraphStyle(line.block), layout),
		),
		...layout.tables.flatMap((table) => buildAlignmentRequests(table, layout)),
		...buildTextStyleRequests(layout),
	];
}

/** Builds one request for each stretch of paragraphs without a table or plain text between them. */
function buildSpacingRequests(
	paragraphs: readonly PlacedParagraph[],
	layout: Layout,
): DocsRequest[] {
	const stretches: Array<{ start: number; end: number }> = [];
	for (const { block, start, end } of paragraphs) {
		if (block.format === 'plain') continue;
		const stretch = stretches.at(-1);
		if (stretch !== undefined && stretch.end + 1 === start) stretch.end = end;
		else stretches.push({ start, end });
	}
	const ranges = stretches.filter(({ start, end }) => start < end);
	return ranges.flatMap((range) =>
		buildStyleUpdate(range, elements.markdownParagraphSpacing, layout),
	);
}

const docsAlignments = {
	center: { alignment: 'CENTER' },
	right: { alignment: 'END' },
	left: {},
} as const;

const buildAlignmentRequests = ({ block, cells }: PlacedTable, layout: Layout) =>
	cells.flatMap((row) =>
		row.flatMap(({ start }, column) => {
			const style = docsAlignments[block.alignments[column] ?? 'left'];
			return buildStyleUpdate({ start, end: start }, style, layout);
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
 * Builds the requests for bullets. The first request gives bullets to everything in a list, because otherwise its numbering would begin
 * anew. Then inner lists of another kind get their own bullets. Later paragraphs of an item, and text between items, lose their bullets.
 * Tab characters set the level of an item. Google removes these characters, so later indexes stay right.
 */
export function buildListRequests(layout: Layout): DocsRequest[] {
	const requests = layout.lists.flatMap((list) =>
		splitAtTables(list, layout).flatMap((paragraphs) =>
			buildBulletRequests(paragraphs, list, layout),
		),
	);
	const removalRequests = layout.paragraphs
		.filter(({ block }) => block.isBetweenItems === true || isLaterParagraphOfItem(block))
		.flatMap((paragraph) => buildBulletRemoval(paragraph, layout));
	return [...requests, ...removalRequests];
}

/** Splits a list at its tables, because Docs allows no table in a list. */
function splitAtTables(
	{ firstIndex, lastIndex }: ListRange,
	{ placedBlocks }: Layout,
): PlacedParagraph[][] {
	const stretches: PlacedParagraph[][] = [[]];
	for (const placed of placedBlocks.slice(firstIndex, lastIndex + 1)) {
		if ('cells' in placed) stretches.push([]);
		else if (placed.block.list !== undefined) stretches.at(-1)?.push(placed);
	}
	return stretches.filter((paragraphs) => paragraphs.some(({ block }) => block.list?.hasBullet));
}

const bulletPresets = {
	bullet: 'BULLET_DISC_CIRCLE_SQUARE',
	number: 'NUMBERED_DECIMAL_ALPHA_ROMAN',
	checkbox: 'BULLET_CHECKBOX',
} as const;

function buildBulletRequests(
	paragraphs: readonly PlacedParagraph[],
	{ kind }: ListRange,
	layout: Layout,
) {
	const first = paragraphs[0];
	const last = paragraphs.at(-1);
	if (first === undefined || last === undefined) return [];
	const levelTabRequests = paragraphs.toReversed().flatMap(({ block: { list }, start }) => {
		const text = list?.hasBullet ? '\t'.repeat(list.level) : '';
		return text === '' ? [] : [{ insertText: { text, location: layout.toLocation(start) } }];
	});
	const tabCharacterCount = levelTabRequests.reduce(
		(sum, { insertText }) => sum + insertText.text.length,
		0,
	);
	const bulletPreset = bulletPresets[kind];
	const end = Math.max(last.end, last.start + 1) + tabCharacterCount;
	const range = layout.toRange(first.start, end);
	return [...levelTabRequests, { createParagraphBullets: { range, bulletPreset } }];
}

function buildBulletRemoval(paragraph: PlacedParagraph, layout: Layout): DocsRequest[] {
	const { block } = paragraph;
	const style = { ...(block.isBetweenItems && toIndent(0)), ...buildParagraphStyle(block) };
	const deleteParagraphBullets = { range: toTextRange(paragraph, layout) };
	return [{ deleteParagraphBullets }, ...buildStyleUpdate(paragraph, style, layout)];
}
