import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { TextMarks } from './blocks';

export type DocumentTab = docs_v1.Schema$DocumentTab;
export type Paragraph = docs_v1.Schema$Paragraph;
export type Elements = readonly docs_v1.Schema$StructuralElement[];

/** Part of a paragraph, with the formatting that all of it has. */
export interface ParagraphPiece {
	readonly text: string;
	readonly marks: TextMarks;
	/** ID of the footnote that the piece refers to; the text is its number in brackets. */
	readonly footnoteId?: string;
	/** Address of a picture; the text is its description. */
	readonly picture?: string;
	readonly rule?: true;
}

// Docs marks elements of its own with these characters; no user writes them.
const privateUseCharacters = /[\ue000-\uf8ff]/g;

/** Reads a paragraph without its newline, including what is not in text runs: people, links, dates, footnotes, pictures, rules. */
export function readPieces(paragraph: Paragraph, tab: DocumentTab): ParagraphPiece[] {
	const pieces = (paragraph.elements ?? []).flatMap((element) => readPiece(element, tab) ?? []);
	const last = pieces.at(-1);
	if (last?.text.endsWith('\n')) pieces.splice(-1, 1, { ...last, text: last.text.slice(0, -1) });
	return pieces.filter((piece) => piece.text !== '' || piece.rule || piece.picture !== undefined);
}

function readPiece(element: docs_v1.Schema$ParagraphElement, tab: DocumentTab): ParagraphPiece | undefined {
	const { textRun, person, richLink, dateElement, footnoteReference, inlineObjectElement } = element;
	if (textRun) return buildPiece(textRun.content?.replace(privateUseCharacters, ''), textRun.textStyle);
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
	if (inlineObjectElement) return readPicture(tab.inlineObjects?.[inlineObjectElement.inlineObjectId ?? '']);
	return element.horizontalRule ? { text: '', marks: {}, rule: true } : undefined;
}

const buildPiece = (text: Text, style?: docs_v1.Schema$TextStyle, link?: Text) => ({
	text: text ?? '',
	marks: { ...readMarks(style), ...(link && { link }) },
});

type Text = string | null | undefined;

function readPicture(object: docs_v1.Schema$InlineObject | undefined): ParagraphPiece | undefined {
	const embedded = object?.inlineObjectProperties?.embeddedObject;
	if (!embedded) return undefined;
	const text = embedded.description || (embedded.title ?? '');
	const picture = embedded.imageProperties?.sourceUri ?? embedded.imageProperties?.contentUri;
	return { text, marks: {}, ...(picture && { picture }) };
}

const fixedWidthFonts = /mono|courier|consolas|menlo|monaco|inconsolata|source code|fira code|cascadia code/i;

function readMarks(style: docs_v1.Schema$TextStyle | undefined): TextMarks {
	const { bold, italic, strikethrough, weightedFontFamily, link } = style ?? {};
	return {
		...(bold && { bold: true }),
		...(italic && { italic: true }),
		...(strikethrough && { strikethrough: true }),
		...(fixedWidthFonts.test(weightedFontFamily?.fontFamily ?? '') && { code: true }),
		...(link?.url && { link: link.url }),
	};
}

/** The text as it is stored. @param other takes the place of whatever is not text */
export const getStoredLine = ({ elements }: Paragraph, other = '') =>
	(elements ?? []).map(({ textRun }) => textRun?.content ?? other).join('');

export const getCells = (table: docs_v1.Schema$Table | undefined) =>
	table?.tableRows?.flatMap(({ tableCells }) => tableCells ?? []) ?? [];

/** Lists the footnotes of a tab in the order of their references; those without a reference come last. */
export function getFootnotes(tab: DocumentTab) {
	const numbers = new Map<string, string>();
	const visit = (content: Elements) => {
		for (const { paragraph, table, tableOfContents } of content) {
			for (const { footnoteReference } of paragraph?.elements ?? []) {
				if (footnoteReference?.footnoteId) {
					numbers.set(footnoteReference.footnoteId, footnoteReference.footnoteNumber ?? '');
				}
			}
			for (const cell of getCells(table)) visit(cell.content ?? []);
			visit(tableOfContents?.content ?? []);
		}
	};
	visit(tab.body?.content ?? []);
	const ids = new Set([...numbers.keys(), ...Object.keys(tab.footnotes ?? {})]);
	const getContent = (id: string) => tab.footnotes?.[id]?.content ?? [];
	return [...ids].map((id) => ({ id, number: numbers.get(id) ?? '', content: getContent(id) }));
}

/** Returns the contents of the headers, the body and the footers, in this order. */
export function getTabContents(tab: DocumentTab): Elements[] {
	const parts = [...Object.values(tab.headers ?? {}), tab.body, ...Object.values(tab.footers ?? {})];
	return parts.map((part) => part?.content ?? []);
}

