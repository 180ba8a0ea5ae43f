import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { ListKind, TextMarks } from './blocks';

export type DocumentTab = docs_v1.Schema$DocumentTab;
export type Paragraph = docs_v1.Schema$Paragraph;
export type Elements = readonly docs_v1.Schema$StructuralElement[];

/** A tab with its title, if the text also has other tabs. */
export type TitledTab = DocumentTab & { readonly tabTitle?: string };

/** A part of a paragraph with the same formatting throughout. */
export interface ParagraphPiece {
	readonly text: string;
	readonly marks: TextMarks;
	/** ID of the footnote that the piece refers to. The text is the number of the footnote in brackets. */
	readonly footnoteId?: string;
	/** Address of an image. The text is the description of the image. */
	readonly imageUrl?: string;
	readonly rule?: true;
}

// Docs marks some content of its own with these characters, for example code blocks. Users do not write them.
const privateUsePattern = /[\ue000-\uf8ff]/g;

/** Reads a paragraph without its newline: text, and smart chips (people, links, dates), references to footnotes, images and rules. */
export function readPieces(paragraph: Paragraph, tab: DocumentTab): ParagraphPiece[] {
	const pieces: ParagraphPiece[] = [];
	for (const element of paragraph.elements ?? []) {
		const piece = readPiece(element, tab);
		if (piece && (piece.text !== '' || piece.rule || piece.imageUrl !== undefined))
			pieces.push(piece);
	}
	const lastPiece = pieces.at(-1);
	if (!lastPiece?.text.endsWith('\n')) return pieces;
	const text = lastPiece.text.slice(0, -1);
	const otherPieces = pieces.slice(0, -1);
	return text === '' ? otherPieces : [...otherPieces, { ...lastPiece, text }];
}

function readPiece(
	element: docs_v1.Schema$ParagraphElement,
	tab: DocumentTab,
): ParagraphPiece | undefined {
	const { textRun, person, richLink, dateElement, footnoteReference, inlineObjectElement } =
		element;
	if (textRun)
		return buildPiece(textRun.content?.replace(privateUsePattern, ''), textRun.textStyle);
	if (person) {
		const { name, email } = person.personProperties ?? {};
		return buildPiece(name || email, person.textStyle, email && `mailto:${email}`);
	}
	if (richLink) {
		const { title, uri } = richLink.richLinkProperties ?? {};
		return buildPiece(title || uri, richLink.textStyle, uri);
	}
	if (dateElement) {
		const { displayText, timestamp } = dateElement.dateElementProperties ?? {};
		return buildPiece(displayText || timestamp, dateElement.textStyle);
	}
	if (footnoteReference) {
		const footnoteId = footnoteReference.footnoteId ?? '';
		return { text: `[${footnoteReference.footnoteNumber ?? ''}]`, marks: {}, footnoteId };
	}
	if (inlineObjectElement)
		return readImage(tab.inlineObjects?.[inlineObjectElement.inlineObjectId ?? '']);
	// Google gives no content of an equation.
	if (element.equation) return buildPiece('[equation]');
	return element.horizontalRule ? { text: '', marks: {}, rule: true } : undefined;
}

type OptionalText = string | null | undefined;

const buildPiece = (text: OptionalText, style?: docs_v1.Schema$TextStyle, link?: OptionalText) => ({
	text: text ?? '',
	marks: { ...readMarks(style), ...(link && { link }) },
});

function readImage(object: docs_v1.Schema$InlineObject | undefined): ParagraphPiece | undefined {
	const embedded = object?.inlineObjectProperties?.embeddedObject;
	if (!embedded) return undefined;
	const text = embedded.description || (embedded.title ?? '');
	const imageUrl = embedded.imageProperties?.sourceUri ?? embedded.imageProperties?.contentUri;
	return { text, marks: {}, ...(imageUrl && { imageUrl }) };
}

const fixedWidthPattern =
	/mono|courier|consolas|menlo|monaco|inconsolata|source code|fira code|cascadia code/i;

function readMarks(style: docs_v1.Schema$TextStyle = {}): TextMarks {
	const { bold, italic, strikethrough, weightedFontFamily, link } = style;
	return {
		...(bold && { bold }),
		...(italic && { italic }),
		...(strikethrough && { strikethrough }),
		...(fixedWidthPattern.test(weightedFontFamily?.fontFamily ?? '') && { code: true }),
		...(link?.url && { link: link.url }),
	};
}

