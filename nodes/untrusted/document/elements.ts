import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { TextMarks } from './blocks';

export type DocumentTab = docs_v1.Schema$DocumentTab;
export type Paragraph = docs_v1.Schema$Paragraph;
export type Elements = readonly docs_v1.Schema$StructuralElement[];

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
	const pieces = (paragraph.elements ?? []).flatMap((element) => readPiece(element, tab) ?? []);
	const lastPiece = pieces.at(-1);
	if (lastPiece?.text.endsWith('\n'))
		pieces.splice(-1, 1, { ...lastPiece, text: lastPiece.text.slice(0, -1) });
	return pieces.filter(
		(piece) => piece.text !== '' || piece.rule || piece.imageUrl !== undefined,
	);
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
	return element.horizontalRule ? { text: '', marks: {}, rule: true } : undefined;
}

const buildPiece = (text: OptionalText, style?: docs_v1.Schema$TextStyle, link?: OptionalText) => ({
	text: text ?? '',
	marks: { ...readMarks(style), ...(link && { link }) },
});

type OptionalText = string | null | undefined;

function readImage(object: docs_v1.Schema$InlineObject | undefined): ParagraphPiece | undefined {
	const embedded = object?.inlineObjectProperties?.embeddedObject;
	if (!embedded) return undefined;
	const text = embedded.description || (embedded.title ?? '');
	const imageUrl = embedded.imageProperties?.sourceUri ?? embedded.imageProperties?.contentUri;
	return { text, marks: {}, ...(imageUrl && { imageUrl }) };
}

const fixedWidthPattern =
	/mono|courier|consolas|menlo|monaco|inconsolata|source code|fira code|cascadia code/i;

function readMarks(style: docs_v1.Schema$TextStyle | undefined): TextMarks {
	const { bold, italic, strikethrough, weightedFontFamily, link } = style ?? {};
	return {
		...(bold && { bold: true }),
		...(italic && { italic: true }),
		...(strikethrough && { strikethrough: true }),
		...(fixedWidthPattern.test(weightedFontFamily?.fontFamily ?? '') && { code: true }),
		...(link?.url && { link: link.url }),
	};
}

/** Returns the stored text of a paragraph. @param substitute the text for each element that is no text */
export const getStoredLine = ({ elements }: Paragraph, substitute = '') =>
	(elements ?? []).map(({ textRun }) => textRun?.content ?? substitute).join('');

export const getCells = (table: docs_v1.Schema$Table | undefined) =>
	table?.tableRows?.flatMap(({ tableCells }) => tableCells ?? []) ?? [];

/** Returns the footnotes of a tab in the order of their references. Footnotes without a reference come last. */
export function getFootnotes(tab: DocumentTab) {
	const numbersById = new Map<string, string>();
	const visit = (content: Elements) => {
		for (const { paragraph, table, tableOfContents } of content) {
			for (const { footnoteReference: reference } of paragraph?.elements ?? [])
				if (reference?.footnoteId)
					numbersById.set(reference.footnoteId, reference.footnoteNumber ?? '');
			for (const cell of getCells(table)) visit(cell.content ?? []);
			visit(tableOfContents?.content ?? []);
		}
	};
	visit(tab.body?.content ?? []);
	const ids = new Set([...numbersById.keys(), ...Object.keys(tab.footnotes ?? {})]);
	const getContent = (id: string) => tab.footnotes?.[id]?.content ?? [];
	return [...ids].map((id) => ({
		id,
		number: numbersById.get(id) ?? '',
		content: getContent(id),
	}));
}

/** Returns the contents of the headers, the body and the footers, in this order. */
export function getTabContents(tab: DocumentTab): Elements[] {
	const parts = [
		...Object.values(tab.headers ?? {}),
		tab.body,
		...Object.values(tab.footers ?? {}),
	];
	return parts.map((part) => part?.content ?? []);
}

/** Returns the level that a heading has in Markdown; undefined for other paragraphs. */
export function getHeadingLevel(namedStyle: string): 1 | 2 | 3 | 4 | 5 | 6 | undefined {
	if (namedStyle === 'TITLE') return 1;
	if (namedStyle === 'SUBTITLE') return 2;
	return ([1, 2, 3, 4, 5, 6] as const).find((level) => namedStyle === `HEADING_${level}`);
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
	/** The glyph that Docs displays, such as `●`, `3.` or `b)`. */
	readonly text: string;
	/** Counts from 0. */
	readonly level: number;
	readonly ordered: boolean;
	/** The number of the item, also in a list with bullets. */
	readonly number: number;
}

