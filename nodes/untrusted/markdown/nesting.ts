import type { BlockContent, DefinitionContent, List, ListItem, PhrasingContent } from 'mdast';

import type { TextMarks } from '../document/blocks';
import * as elements from '../document/elements';

/** A paragraph or table of a document. The document shows its lists and quotes only as glyphs, indentation and borders. */
export interface FlatBlock extends elements.ParagraphIndent {
	readonly node: BlockContent;
	readonly glyph?: elements.Glyph | undefined;
}

interface PlacedBlock {
	readonly node: BlockContent;
	/** Number of quotes around the block, and around its list if it is in one. */
	readonly quoteDepth: number;
	readonly list:
		{ readonly level: number; readonly glyph?: elements.Glyph; readonly isQuoted?: boolean } | undefined;
}

/** A document may have any indentation, which would become any number of nested quotes. */
const maxQuoteDepth = 50;

type NestedContent = BlockContent | DefinitionContent;

export const nestBlocks = (blocks: readonly FlatBlock[]) => buildNestedBlocks(placeBlocks(blocks));

/** Finds each block's list and quotes. An indented paragraph after a list item belongs to that item. */
function placeBlocks(blocks: readonly FlatBlock[]): PlacedBlock[] {
	let open: { level: number; quoteDepth: number } | undefined;
	return blocks.map(({ node, isQuoted, indentPoints, glyph }): PlacedBlock => {
		if (glyph !== undefined) {
			open = { level: glyph.level, quoteDepth: isQuoted ? 1 : 0 };
			return { node, quoteDepth: open.quoteDepth, list: { level: glyph.level, glyph } };
		}
		const ownPoints = indentPoints - (isQuoted ? elements.quoteIndentPoints : 0);
		const indented = Math.floor((ownPoints + 1) / elements.listIndentPoints) - 1;
		if (open !== undefined && indented >= 0) {
			const { quoteDepth } = open;
			const level = Math.min(indented, open.level);
			open = { level, quoteDepth };
			return { node, quoteDepth, list: { level, isQuoted: isQuoted && quoteDepth === 0 } };
		}
		open = undefined;
		const depth = Math.min(Math.max(1, Math.round(indentPoints / elements.quoteIndentPoints)), maxQuoteDepth);
		const quoteDepth = isQuoted ? depth : 0;
		return { node, quoteDepth, list: undefined };
	});
}

function buildNestedBlocks(blocks: readonly PlacedBlock[]): NestedContent[] {
	const stretches: PlacedBlock[][] = [];
	for (const block of blocks) {
		const last = stretches.at(-1);
		if (last?.[0] && getContainerKind(last[0]) === getContainerKind(block)) last.push(block);
		else stretches.push([block]);
	}
	return stretches.flatMap((stretch): NestedContent[] => {
		const [first] = stretch;
		if (!first?.quoteDepth) return first?.list ? buildLists(stretch) : stretch.map(({ node }) => node);
		const inner = stretch.map((block) => ({ ...block, quoteDepth: block.quoteDepth - 1 }));
		return [{ type: 'blockquote', children: buildNestedBlocks(inner) }];
	});
}

function getContainerKind({ quoteDepth, list }: PlacedBlock): 'quote' | 'list' | 'block' {
	return quoteDepth > 0 ? 'quote' : list ? 'list' : 'block';
}

/** Builds lists: adjacent items of the same level and kind form one, whichever list Docs assigns them to. */
function buildLists(blocks: readonly PlacedBlock[]): List[] {
	const roots: List[] = [];
	let open: Array<{ list: List; level: number }> = [];
	for (const { node, list } of blocks) {
		if (list === undefined) continue;
		open = open.filter(({ level }) => level <= list.level);
		const { glyph } = list;
		if (glyph === undefined) {
			const item = open.at(-1)?.list.children.at(-1);
			if (item !== undefined) addToItem(item, node, list.isQuoted);
			continue;
		}
		const same = open.at(-1);
		if (same?.level === list.level && same.list.ordered === glyph.ordered) {
			same.list.children.push(buildListItem(node));
			continue;
		}
		open = open.filter(({ level }) => level < list.level);
		const { ordered, number } = glyph;
		const start = ordered ? number : null;
		const made: List = { type: 'list', ordered, start, spread: false, children: [buildListItem(node)] };
		const parent = open.at(-1)?.list.children.at(-1);
		if (parent === undefined) roots.push(made);
		else parent.children.push(made);
		open.push({ list: made, level: list.level });
	}
	return roots;
}

