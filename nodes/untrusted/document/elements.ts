import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { ListKind, Span } from './blocks';

export type DocumentTab = docs_v1.Schema$DocumentTab;
export type Paragraph = docs_v1.Schema$Paragraph;
export type Elements = readonly docs_v1.Schema$StructuralElement[];

/** A tab with its title; '' or absent if the text has no other tabs. */
export type TitledTab = DocumentTab & { readonly tabTitle?: string };

/** A part of a paragraph. The text of an image is its description. */
export interface ParagraphPiece extends Span {
	/** Number of the footnote that the piece refers to. The text is this number in brackets. */
	readonly footnoteNumber?: string;
	readonly isRule?: boolean;
}

// The newline at the end, and private characters, with which Docs marks some content of its own.
const removedPattern = /[\n\ue000-\uf8ff]/g;

/**
 * Reads a paragraph without its newline: text, and smart chips (people, links, dates), references
 * to footnotes, images and rules.
 */
export function readPieces(paragraph: Paragraph, tab: DocumentTab): ParagraphPiece[] {
	const pieces = (paragraph.elements ?? []).map((element) => readPiece(element, tab));
	return pieces.filter((piece) => piece.text !== '' || piece.isRule || piece.imageUrl);
}

function readPiece(element: docs_v1.Schema$ParagraphElement, tab: DocumentTab): ParagraphPiece {
	const { textRun, footnoteReference, inlineObjectElement } = element;
	if (textRun) return buildPiece(textRun.content?.replace(removedPattern, ''), textRun.textStyle);
	if (footnoteReference) {
		const footnoteNumber = footnoteReference.footnoteNumber ?? '';
		return { ...buildPiece(`[${footnoteNumber}]`), footnoteNumber };
	}
	if (inlineObjectElement) {
		const { inlineObjectId, textStyle } = inlineObjectElement;
		return readImage(tab.inlineObjects?.[inlineObjectId ?? ''], textStyle);
	}
	// Google gives no content of an equation.
	if (element.equation) return buildPiece('[equation]');
	if (element.horizontalRule) return { ...buildPiece(''), isRule: true };
	return readChip(element);
}

/** Reads a smart chip: a person, a link to a file, or a date. */
function readChip({ person, richLink, dateElement }: docs_v1.Schema$ParagraphElement) {
	if (person) {
		const { name, email } = person.personProperties ?? {};
		return buildPiece(name || email, person.textStyle, email && `mailto:${email}`);
	}
	if (richLink) {
		const { title, uri } = richLink.richLinkProperties ?? {};
		return buildPiece(title || uri, richLink.textStyle, uri);
	}
	const { displayText, timestamp } = dateElement?.dateElementProperties ?? {};
	return buildPiece(displayText || timestamp, dateElement?.textStyle);
}

type OptionalText = string | null | undefined;

function buildPiece(
	text: OptionalText,
	style: docs_v1.Schema$TextStyle = {},
	address: OptionalText = style.link?.url,
): ParagraphPiece {
	const marks = {
		bold: style.bold || undefined,
		italic: style.italic || undefined,
		strikethrough: style.strikethrough || undefined,
		code: fixedWidthPattern.test(style.weightedFontFamily?.fontFamily ?? ''),
		link: address || undefined,
	};
	return { text: text ?? '', marks };
}

const fixedWidthPattern =
	/\bmono(?:space)?\b|courier|consolas|menlo|monaco|inconsolata|source code|fira code|cascadia code/i;

function readImage(
	object: docs_v1.Schema$InlineObject = {},
	{ link }: docs_v1.Schema$TextStyle = {},
): ParagraphPiece {
	const { description, title, imageProperties } =
		object.inlineObjectProperties?.embeddedObject ?? {};
	const imageUrl = imageProperties?.sourceUri ?? imageProperties?.contentUri ?? '';
	return { ...buildPiece(description || title, { link }), imageUrl };
}

/**
 * Returns the stored text of a paragraph.
 * @param substitute the text for each element that is no text
 */
export const getStoredLine = ({ elements }: Paragraph, substitute = '') =>
	(elements ?? []).map(({ textRun }) => textRun?.content ?? substitute).join('');

export const getCells = (table: docs_v1.Schema$Table | undefined) =>
	table?.tableRows?.flatMap(({ tableCells }) => tableCells ?? []) ?? [];

/**
 * Replaces tables of contents, and tables with one cell, which are frames around code or text, by
 * what is in them. Leaves out section breaks.
 */
export function openFrames(content: Elements): Elements {
	return content.flatMap((element) => {
		const { paragraph, table, tableOfContents } = element;
		const [cell, ...otherCells] = getCells(table);
		if (paragraph || otherCells.length > 0) return [element];
		return openFrames((tableOfContents ?? cell)?.content ?? []);
	});
}

