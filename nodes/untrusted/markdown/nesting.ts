import type { BlockContent, DefinitionContent, List, ListItem, PhrasingContent } from 'mdast';

import type { TextMarks } from '../document/blocks';
import type { Glyph, ParagraphIndent, ParagraphPiece } from '../document/elements';
import { listIndentPoints, quoteIndentPoints } from '../document/elements';

/** A paragraph or table of a document. Docs does not nest lists and quotes. It only shows them by glyphs, indentation and borders. */
export interface FlatBlock extends ParagraphIndent {
	readonly node: BlockContent;
	readonly glyph?: Glyph | undefined;
}

/** A block with the list and the quotes that it belongs to. */
interface ContainedBlock {
	readonly node: BlockContent;
	/** Number of quotes around the block or, for a block of a list, around the list. */
	readonly quoteDepth: number;
	/** `isQuoted` means a quote inside the list item. */
	readonly list:
		{ readonly level: number; readonly glyph?: Glyph; readonly isQuoted?: boolean } | undefined;
}

/** The number of nested quotes follows from the indentation, which has no limit in a document. */
const maxQuoteDepth = 50;
type NestedContent = BlockContent | DefinitionContent;

export const nestBlocks = (blocks: readonly FlatBlock[]) =>
	buildNestedBlocks(findContainers(blocks));

/** Finds each block's list and quotes. An indented paragraph after a list item belongs to that item. */
function findContainers(blocks: readonly FlatBlock[]): ContainedBlock[] {
	let openItem: { level: number; quoteDepth: number } | undefined;
	return blocks.map(({ node, isQuoted, indentPoints, glyph }): ContainedBlock => {
		if (glyph !== undefined) {
			openItem = { level: glyph.level, quoteDepth: isQuoted ? 1 : 0 };
			return { node, quoteDepth: openItem.quoteDepth, list: { level: glyph.level, glyph } };
		}
		const listPoints = indentPoints - (isQuoted ? quoteIndentPoints : 0);
		// The point that is added allows for rounding.
		const indentLevel = Math.floor((listPoints + 1) / listIndentPoints) - 1;
		if (openItem !== undefined && indentLevel >= 0) {
			const { quoteDepth } = openItem;
			const level = Math.min(indentLevel, openItem.level);
			openItem = { level, quoteDepth };
			return { node, quoteDepth, list: { level, isQuoted: isQuoted && quoteDepth === 0 } };
		}
		openItem = undefined;
		const depth = Math.min(
			Math.max(1, Math.round(indentPoints / quoteIndentPoints)),
			maxQuoteDepth,
		);
		return { node, quoteDepth: isQuoted ? depth : 0, list: undefined };
	});
}

function buildNestedBlocks(blocks: readonly ContainedBlock[]): NestedContent[] {
	const stretches: ContainedBlock[][] = [];
	for (const block of blocks) {
		const stretch = stretches.at(-1);
		if (stretch?.[0] && getContainerKind(stretch[0]) === getContainerKind(block))
			stretch.push(block);
		else stretches.push([block]);
	}
	return stretches.flatMap((stretch): NestedContent[] => {
		const [block] = stretch;
		if (!block?.quoteDepth)
			return block?.list ? buildLists(stretch) : stretch.map(({ node }) => node);
		const innerBlocks = stretch.map((inner) => ({
			...inner,
			quoteDepth: inner.quoteDepth - 1,
		}));
		return [{ type: 'blockquote', children: buildNestedBlocks(innerBlocks) }];
	});
}

const getContainerKind = ({ quoteDepth, list }: ContainedBlock) =>
	quoteDepth > 0 ? 'quote' : list ? 'list' : 'block';

