import type { PhrasingContent } from 'mdast';

import type { Marks } from '../document/blocks';
import type { Piece } from '../document/elements';

type Mark = keyof Marks;

// If two marks reach equally far, the first one in this list is the outer one. `***x***` reads as emphasis
// around strong.
const marks: readonly Mark[] = ['italic', 'bold', 'strikethrough', 'link'];

/** The node for a line break, for example in a table cell. */
type LineBreak = PhrasingContent;

/**
 * Nests marks so that each reaches as far as it can. Marks never begin or end with a space, which Markdown
 * does not allow.
 */
export function phrasingOf(
	pieces: readonly Piece[],
	lineBreak: LineBreak,
	footnoteLabel: (id: string) => string,
): PhrasingContent[] {
	return nest(joined(trimmed(spaced(pieces))), new Set(), { lineBreak, footnoteLabel });
}

interface Making {
	readonly lineBreak: LineBreak;
	readonly footnoteLabel: (id: string) => string;
}

function nest(pieces: readonly Piece[], open: ReadonlySet<Mark>, making: Making): PhrasingContent[] {
	const nodes: PhrasingContent[] = [];
	for (let at = 0; at < pieces.length;) {
		const { mark, end } = furthest(pieces, at, open);
		if (mark === undefined) nodes.push(...leaves(pieces.slice(at, end), making));
		else {
			const children = nest(pieces.slice(at, end), new Set([...open, mark]), making);
			nodes.push(wrapped(mark, pieces[at]?.marks.link ?? '', children));
		}
		at = end;
	}
	return nodes;
}

/** The mark at a position that reaches furthest, and where it ends; undefined if every mark there is open. */
function furthest(
	pieces: readonly Piece[],
	at: number,
	open: ReadonlySet<Mark>,
): { mark: Mark | undefined; end: number } {
	const first = pieces[at];
	let best: { mark: Mark | undefined; end: number } = { mark: undefined, end: at + 1 };
	let length = 0;
	for (const mark of marks) {
		const value = first?.marks[mark];
		if (open.has(mark) || value === undefined) continue;
		let end = at + 1;
		while (end < pieces.length && pieces[end]?.marks[mark] === value) end++;
		if (end - at > length) best = { mark, end };
		length = Math.max(length, end - at);
	}
	return best;
}

function wrapped(mark: Mark, url: string, children: PhrasingContent[]): PhrasingContent {
	if (mark === 'link') return { type: 'link', url, children };
	if (mark === 'bold') return { type: 'strong', children };
	return mark === 'italic' ? { type: 'emphasis', children } : { type: 'delete', children };
}

function leaves(pieces: readonly Piece[], { lineBreak, footnoteLabel }: Making): PhrasingContent[] {
	return pieces.flatMap((piece): PhrasingContent[] => {
		if (piece.picture !== undefined) return [{ type: 'image', url: piece.picture, alt: piece.text }];
		if (piece.footnoteId !== undefined) {
			const label = footnoteLabel(piece.footnoteId);
			return [{ type: 'footnoteReference', identifier: label, label }];
		}
		if (piece.marks.code) return [{ type: 'inlineCode', value: piece.text.replaceAll('\v', ' ') }];
		return piece.text
			.split('\v')
			.flatMap((value, at): PhrasingContent[] => [...(at > 0 ? [lineBreak] : []), { type: 'text', value }])
			.filter((node) => node.type !== 'text' || node.value !== '');
	});
}

/** Splits off spaces at the ends of a marked piece. They keep only the marks that both neighbors have too. */
function spaced(pieces: readonly Piece[]): Piece[] {
	const parts = pieces.flatMap((piece): Piece[] => {
		if (piece.marks.code || piece.picture !== undefined || piece.footnoteId !== undefined) return [piece];
		return spacesApart(piece.text).map((text) => ({ ...piece, text }));
	});
	return parts.map((piece, at) => {
		if (piece.text.trim() !== '' || piece.picture !== undefined) return piece;
		return { ...piece, marks: inAll(piece.marks, parts[at - 1]?.marks ?? {}, parts[at + 1]?.marks ?? {}) };
	});
}

/** Splits into leading spaces, content and trailing spaces; empty parts are left out. */
function spacesApart(text: string): string[] {
	const from = text.length - text.trimStart().length;
	const to = Math.max(from, text.trimEnd().length);
	return [text.slice(0, from), text.slice(from, to), text.slice(to)].filter((part) => part !== '');
}

function inAll(own: Marks, left: Marks, right: Marks): Marks {
	const kept = marks.filter(
		(mark) => own[mark] !== undefined && left[mark] === own[mark] && right[mark] === own[mark],
	);
	return Object.fromEntries(kept.map((mark) => [mark, own[mark]]));
}

/** Removes spaces and breaks at the ends of a paragraph, which have no meaning in Markdown. */
function trimmed(pieces: readonly Piece[]): Piece[] {
	const blank = (piece: Piece) => piece.text.trim() === '' && piece.picture === undefined;
	const first = pieces.findIndex((piece) => !blank(piece));
	const last = pieces.findLastIndex((piece) => !blank(piece));
	return first < 0 ? [] : pieces.slice(first, last + 1);
}

function joined(pieces: readonly Piece[]): Piece[] {
	const parts: Piece[] = [];
	for (const piece of pieces) {
		const last = parts.at(-1);
		if (last !== undefined && isPlain(last) && isPlain(piece) && sameMarks(last.marks, piece.marks)) {
			parts[parts.length - 1] = { ...last, text: last.text + piece.text };
		} else parts.push(piece);
	}
	return parts;
}

function isPlain(piece: Piece): boolean {
	return piece.picture === undefined && piece.footnoteId === undefined;
}

function sameMarks(left: Marks, right: Marks): boolean {
	return left.code === right.code && marks.every((mark) => left[mark] === right[mark]);
}