const bulletGlyphTypes = new Set([undefined, null, 'NONE', 'GLYPH_TYPE_UNSPECIFIED']);
/** Deepest level of a list in Docs, counted from 0. A gateway in place of Google may send a deeper one. */
export const maxListLevel = 8;
/** Longer formats and symbols are ignored, because each item repeats them. The formats of Docs have at most five characters. */
const maxGlyphCharacters = 50;

/** Numbers the items of lists in reading order, because Google gives the format of a glyph, not the glyph itself. */
export class GlyphCounter {
	readonly #lists: Readonly<Record<string, docs_v1.Schema$List>>;
	/** By list ID: the last number at each level. Each item lets the levels below it begin anew. */
	readonly #lastNumbers = new Map<string, number[]>();

	constructor(tab: docs_v1.Schema$DocumentTab) {
		this.#lists = tab.lists ?? {};
	}

	/** Counts one more item of a list. @returns the glyph in front of the item */
	countItem(bullet: docs_v1.Schema$Bullet): Glyph {
		const listId = bullet.listId ?? '';
		const level = Math.min(Math.max(0, Math.trunc(bullet.nestingLevel ?? 0)), maxListLevel);
		const levels = this.#lists[listId]?.listProperties?.nestingLevels ?? [];
		const lastNumbers = this.#lastNumbers.get(listId) ?? [];
		const getStart = (index: number) => levels[index]?.startNumber ?? 1;
		const number = (lastNumbers[level] ?? getStart(level) - 1) + 1;
		const outerNumbers = Array.from(
			{ length: level },
			(_, index) => lastNumbers[index] ?? getStart(index),
		);
		this.#lastNumbers.set(listId, [...outerNumbers, number]);
		const { glyphType, glyphFormat, glyphSymbol } = levels[level] ?? {};
		const ordered = !bulletGlyphTypes.has(glyphType);
		if (!ordered) return { text: dropIfTooLong(glyphSymbol) || '•', level, ordered, number };
		const numberTexts = [...outerNumbers, number].map((levelNumber, index) =>
			formatItemNumber(levelNumber, levels[index]?.glyphType ?? 'DECIMAL'),
		);
		const format = dropIfTooLong(glyphFormat) ?? `%${level}.`;
		const text = format.replace(
			/%(\d)/g,
			(_, index: string) => numberTexts[Number(index)] ?? '',
		);
		return { text, level, ordered, number };
	}
}

const dropIfTooLong = (text: OptionalText) =>
	text && text.length <= maxGlyphCharacters ? text : undefined;

/** Greater numbers would have too many letters. 780 is 30 times 'z'. */
const maxLetterNumber = 780;
/** Greater numbers have no common Roman numeral. */
const maxRomanNumber = 3999;

function formatItemNumber(number: number, type: string): string {
	if (number < 1) return String(number);
	const isRoman = type.endsWith('ROMAN') && number <= maxRomanNumber;
	const isLetter = type.endsWith('ALPHA') && number <= maxLetterNumber;
	if (!isRoman && !isLetter) return String(number).padStart(type === 'ZERO_DECIMAL' ? 2 : 1, '0');
	const numeral = isRoman ? toRoman(number) : toLetters(number);
	return type.startsWith('UPPER') ? numeral.toUpperCase() : numeral;
}

/** Counts in letters as Docs does: a to z, aa to zz, aaa to zzz. */
function toLetters(number: number): string {
	const letter = String.fromCharCode(97 + ((number - 1) % 26));
	return letter.repeat(Math.ceil(number / 26));
}

/** Roman numerals by decimal place, from ones to thousands, and by digit. */
const romanNumerals = [
	['', 'i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix'],
	['', 'x', 'xx', 'xxx', 'xl', 'l', 'lx', 'lxx', 'lxxx', 'xc'],
	['', 'c', 'cc', 'ccc', 'cd', 'd', 'dc', 'dcc', 'dccc', 'cm'],
	['', 'm', 'mm', 'mmm'],
];

function toRoman(number: number): string {
	const digits = Array.from(String(number), Number).toReversed();
	const numerals = digits.map((digit, place) => romanNumerals[place]?.[digit] ?? '');
	return numerals.toReversed().join('');
}