/** Returns the stored text of a paragraph. @param substitute the text for each element that is no text */
export const getStoredLine = ({ elements }: Paragraph, substitute = '') =>
	(elements ?? []).map(({ textRun }) => textRun?.content ?? substitute).join('');

export const getCells = (table: docs_v1.Schema$Table | undefined) =>
	table?.tableRows?.flatMap(({ tableCells }) => tableCells ?? []) ?? [];

/** Returns all paragraphs in the order of the document, also those in tables and tables of contents. */
export function* getParagraphs(content: Elements): Generator<Paragraph> {
	for (const { paragraph, table, tableOfContents } of content) {
		if (paragraph) yield paragraph;
		for (const cell of getCells(table)) yield* getParagraphs(cell.content ?? []);
		yield* getParagraphs(tableOfContents?.content ?? []);
	}
}

/** Returns the footnotes of a tab in the order of their references. Footnotes without a reference come last. */
export function getFootnotes(tab: DocumentTab) {
	const numbersById = new Map<string, string>();
	for (const { elements } of getParagraphs(tab.body?.content ?? []))
		for (const { footnoteReference: reference } of elements ?? [])
			if (reference?.footnoteId)
				numbersById.set(reference.footnoteId, reference.footnoteNumber ?? '');
	const footnotes = tab.footnotes ?? {};
	const ids = new Set([...numbersById.keys(), ...Object.keys(footnotes)]);
	return [...ids].map((id) => ({
		id,
		number: numbersById.get(id) ?? '',
		content: footnotes[id]?.content ?? [],
	}));
}

/** Returns the contents of the headers, the body and the footers, in this order. */
export function getTabContents({ headers, body, footers }: DocumentTab): Elements[] {
	const parts = [...Object.values(headers ?? {}), body, ...Object.values(footers ?? {})];
	return parts.map((part) => part?.content ?? []);
}

const headingLevels = [1, 2, 3, 4, 5, 6] as const;
export type HeadingLevel = (typeof headingLevels)[number];

/** Returns the level that a heading has in Markdown; undefined for other paragraphs. */
export function getHeadingLevel(namedStyle: OptionalText): HeadingLevel | undefined {
	if (namedStyle === 'TITLE') return 1;
	if (namedStyle === 'SUBTITLE') return 2;
	return headingLevels.find((level) => namedStyle === `HEADING_${level}`);
}

/** Points of indentation per list level, as in the bullet presets of Docs. */
export const listIndentPoints = 36;
/** Points of indentation per quote. This is half a list level, so that a quote in a list item does not look like a deeper list item. */
export const quoteIndentPoints = 18;
/** Spacing of paragraphs that we write from Markdown. `COLLAPSE_LISTS` leaves no space between the items of a list. */
export const markdownParagraphSpacing = {
	spaceBelow: { magnitude: 8, unit: 'PT' },
	spacingMode: 'COLLAPSE_LISTS',
};

/** Only a border and the indentation show that a paragraph of Docs is in a quote, or belongs to the list item above it. */
export interface ParagraphIndent {
	/** Whether the paragraph has a border on the left, as quotes have. */
	readonly isQuoted: boolean;
	readonly indentPoints: number;
}

export const getParagraphIndent = ({ paragraphStyle: style }: Paragraph): ParagraphIndent => ({
	isQuoted: isBorderVisible(style?.borderLeft),
	indentPoints: style?.indentStart?.magnitude ?? 0,
});

export const isBorderVisible = (border?: docs_v1.Schema$ParagraphBorder) =>
	(border?.width?.magnitude ?? 0) > 0;

export interface Glyph {
	/** The glyph that Docs displays, such as `●`, `3.` or `b)`. A checkbox is ☐, because its paragraph says whether it is ticked. */
	readonly text: string;
	/** Counts from 0. */
	readonly level: number;
	readonly kind: ListKind;
	/** The number of the item, also in a list with bullets. */
	readonly number: number;
}

/** Deepest level of a list in Docs, counted from 0. A gateway in place of Google may send a deeper one. */
export const maxListLevel = 8;

/** Numbers the items of lists in reading order, because Google gives the format of a glyph, not the glyph itself. */
export class GlyphCounter {
	readonly #lists: Readonly<Record<string, docs_v1.Schema$List>>;
	/** By list ID: the last number at each level. Each item lets the levels below it begin anew. */
	readonly #lastNumbers = new Map<string, number[]>();