type ParagraphElement = docs_v1.Schema$StructuralElement & { readonly paragraph: Paragraph };

/**
 * Returns all paragraphs in the order of the document, also those in tables and tables of contents.
 */
export function* getParagraphs(content: Elements): Generator<ParagraphElement> {
	for (const element of content) {
		const { paragraph, table, tableOfContents } = element;
		if (paragraph) yield { ...element, paragraph };
		for (const cell of getCells(table)) yield* getParagraphs(cell.content ?? []);
		yield* getParagraphs(tableOfContents?.content ?? []);
	}
}

/** Returns the footnotes of a tab in the order of their references. */
export function getFootnotes({ body, footnotes }: DocumentTab) {
	const foundFootnotes: Array<{ readonly number: string; readonly content: Elements }> = [];
	for (const { paragraph } of getParagraphs(body?.content ?? []))
		for (const { footnoteReference } of paragraph.elements ?? []) {
			const footnote = footnotes?.[footnoteReference?.footnoteId ?? ''];
			const number = footnoteReference?.footnoteNumber ?? '';
			if (footnote) foundFootnotes.push({ number, content: footnote.content ?? [] });
		}
	return foundFootnotes;
}

/** Returns the contents of the headers, the body and the footers, in this order. */
export function getTabContents({ headers, body, footers }: DocumentTab): Elements[] {
	const parts = [...Object.values(headers ?? {}), body, ...Object.values(footers ?? {})];
	return parts.map((part) => part?.content ?? []);
}

export const headingLevels = [1, 2, 3, 4, 5, 6] as const;
export type HeadingLevel = (typeof headingLevels)[number];

/** Returns the level that a heading has in Markdown; undefined for other paragraphs. */
export function getHeadingLevel({ paragraphStyle }: Paragraph): HeadingLevel | undefined {
	const namedStyle = paragraphStyle?.namedStyleType;
	if (namedStyle === 'TITLE') return 1;
	if (namedStyle === 'SUBTITLE') return 2;
	return headingLevels.find((level) => namedStyle === `HEADING_${level}`);
}

export const isBorderVisible = (border: docs_v1.Schema$ParagraphBorder | undefined) =>
	(border?.width?.magnitude ?? 0) > 0;

export interface ListItem {
	/** Counts from 0. */
	readonly level: number;
	/** The number of the item, also in a list with bullets. */
	readonly number: number;
	readonly kind: ListKind;
	/** Only a checkbox has it. */
	readonly isTicked?: boolean;
	/** What stands in front of the item in plain text. */
	readonly sign: string;
}

export type ParagraphReader = ReturnType<typeof createParagraphReader>;

/**
 * Creates a function that reads the paragraphs of a tab in their order. It numbers the items of
 * lists, because Google only gives the format of a number.
 */
export function createParagraphReader(tab: DocumentTab) {
	/** By list ID: the last number at each level. Each item lets the levels below it begin anew. */
	const lastNumbers = new Map<string, number[]>();
	return (paragraph: Paragraph) => {
		const pieces = readPieces(paragraph, tab);
		if (!paragraph.bullet) return { pieces };
		const id = paragraph.bullet.listId ?? '';
		const level = paragraph.bullet.nestingLevel ?? 0;
		const style = tab.lists?.[id]?.listProperties?.nestingLevels?.[level] ?? {};
		const numbers = (lastNumbers.get(id) ?? []).slice(0, level + 1);
		const number = (numbers[level] ?? (style.startNumber ?? 1) - 1) + 1;
		numbers[level] = number;
		lastNumbers.set(id, numbers);
		return { pieces, item: { level, number, ...describeItem(style, number, pieces) } };
	};
}

function describeItem(
	{ glyphType, glyphSymbol }: docs_v1.Schema$NestingLevel,
	number: number,
	pieces: readonly ParagraphPiece[],
): Pick<ListItem, 'kind' | 'isTicked' | 'sign'> {
	if (glyphSymbol || !glyphType || glyphType === 'NONE') return { kind: 'bullet', sign: '•' };
	// Google says nothing of a checkbox but that it has neither a symbol nor a type.
	if (glyphType !== 'GLYPH_TYPE_UNSPECIFIED') return { kind: 'number', sign: `${number}.` };
	// Google shows no other sign of a ticked one than text that is struck through.
	const texts = pieces.filter(({ text }) => text.trim() !== '');
	const isTicked = texts.length > 0 && texts.every(({ marks }) => marks.strikethrough);
	return { kind: 'checkbox', isTicked, sign: isTicked ? '☑' : '☐' };
}
