import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { piecesOf, type Piece } from '../document/elements';

type Element = docs_v1.Schema$StructuralElement;

/** A run of paragraphs that is one block of code, or anything else. */
export type Part = { readonly element: Element } | { readonly code: string };

/**
 * Google Docs' own code blocks have a paragraph for each line. Their first and last characters are of the private use area; seen in
 * https://github.com/Mr0grog/google-docs-to-markdown. Without those, lines in a fixed-width font that follow each other are one.
 */
const blockStart = '\uec03';
const blockEnd = '\uec02';

export function withCodeBlocks(content: readonly Element[], tab: docs_v1.Schema$DocumentTab): Part[] {
	const parts: Part[] = [];
	const ends = blockEnds(content);
	for (let at = 0; at < content.length;) {
		const marked = rawText(content[at]).includes(blockStart) ? ends[at] : undefined;
		const end = marked ?? fixedWidthEnd(content, at, tab);
		const lines = content.slice(at, end).map((element) => lineOf(element, tab));
		if (end > at) parts.push({ code: lines.join('\n') });
		else parts.push({ element: content[at] ?? {} });
		at = Math.max(end, at + 1);
	}
	return parts;
}

/** By position: behind the next end of a block, if nothing but paragraphs stand before it. */
function blockEnds(content: readonly Element[]): Array<number | undefined> {
	const ends = new Array<number | undefined>(content.length);
	for (let at = content.length - 1; at >= 0; at--) {
		if (!content[at]?.paragraph) ends[at] = undefined;
		else ends[at] = rawText(content[at]).includes(blockEnd) ? at + 1 : ends[at + 1];
	}
	return ends;
}

/** @returns `start` where no block of several lines begins */
function fixedWidthEnd(content: readonly Element[], start: number, tab: docs_v1.Schema$DocumentTab): number {
	let end = start;
	for (let at = start; at < content.length; at++) {
		const pieces = plainLine(content[at], tab);
		if (pieces === undefined || !pieces.every(({ marks }) => marks.code)) break;
		// Empty lines belong to a block only between others.
		if (pieces.length > 0) end = at + 1;
		else if (at === start) break;
	}
	return end - start > 1 ? end : start;
}

/** Of a paragraph that is nothing but a line: no heading, no item of a list, and not shaded, as our own blocks of code are. */
function plainLine(element: Element | undefined, tab: docs_v1.Schema$DocumentTab): Piece[] | undefined {
	const { paragraph } = element ?? {};
	if (!paragraph || paragraph.bullet) return undefined;
	const { namedStyleType = 'NORMAL_TEXT', shading } = paragraph.paragraphStyle ?? {};
	if (namedStyleType !== 'NORMAL_TEXT' || shading?.backgroundColor?.color) return undefined;
	return piecesOf(paragraph, tab);
}

function rawText(element: Element | undefined): string {
	return (element?.paragraph?.elements ?? []).map(({ textRun }) => textRun?.content ?? '').join('');
}

function lineOf({ paragraph }: Element, tab: docs_v1.Schema$DocumentTab): string {
	const text = paragraph ? piecesOf(paragraph, tab).map((piece) => piece.text) : [];
	return text.join('').replaceAll('\v', '\n');
}