function addToItem(item: ListItem, node: BlockContent, isQuoted: boolean | undefined): void {
	const last = item.children.at(-1);
	if (!isQuoted) item.children.push(node);
	else if (last?.type === 'blockquote') last.children.push(node);
	else item.children.push({ type: 'blockquote', children: [node] });
}

function buildListItem(node: BlockContent): ListItem {
	const [first, ...others] = node.type === 'paragraph' ? node.children : [];
	const [, box, value] = (first?.type === 'text' && /^([☐☑]) (.*)$/su.exec(first.value)) || [];
	if (value === undefined) return { type: 'listItem', spread: false, children: [node] };
	const children: PhrasingContent[] = [{ type: 'text', value }, ...others];
	return {
		type: 'listItem',
		spread: false,
		checked: box === '☑',
		children: [{ type: 'paragraph', children }],
	};
}

type Mark = keyof TextMarks;
type Pieces = readonly elements.ParagraphPiece[];

// If two marks reach equally far, the first one in this list is the outer one. `***x***` reads as emphasis around strong.
const marksByPriority: readonly Mark[] = ['italic', 'bold', 'strikethrough', 'link'];

/** Nests marks so that each reaches as far as it can. None begins or ends with a space, which Markdown does not allow. */
export function buildPhrasing(pieces: Pieces, lineBreak: PhrasingContent): PhrasingContent[] {
	const parts = joinPieces(trimPieces(separateSpaces(pieces)));
	return nestMarks(linkBareAddresses(parts, lineBreak.type === 'break'), new Set(), lineBreak);
}

function nestMarks(pieces: Pieces, open: ReadonlySet<Mark>, lineBreak: PhrasingContent): PhrasingContent[] {
	const nodes: PhrasingContent[] = [];
	let at = 0;
	for (let piece = pieces[at]; piece; piece = pieces[at]) {
		const { marks: own } = piece;
		const reaches = marksByPriority
			.filter((mark) => own[mark] !== undefined && !open.has(mark))
			.map((mark) => ({ mark, end: findMarkEnd(mark, pieces, at) }));
		const [furthest] = reaches.toSorted((left, right) => right.end - left.end);
		if (furthest === undefined) nodes.push(...buildLeaves(piece, lineBreak));
		else {
			const inner = pieces.slice(at, furthest.end);
			const children = nestMarks(inner, new Set([...open, furthest.mark]), lineBreak);
			nodes.push(wrapInMark(furthest.mark, own.link ?? '', children));
		}
		at = furthest?.end ?? at + 1;
	}
	return nodes;
}

/** Finds the position after the last piece in a row that has the same mark as the one at `at`. */
function findMarkEnd(mark: Mark, pieces: Pieces, at: number): number {
	let end = at + 1;
	while (pieces[end]?.marks[mark] === pieces[at]?.marks[mark]) end++;
	return end;
}

function wrapInMark(mark: Mark, url: string, children: PhrasingContent[]): PhrasingContent {
	if (mark === 'link') return { type: 'link', url, children };
	if (mark === 'bold') return { type: 'strong', children };
	return mark === 'italic' ? { type: 'emphasis', children } : { type: 'delete', children };
}

function buildLeaves(
	{ text, marks: { code }, picture, footnoteId: label }: elements.ParagraphPiece,
	lineBreak: PhrasingContent,
): PhrasingContent[] {
	if (picture !== undefined) return [{ type: 'image', url: picture, alt: text }];
	if (label !== undefined) return [{ type: 'footnoteReference', identifier: label, label }];
	if (code) return [{ type: 'inlineCode', value: text.replaceAll('\v', ' ') }];
	return text
		.split('\v')
		.flatMap((value, at): PhrasingContent[] => [...(at > 0 ? [lineBreak] : []), { type: 'text', value }])
		.filter((node) => node.type !== 'text' || node.value !== '');
}

/** Splits off spaces at the ends of a marked piece. They keep only the marks that both neighbors have too. */
function separateSpaces(pieces: Pieces): elements.ParagraphPiece[] {
	const parts = pieces.flatMap((piece): elements.ParagraphPiece[] => {
		if (piece.marks.code || !isPlainText(piece)) return [piece];
		return splitSpaces(piece.text).map((text) => ({ ...piece, text }));
	});
	return parts.map((piece, at) => {
		if (!isBlank(piece)) return piece;
		const marks = keepCommonMarks(piece.marks, parts[at - 1]?.marks ?? {}, parts[at + 1]?.marks ?? {});
		return { ...piece, marks };
	});
}

