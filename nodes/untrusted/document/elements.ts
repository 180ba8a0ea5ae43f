import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { Marks } from './blocks';

/** A piece of a paragraph that was read. */
export interface Piece {
	readonly text: string;
	readonly marks: Marks;
	/** ID of the footnote whose number is here. */
	readonly footnoteId?: string;
	/** Address of a picture; the text is its description. */
	readonly picture?: string;
	readonly rule?: true;
}

// Docs' own marks; not text that a user wrote.
const privateUse = /[\ue000-\uf8ff]/g;

/** The text of a paragraph without its newline, including text outside of text runs. */
export function piecesOf(paragraph: docs_v1.Schema$Paragraph, tab: docs_v1.Schema$DocumentTab): Piece[] {
	const pieces = (paragraph.elements ?? []).flatMap((element) => pieceOf(element, tab) ?? []);
	const last = pieces.at(-1);
	if (last?.text.endsWith('\n')) pieces.splice(-1, 1, { ...last, text: last.text.slice(0, -1) });
	return pieces.filter((piece) => piece.text !== '' || piece.rule || piece.picture !== undefined);
}

function pieceOf(
	element: docs_v1.Schema$ParagraphElement,
	tab: docs_v1.Schema$DocumentTab,
): Piece | undefined {
	const { textRun, person, richLink, dateElement, footnoteReference, inlineObjectElement, horizontalRule } =
		element;
	if (textRun) {
		return { text: (textRun.content ?? '').replace(privateUse, ''), marks: marksOf(textRun.textStyle) };
	}
	if (person) {
		const { name, email } = person.personProperties ?? {};
		const link = email ? { link: `mailto:${email}` } : {};
		return { text: name || (email ?? ''), marks: { ...marksOf(person.textStyle), ...link } };
	}
	if (richLink) {
		const { title, uri } = richLink.richLinkProperties ?? {};
		const link = uri ? { link: uri } : {};
		return { text: title || (uri ?? ''), marks: { ...marksOf(richLink.textStyle), ...link } };
	}
	if (dateElement) {
		const { displayText, timestamp } = dateElement.dateElementProperties ?? {};
		return { text: displayText || (timestamp ?? ''), marks: marksOf(dateElement.textStyle) };
	}
	if (footnoteReference) {
		const footnoteId = footnoteReference.footnoteId ?? '';
		return { text: `[${footnoteReference.footnoteNumber ?? ''}]`, marks: {}, footnoteId };
	}
	if (inlineObjectElement) return pictureOf(tab.inlineObjects?.[inlineObjectElement.inlineObjectId ?? '']);
	return horizontalRule ? { text: '', marks: {}, rule: true } : undefined;
}

function pictureOf(object: docs_v1.Schema$InlineObject | undefined): Piece | undefined {
	const embedded = object?.inlineObjectProperties?.embeddedObject;
	if (!embedded) return undefined;
	const text = embedded.description || (embedded.title ?? '');
	const picture = embedded.imageProperties?.sourceUri ?? embedded.imageProperties?.contentUri;
	return { text, marks: {}, ...(picture && { picture }) };
}

const fixedWidthFonts = /mono|courier|consolas|menlo|monaco|inconsolata|source code|fira code|cascadia code/i;

function marksOf(style: docs_v1.Schema$TextStyle | undefined): Marks {
	const marks: { -readonly [K in keyof Marks]: Marks[K] } = {};
	if (style?.bold) marks.bold = true;
	if (style?.italic) marks.italic = true;
	if (style?.strikethrough) marks.strikethrough = true;
	if (fixedWidthFonts.test(style?.weightedFontFamily?.fontFamily ?? '')) marks.code = true;
	if (style?.link?.url) marks.link = style.link.url;
	return marks;
}

/** The footnotes of a tab in the order of their references; a footnote without a reference comes last. */
export function footnotesOf(tab: docs_v1.Schema$DocumentTab): Array<{
	readonly id: string;
	readonly number: string;
	readonly content: docs_v1.Schema$StructuralElement[];
}> {
	const numbers = new Map<string, string>();
	const visit = (content: readonly docs_v1.Schema$StructuralElement[]) => {
		for (const { paragraph, table, tableOfContents } of content) {
			for (const { footnoteReference } of paragraph?.elements ?? []) {
				if (footnoteReference?.footnoteId) {
					numbers.set(footnoteReference.footnoteId, footnoteReference.footnoteNumber ?? '');
				}
			}
			for (const row of table?.tableRows ?? [])
				for (const cell of row.tableCells ?? []) visit(cell.content ?? []);
			visit(tableOfContents?.content ?? []);
		}
	};
	visit(tab.body?.content ?? []);
	const ids = new Set([...numbers.keys(), ...Object.keys(tab.footnotes ?? {})]);
	return [...ids].map((id) => ({
		id,
		number: numbers.get(id) ?? '',
		content: tab.footnotes?.[id]?.content ?? [],
	}));
}

/** Headers, body and footers, in this order. */
export function contentsOf({
	headers,
	body,
	footers,
}: docs_v1.Schema$DocumentTab): docs_v1.Schema$StructuralElement[][] {
	const parts = [...Object.values(headers ?? {}), body, ...Object.values(footers ?? {})];
	return parts.map((part) => part?.content ?? []);
}
