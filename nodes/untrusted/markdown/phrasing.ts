import { isDeepStrictEqual } from 'node:util';
import type { PhrasingContent } from 'mdast';

import type { ParagraphPiece } from '../document/elements';

type Pieces = readonly ParagraphPiece[];

// If two marks reach equally far, the mark that comes first here is the outer mark. `***x***` means
// emphasis around strong.
const marksByPriority = ['italic', 'bold', 'strikethrough', 'link'] as const;
type Mark = (typeof marksByPriority)[number];

/** Punctuation at the end of an address does not belong to it. */
const addressPattern = /((?:https?:\/\/|(?<![^\W_])www\.)[^\s<>]*[^\s<>.,:;!?)\]"'])/i;

/**
 * Nests marks so that each mark reaches as far as possible. Moves spaces out of the ends of a mark,
 * where Markdown allows none.
 */
export function buildPhrasing(pieces: Pieces, lineBreak: PhrasingContent): PhrasingContent[] {
	const parts = pieces.flatMap(splitOffSpaces);
	const unmarkedParts = parts.map((part, index) =>
		isBlank(part) ? unmarkSpace(part, [parts[index - 1], parts[index + 1]]) : part,
	);
	return nestMarks(joinPieces(trimPieces(unmarkedParts)), [], lineBreak);
}

function nestMarks(
	pieces: Pieces,
	openMarks: readonly Mark[],
	lineBreak: PhrasingContent,
): PhrasingContent[] {
	const nodes: PhrasingContent[] = [];
	let index = 0;
	for (let piece = pieces[index]; piece; piece = pieces[index]) {
		const { mark, end } = findLongestMark(pieces, index, openMarks);
		if (mark === undefined) nodes.push(...buildLeaves(piece, lineBreak));
		else {
			const children = nestMarks(pieces.slice(index, end), [...openMarks, mark], lineBreak);
			nodes.push(wrapInMark(mark, piece.marks.link ?? '', children));
		}
		index = end;
	}
	return nodes;
}

/**
 * Finds the mark of a piece that reaches furthest, and the index after the last piece that it
 * reaches.
 */
function findLongestMark(pieces: Pieces, start: number, openMarks: readonly Mark[]) {
	let longest: { readonly mark?: Mark; readonly end: number } = { end: start + 1 };
	for (const mark of marksByPriority) {
		const value = pieces[start]?.marks[mark];
		if (!value || openMarks.includes(mark)) continue;
		let end = start + 1;
		while (pieces[end]?.marks[mark] === value) end++;
		if (!longest.mark || end > longest.end) longest = { mark, end };
	}
	return longest;
}

const nodeTypes = { italic: 'emphasis', bold: 'strong', strikethrough: 'delete' } as const;

function wrapInMark(mark: Mark, url: string, children: PhrasingContent[]): PhrasingContent {
	return mark === 'link' ? { type: mark, url, children } : { type: nodeTypes[mark], children };
}

function buildLeaves(piece: ParagraphPiece, lineBreak: PhrasingContent): PhrasingContent[] {
	const { text, marks, imageUrl, footnoteNumber: label } = piece;
	if (imageUrl) return [{ type: 'image', url: imageUrl, alt: text }];
	if (label) return [{ type: 'footnoteReference', identifier: label, label }];
	if (marks.code) return [{ type: 'inlineCode', value: text.replaceAll('\v', ' ') }];
	const nodes: PhrasingContent[] = [];
	for (const [index, line] of text.split('\v').entries()) {
		if (index > 0) nodes.push(lineBreak);
		if (marks.link) nodes.push({ type: 'text', value: line });
		else nodes.push(...linkAddresses(line));
	}
	return nodes;
}

/**
 * Makes links of addresses, because a parser would take a following mark, or the backslash before a
 * character, for a part of an address.
 */
function linkAddresses(line: string): PhrasingContent[] {
	return line.split(addressPattern).map((value, index) => {
		const text: PhrasingContent = { type: 'text', value };
		const url = value.replace(/^www/i, 'http://$&');
		return index % 2 === 0 ? text : { type: 'link', url, children: [text] };
	});
}

const isText = ({ imageUrl, footnoteNumber }: ParagraphPiece) => !imageUrl && !footnoteNumber;
const isBlank = (piece: ParagraphPiece) => piece.text.trim() === '' && isText(piece);

/** Spaces at the beginning, the text without the spaces around it, and spaces at the end. */
const spacesAroundPattern = /^\s+|\S(?:.*\S)?|\s+$/gs;

/** Splits off the spaces at both ends of a text. */
function splitOffSpaces(piece: ParagraphPiece): ParagraphPiece[] {
	if (piece.marks.code || !isText(piece)) return [piece];
	const texts = piece.text.match(spacesAroundPattern) ?? [];
	return texts.map((text) => ({ ...piece, text }));
}

/** Leaves a space only the marks that both of its neighbors have. */
function unmarkSpace(space: ParagraphPiece, neighbors: ReadonlyArray<ParagraphPiece | undefined>) {
	const marks = { ...space.marks, code: false };
	for (const mark of marksByPriority)
		if (neighbors.some((neighbor) => neighbor?.marks[mark] !== marks[mark]))
			marks[mark] = undefined;
	return { ...space, marks };
}

/** Removes spaces and line breaks at both ends of a paragraph, where Markdown ignores them. */
function trimPieces(pieces: Pieces): Pieces {
	const start = pieces.findIndex((piece) => !isBlank(piece));
	const end = pieces.findLastIndex((piece) => !isBlank(piece)) + 1;
	return pieces.slice(start, end);
}

function joinPieces(pieces: Pieces): ParagraphPiece[] {
	const joinedPieces: ParagraphPiece[] = [];
	for (const piece of pieces) {
		const last = joinedPieces.at(-1);
		const isJoined = last && [last, piece].every(isText);
		if (isJoined && isDeepStrictEqual(last.marks, piece.marks))
			joinedPieces.splice(-1, 1, { ...last, text: last.text + piece.text });
		else joinedPieces.push(piece);
	}
	return joinedPieces;
}