/** Builds lists. Adjacent items with the same level and kind form one list, even if Docs assigns them to several lists. */
function buildLists(blocks: readonly ContainedBlock[]): List[] {
	const outerLists: List[] = [];
	let openLists: Array<{ list: List; level: number }> = [];
	for (const { node, list } of blocks) {
		if (list === undefined) continue;
		openLists = openLists.filter(({ level }) => level <= list.level);
		const { glyph } = list;
		if (glyph === undefined) {
			const item = openLists.at(-1)?.list.children.at(-1);
			if (item !== undefined) addToItem(item, node, list.isQuoted);
			continue;
		}
		const lastOpenList = openLists.at(-1);
		if (lastOpenList?.level === list.level && lastOpenList.list.ordered === glyph.ordered) {
			lastOpenList.list.children.push(buildListItem(node));
			continue;
		}
		openLists = openLists.filter(({ level }) => level < list.level);
		const { ordered, number } = glyph;
		const start = ordered ? number : null;
		const newList: List = {
			type: 'list',
			ordered,
			start,
			spread: false,
			children: [buildListItem(node)],
		};
		const parent = openLists.at(-1)?.list.children.at(-1);
		if (parent === undefined) outerLists.push(newList);
		else parent.children.push(newList);
		openLists.push({ list: newList, level: list.level });
	}
	return outerLists;
}

function addToItem(item: ListItem, node: BlockContent, isQuoted: boolean | undefined): void {
	const lastBlock = item.children.at(-1);
	if (!isQuoted) item.children.push(node);
	else if (lastBlock?.type === 'blockquote') lastBlock.children.push(node);
	else item.children.push({ type: 'blockquote', children: [node] });
}

function buildListItem(node: BlockContent): ListItem {
	const [firstNode, ...otherNodes] = node.type === 'paragraph' ? node.children : [];
	const text = firstNode?.type === 'text' ? firstNode.value : '';
	if (!/^[☐☑] /u.test(text)) return { type: 'listItem', spread: false, children: [node] };
	const children: PhrasingContent[] = [{ type: 'text', value: text.slice(2) }, ...otherNodes];
	const checked = text.startsWith('☑');
	return {
		type: 'listItem',
		spread: false,
		checked,
		children: [{ type: 'paragraph', children }],
	};
}

type Mark = keyof TextMarks;
type Pieces = readonly ParagraphPiece[];

// If two marks reach equally far, the mark that comes first here is the outer mark. `***x***` means emphasis around strong.
const marksByPriority: readonly Mark[] = ['italic', 'bold', 'strikethrough', 'link'];

/** Nests marks so that each mark reaches as far as possible. Moves spaces out of the ends of a mark, where Markdown allows none. */
export function buildPhrasing(pieces: Pieces, lineBreak: PhrasingContent): PhrasingContent[] {
	const joinedPieces = joinPieces(trimPieces(separateSpaces(pieces)));
	return nestMarks(
		linkBareAddresses(joinedPieces, lineBreak.type === 'break'),
		new Set(),
		lineBreak,
	);
}

function nestMarks(
	pieces: Pieces,
	openMarks: Set<Mark>,
	lineBreak: PhrasingContent,
): PhrasingContent[] {
	const nodes: PhrasingContent[] = [];
	let index = 0;
	for (let piece = pieces[index]; piece; piece = pieces[index]) {
		const { marks } = piece;
		const newMarks = marksByPriority.filter(
			(mark) => marks[mark] !== undefined && !openMarks.has(mark),
		);
		const reaches = newMarks.map((mark) => ({ mark, end: findMarkEnd(mark, pieces, index) }));
		const [longestReach] = reaches.toSorted((left, right) => right.end - left.end);
		if (longestReach === undefined) nodes.push(...buildLeaves(piece, lineBreak));
		else {
			const innerPieces = pieces.slice(index, longestReach.end);
			const children = nestMarks(
				innerPieces,
				new Set([...openMarks, longestReach.mark]),
				lineBreak,
			);
			nodes.push(wrapInMark(longestReach.mark, marks.link ?? '', children));
		}
		index = longestReach?.end ?? index + 1;
	}
	return nodes;
}

/** Finds the index after the last consecutive piece with the same mark as the piece at `start`. */
function findMarkEnd(mark: Mark, pieces: Pieces, start: number): number {
	let end = start + 1;
	while (pieces[end]?.marks[mark] === pieces[start]?.marks[mark]) end++;
	return end;
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
	return text.split('\v').flatMap((value, index): PhrasingContent[] => {
		const node = { type: 'text', value } as const;
		return [...(index > 0 ? [lineBreak] : []), ...(value === '' ? [] : [node])];
	});
}