/** Level of a heading, as Markdown shows it; undefined for other paragraphs. */
export function getHeadingDepth(namedStyle: string): 1 | 2 | 3 | 4 | 5 | 6 | undefined {
	if (namedStyle === 'TITLE') return 1;
	if (namedStyle === 'SUBTITLE') return 2;
	return ([1, 2, 3, 4, 5, 6] as const).find((depth) => namedStyle === `HEADING_${depth}`);
}

/** Points of indentation per list level, as in Docs' own presets. */
export const listIndentPoints = 36;
/** Half a list level, so that a quote inside an item can be distinguished from a deeper item. */
export const quoteIndentPoints = 18;
/** Spacing of the paragraphs that we write from Markdown. The mode leaves no space between the items of a list. */
export const markdownParagraphSpacing = {
	spaceBelow: { magnitude: 8, unit: 'PT' },
	spacingMode: 'COLLAPSE_LISTS',
};

/** Indentation and left border of a paragraph: all that Docs has for a quote and for the later paragraphs of a list item. */
export interface ParagraphIndent {
	/** Whether there is a border on the left, which marks a quote. */
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
	/** As displayed: `●`, `3.`, `b)`. */
	readonly text: string;
	/** Counts from 0. */
	readonly level: number;
	readonly ordered: boolean;
	readonly number: number;
}

const defaultSymbol = '•';
const bulletGlyphTypes = new Set([undefined, null, 'NONE', 'GLYPH_TYPE_UNSPECIFIED']);
/** Docs has nine levels, but a gateway in place of Google may send any number. */
const maxListLevel = 8;
/** Characters. Docs' own formats have at most five, and each item repeats them. */
const maxFormatCharacters = 50;

/** Numbers the items of lists in reading order, because Google gives the format of a glyph, not the glyph itself. */
export class GlyphCounter {
	readonly #lists: Readonly<Record<string, docs_v1.Schema$List>>;
	readonly #counts = new Map<string, number[]>();

	constructor(tab: docs_v1.Schema$DocumentTab) {
		this.#lists = tab.lists ?? {};
	}

	countItem(bullet: docs_v1.Schema$Bullet): Glyph {
		const listId = bullet.listId ?? '';
		const level = Math.min(Math.max(0, Math.trunc(bullet.nestingLevel ?? 0)), maxListLevel);
		const levels = this.#lists[listId]?.listProperties?.nestingLevels ?? [];
		const counts = this.#counts.get(listId) ?? [];
		const start = (at: number) => levels[at]?.startNumber ?? 1;
		const number = (counts[level] ?? start(level) - 1) + 1;
		const before = Array.from({ length: level }, (_, at) => counts[at] ?? start(at));
		this.#counts.set(listId, [...before, number]);
		const { glyphType, glyphFormat, glyphSymbol } = levels[level] ?? {};
		const ordered = !bulletGlyphTypes.has(glyphType);
		if (!ordered) return { text: dropIfTooLong(glyphSymbol) || defaultSymbol, level, ordered, number };
		const shown = [...before, number].map((count, at) =>
			formatItemNumber(count, levels[at]?.glyphType ?? 'DECIMAL'),
		);
		const format = dropIfTooLong(glyphFormat) ?? `%${level}.`;
		const text = format.replace(/%(\d)/g, (_, at: string) => shown[Number(at)] ?? '');
		return { text, level, ordered, number };
	}
}

function dropIfTooLong(text: Text): string | undefined {
	return text && text.length <= maxFormatCharacters ? text : undefined;
}

/** Above these counts, letters and Roman numerals are unreadably long, such as 30 times 'z' or 3 times 'm'. */
const maxLetterCount = 780;
const maxRomanCount = 3999;

function formatItemNumber(count: number, type: string): string {
	if (count < 1) return String(count);
	const isRoman = type.endsWith('ROMAN') && count <= maxRomanCount;
	const isLetter = type.endsWith('ALPHA') && count <= maxLetterCount;
	if (!isRoman && !isLetter) return String(count).padStart(type === 'ZERO_DECIMAL' ? 2 : 1, '0');
	const written = isRoman ? toRoman(count) : toLetters(count);
	return type.startsWith('UPPER') ? written.toUpperCase() : written;
}

/** a … z, aa … zz, aaa …, as Docs counts. */
function toLetters(count: number): string {
	const letter = String.fromCharCode(97 + ((count - 1) % 26));
	return letter.repeat(Math.ceil(count / 26));
}

/** The digits 0 to 9 in signs for one, five and ten. */
const romanDigits = ['', 'i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix'];
const romanSigns = ['ivx', 'xlc', 'cdm', 'm'];

function toRoman(count: number): string {
	const digits = Array.from(String(count), Number).toReversed();
	const written = digits.map((digit, place) =>
		(romanDigits[digit] ?? '').replaceAll(/[ivx]/g, (sign) => romanSigns[place]?.['ivx'.indexOf(sign)] ?? ''),
	);
	return written.toReversed().join('');
}
