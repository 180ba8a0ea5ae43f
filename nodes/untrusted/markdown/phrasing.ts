import type { PhrasingContent } from 'mdast';

import type { TextMarks } from '../document/blocks';
import type { ParagraphPiece } from '../document/elements';
import { linkBareAddresses } from './bareAddresses';

type Mark = keyof TextMarks;
type Pieces = readonly ParagraphPiece[];

// If two marks reach equally far, the mark that comes first here is the outer mark. `***x***` means emphasis around strong.
const marksByPriority: readonly Mark[] = ['italic', 'bold', 'strikethrough', 'link'];

/** Nests marks so that each mark reaches as far as possible. Moves spaces out of the ends of a mark, where Markdown allows none. */
export function buildPhrasing(pieces: Pieces, lineBreak: PhrasingContent): PhrasingContent[] {
	const joinedPieces = joinPieces(trimPieces(separateSpaces(pieces)));
	const linkedPieces = linkBareAddresses(joinedPieces, lineBreak.type === 'break');
	return nestMarks(linkedPieces, [], lineBreak);
}

function nestMarks(
	pieces: Pieces,
	openMarks: readonly Mark[],
	lineBreak: PhrasingContent,
): PhrasingContent[] {
	const nodes: PhrasingContent[] = [];
	let index = 0;
	for (let piece = pieces[index]; piece; piece = pieces[index]) {
		const { outerMark, end } = findLongestMark(pieces, index, openMarks);
		if (outerMark === undefined) nodes.push(...buildLeaves(piece, lineBreak));
		else {
			const marks = [...openMarks, outerMark];
			const children = nestMarks(pieces.slice(index, end), marks, lineBreak);
			nodes.push(wrapInMark(outerMark, piece.marks.link ?? '', children));
		}
		index = end;
	}
	return nodes;
}

/** Finds the mark of a piece that reaches furthest, and the index after the last piece that it reaches. */
function findLongestMark(pieces: Pieces, start: number, openMarks: readonly Mark[]) {
	const marks = pieces[start]?.marks ?? {};
	let outerMark: Mark | undefined;
	let longestEnd = start + 1;
	for (const mark of marksByPriority) {
		if (marks[mark] === undefined || openMarks.includes(mark)) continue;
		let end = start + 1;
		while (pieces[end]?.marks[mark] === marks[mark]) end++;
		if (outerMark !== undefined && end <= longestEnd) continue;
		outerMark = mark;
		longestEnd = end;
	}
	return { outerMark, end: longestEnd };
}

function wrapInMark(mark: Mark, url: string, children: PhrasingContent[]): PhrasingContent {
	if (mark === 'link') return { type: 'link', url, children };
	if (mark === 'bold') return { type: 'strong', children };
	return mark === 'italic' ? { type: 'emphasis', children } : { type: 'delete', children };
}

function buildLeaves(piece: ParagraphPiece, lineBreak: PhrasingContent): PhrasingContent[] {
	const { text, marks, imageUrl, footnoteId: label } = piece;
	if (imageUrl !== undefined) return [{ type: 'image', url: imageUrl, alt: text }];
	if (label !== undefined) return [{ type: 'footnoteReference', identifier: label, label }];
	if (marks.code) return [{ type: 'inlineCode', value: text.replaceAll('\v', ' ') }];
	const nodes: PhrasingContent[] = [];
	for (const [index, value] of text.split('\v').entries()) {
		if (index > 0) nodes.push(lineBreak);
		if (value !== '') nodes.push({ type: 'text', value });
	}
	return nodes;
}

/** Splits off the spaces at both ends of each text. The spaces keep the marks that both neighbors also have. */
function separateSpaces(pieces: Pieces): ParagraphPiece[] {
	const separatedPieces: ParagraphPiece[] = [];
	for (const piece of pieces) {
		if (piece.marks.code || !isText(piece)) separatedPieces.push(piece);
		else for (const text of splitSpaces(piece.text)) separatedPieces.push({ ...piece, text });
	}
	return separatedPieces.map((piece, index) => {
		if (!isBlank(piece)) return piece;
		const neighbors = [separatedPieces[index - 1], separatedPieces[index + 1]];
		const commonMarks = marksByPriority.filter((mark) =>
			neighbors.every((neighbor) => neighbor?.marks[mark] === piece.marks[mark]),
		);
		const marks = Object.fromEntries(commonMarks.map((mark) => [mark, piece.marks[mark]]));
		return { ...piece, marks };
	});
}

/** Splits a text into leading spaces, content and trailing spaces. Leaves out empty parts. */
function splitSpaces(text: string): string[] {
	const start = text.length - text.trimStart().length;
	const end = Math.max(start, text.trimEnd().length);
	return [text.slice(0, start), text.slice(start, end), text.slice(end)].filter(
		(part) => part !== '',
	);
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
		if (last && isText(last) && isText(piece) && haveSameMarks(last.marks, piece.marks))
			joinedPieces.splice(-1, 1, { ...last, text: last.text + piece.text });
		else joinedPieces.push(piece);
	}
	return joinedPieces;
}

const isBlank = ({ text, imageUrl }: ParagraphPiece) => text.trim() === '' && !imageUrl;
const isText = ({ imageUrl, footnoteId }: ParagraphPiece) =>
	imageUrl === undefined && footnoteId === undefined;

const haveSameMarks = (left: TextMarks, right: TextMarks) =>
	left.code === right.code && marksByPriority.every((mark) => left[mark] === right[mark]);