/** Splits into leading spaces, content and trailing spaces; empty parts are left out. */
function splitSpaces(text: string): string[] {
	const from = text.length - text.trimStart().length;
	const to = Math.max(from, text.trimEnd().length);
	return [text.slice(0, from), text.slice(from, to), text.slice(to)].filter((part) => part !== '');
}

function keepCommonMarks(own: TextMarks, left: TextMarks, right: TextMarks): TextMarks {
	const kept = marksByPriority.filter((mark) => left[mark] === own[mark] && right[mark] === own[mark]);
	return Object.fromEntries(kept.map((mark) => [mark, own[mark]]));
}

/** Removes spaces and breaks at the ends of a paragraph, which have no meaning in Markdown. */
function trimPieces(pieces: Pieces): elements.ParagraphPiece[] {
	const first = pieces.findIndex((piece) => !isBlank(piece));
	const last = pieces.findLastIndex((piece) => !isBlank(piece));
	return pieces.slice(first, last + 1);
}

function joinPieces(pieces: Pieces): elements.ParagraphPiece[] {
	const parts: elements.ParagraphPiece[] = [];
	for (const piece of pieces) {
		const last = parts.at(-1);
		if (last && isPlainText(last) && isPlainText(piece) && haveSameMarks(last.marks, piece.marks)) {
			parts[parts.length - 1] = { ...last, text: last.text + piece.text };
		} else parts.push(piece);
	}
	return parts;
}

/** An address in plain text, as GitHub Flavored Markdown reads it. A host may begin with a bracket, but with no other punctuation. */
const bareAddress = /(?<![a-z])(?:https?:\/\/(?![!-/:-@\\-`{-~])|www\.)[^\s<]+/gi;
/** What the Markdown writer escapes with a backslash; an underscore only if no letter or digit is on one of its sides. */
const escapable = /[&*~[|`\\]|\]\(|_(?![a-z\d])|(?<![a-z\d])_/i;

/** Makes links of addresses in plain text that would be read wrongly: with the marks after them, or with a backslash from escaping. */
function linkBareAddresses(pieces: Pieces, hasBackslashBreaks: boolean): elements.ParagraphPiece[] {
	return pieces.flatMap((piece, at) => {
		if (!isPlainText(piece) || piece.marks.code || piece.marks.link !== undefined) return [piece];
		const parts: elements.ParagraphPiece[] = [];
		let from = 0;
		for (const { 0: found, index } of piece.text.matchAll(bareAddress)) {
			const next = piece.text[index + found.length] ?? getFirstMarkdownCharacter(pieces[at + 1]);
			const isCut = next === '\v' ? !hasBackslashBreaks : next.trim() === '';
			if (!escapable.test(found) && isCut) continue;
			const before = piece.text.slice(from, index);
			const text = trimAddress(found);
			const link = /^www/i.test(text) ? `http://${text}` : text;
			parts.push({ ...piece, text: before }, { text, marks: { ...piece.marks, link } });
			from = index + text.length;
		}
		return [...parts, { ...piece, text: piece.text.slice(from) }].filter(({ text }) => text !== '');
	});
}

/** The character with which a piece begins in Markdown. For anything but plain text, a backtick stands for its markup. */
function getFirstMarkdownCharacter(piece: elements.ParagraphPiece | undefined): string {
	if (piece === undefined) return '';
	return isPlainText(piece) && !piece.marks.code ? (piece.text[0] ?? '') : '`';
}

/** Removes what follows the address and the punctuation at its end. */
function trimAddress(found: string): string {
	const [inside = ''] = found.split(/[>|]/, 1);
	const closing = inside.includes('(') ? '?!.,:;*_~"\'' : '?!.,:;*_~"\')]';
	let end = inside.length;
	while (closing.includes(inside[end - 1] ?? ' ')) end--;
	return inside.slice(0, end);
}

const isBlank = ({ text, picture }: elements.ParagraphPiece) => text.trim() === '' && picture === undefined;

const isPlainText = ({ picture, footnoteId }: elements.ParagraphPiece) =>
	picture === undefined && footnoteId === undefined;

function haveSameMarks(left: TextMarks, right: TextMarks): boolean {
	return left.code === right.code && marksByPriority.every((mark) => left[mark] === right[mark]);
}