/** Splits off the spaces at both ends of each text. The spaces keep the marks that both neighbors also have. */
function separateSpaces(pieces: Pieces): ParagraphPiece[] {
	const separatedPieces = pieces.flatMap((piece): ParagraphPiece[] => {
		if (piece.marks.code || !isText(piece)) return [piece];
		return splitSpaces(piece.text).map((text) => ({ ...piece, text }));
	});
	return separatedPieces.map((piece, index) => {
		if (!isBlank(piece)) return piece;
		const marks = keepCommonMarks(
			piece.marks,
			separatedPieces[index - 1],
			separatedPieces[index + 1],
		);
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

function keepCommonMarks(
	marks: TextMarks,
	left?: ParagraphPiece,
	right?: ParagraphPiece,
): TextMarks {
	const isCommon = (mark: Mark) =>
		left?.marks[mark] === marks[mark] && right?.marks[mark] === marks[mark];
	return Object.fromEntries(marksByPriority.filter(isCommon).map((mark) => [mark, marks[mark]]));
}

/** Removes spaces and line breaks at both ends of a paragraph, where Markdown ignores them. */
function trimPieces(pieces: Pieces): ParagraphPiece[] {
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

/** An address that GitHub Flavored Markdown makes a link. Its host may begin with a bracket, but with no other punctuation. */
const bareAddressPattern = /(?<![a-z])(?:https?:\/\/(?![!-/:-@\\-`{-~])|www\.)[^\s<]+/gi;
/** Characters that mdast-util-to-markdown escapes with a backslash. It escapes no underscore between two letters or digits. */
const escapedCharacterPattern = /[&*~[|`\\]|\]\(|_(?![a-z\d])|(?<![a-z\d])_/i;

/**
 * Makes links of addresses in plain text that a parser would misread: a parser takes the asterisks of `https://agent.example.com**x**`, or
 * an escaping backslash, for a part of the address. @param hasBackslashBreaks whether a line break is a backslash and a newline, as for a `break`
 */
function linkBareAddresses(pieces: Pieces, hasBackslashBreaks: boolean): ParagraphPiece[] {
	return pieces.flatMap((piece, pieceIndex) => {
		if (!isText(piece) || piece.marks.code || piece.marks.link !== undefined) return [piece];
		const newPieces: ParagraphPiece[] = [];
		let start = 0;
		for (const { 0: match, index } of piece.text.matchAll(bareAddressPattern)) {
			const nextCharacter =
				piece.text[index + match.length] ??
				getFirstMarkdownCharacter(pieces[pieceIndex + 1]);
			const endsAddress =
				nextCharacter === '\v' ? !hasBackslashBreaks : nextCharacter.trim() === '';
			if (!escapedCharacterPattern.test(match) && endsAddress) continue;
			const textBefore = piece.text.slice(start, index);
			const address = trimAddress(match);
			const link = /^www/i.test(address) ? `http://${address}` : address;
			newPieces.push(
				{ ...piece, text: textBefore },
				{ text: address, marks: { ...piece.marks, link } },
			);
			start = index + address.length;
		}
		return [...newPieces, { ...piece, text: piece.text.slice(start) }].filter(
			({ text }) => text !== '',
		);
	});
}

/** Returns the first character of a piece's text. For code, images and footnotes, returns a backtick, which stands for their markup. */
function getFirstMarkdownCharacter(piece: ParagraphPiece | undefined): string {
	if (piece === undefined) return '';
	return isText(piece) && !piece.marks.code ? (piece.text[0] ?? '') : '`';
}

/** Cuts a match after the address. Punctuation at the end of an address does not belong to it. */
function trimAddress(match: string): string {
	const [address = ''] = match.split(/[>|]/, 1);
	const closingPunctuation = address.includes('(') ? '?!.,:;*_~"\'' : '?!.,:;*_~"\')]';
	let end = address.length;
	while (closingPunctuation.includes(address[end - 1] ?? ' ')) end--;
	return address.slice(0, end);
}

const isBlank = ({ text, imageUrl }: ParagraphPiece) => text.trim() === '' && !imageUrl;
const isText = ({ imageUrl, footnoteId }: ParagraphPiece) =>
	imageUrl === undefined && footnoteId === undefined;

const haveSameMarks = (left: TextMarks, right: TextMarks) =>
	left.code === right.code && marksByPriority.every((mark) => left[mark] === right[mark]);