	constructor(tab: DocumentTab) {
		this.#lists = tab.lists ?? {};
	}

	/** Counts one more item of a list. @returns the glyph in front of the item */
	countItem(bullet: docs_v1.Schema$Bullet): Glyph {
		const listId = bullet.listId ?? '';
		const level = Math.min(Math.max(0, Math.trunc(bullet.nestingLevel ?? 0)), maxListLevel);
		const levels = this.#lists[listId]?.listProperties?.nestingLevels ?? [];
		const getStart = (index: number) => levels[index]?.startNumber ?? 1;
		const numbers = (this.#lastNumbers.get(listId) ?? []).slice(0, level + 1);
		for (let outer = 0; outer < level; outer++) numbers[outer] ??= getStart(outer);
		const number = (numbers[level] ?? getStart(level) - 1) + 1;
		numbers[level] = number;
		this.#lastNumbers.set(listId, numbers);
		const properties = levels[level] ?? {};
		const kind = getListKind(properties);
		if (kind === 'checkbox') return { text: '☐', level, kind, number };
		if (kind === 'bullet')
			return { text: dropIfTooLong(properties.glyphSymbol) || '•', level, kind, number };
		const format = dropIfTooLong(properties.glyphFormat) || `%${level}.`;
		const text = format.replace(/%(\d)/g, (_, digit: string) => {
			const index = Number(digit);
			return formatItemNumber(numbers[index], levels[index]?.glyphType);
		});
		return { text, level, kind, number };
	}
}

/** Each item repeats its format or symbol. Those of Docs have at most five characters. */
const maxGlyphCharacters = 50;
const dropIfTooLong = (text: OptionalText) =>
	text && text.length <= maxGlyphCharacters ? text : undefined;

/** Google says nothing of a checkbox but that it has neither a symbol nor a type. */
function getListKind({ glyphType, glyphSymbol }: docs_v1.Schema$NestingLevel): ListKind {
	if (glyphType === 'GLYPH_TYPE_UNSPECIFIED' && !glyphSymbol) return 'checkbox';
	return glyphType && !unnumberedTypes.includes(glyphType) ? 'number' : 'bullet';
}

const unnumberedTypes = ['NONE', 'GLYPH_TYPE_UNSPECIFIED'];

/** Whether all text of a checkbox is struck through. Google shows no other sign of a ticked one. */
export function isTicked(pieces: readonly ParagraphPiece[]): boolean {
	const texts = pieces.filter(({ text }) => text.trim() !== '');
	return texts.length > 0 && texts.every(({ marks }) => marks.strikethrough);
}

/** Greater numbers would have too many letters. 780 is 30 times 'z'. */
const maxLetterNumber = 780;
/** Greater numbers have no common Roman numeral. */
const maxRomanNumber = 3999;

function formatItemNumber(number: number | undefined, type: OptionalText): string {
	if (number === undefined) return '';
	if (type === 'ZERO_DECIMAL') return String(number).padStart(2, '0');
	const isLetter = type?.endsWith('ALPHA') && number > 0 && number <= maxLetterNumber;
	const isRoman = type?.endsWith('ROMAN') && number > 0 && number <= maxRomanNumber;
	if (!isLetter && !isRoman) return String(number);
	const numeral = isRoman ? toRoman(number) : toLetters(number);
	return type?.startsWith('UPPER') ? numeral.toUpperCase() : numeral;
}

/** Counts in letters as Docs does: a to z, aa to zz, aaa to zzz. */
function toLetters(number: number): string {
	const letter = String.fromCharCode(97 + ((number - 1) % 26));
	return letter.repeat(Math.ceil(number / 26));
}

const romanNumerals: ReadonlyArray<readonly [number, string]> = [
	[1000, 'm'],
	[900, 'cm'],
	[500, 'd'],
	[400, 'cd'],
	[100, 'c'],
	[90, 'xc'],
	[50, 'l'],
	[40, 'xl'],
	[10, 'x'],
	[9, 'ix'],
	[5, 'v'],
	[4, 'iv'],
	[1, 'i'],
];

function toRoman(number: number): string {
	let rest = number;
	let text = '';
	for (const [value, numeral] of romanNumerals)
		for (; rest >= value; rest -= value) text += numeral;
	return text;
}
