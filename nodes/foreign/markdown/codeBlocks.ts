import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { piecesOf, type Piece } from '../document/elements';
import { placeOf, type Place } from '../document/indents';

type Element = docs_v1.Schema$StructuralElement;

/** Adjacent paragraphs that form one code block, with the place of its first line, or any other element. */
export type Part = { readonly element: Element } | { readonly code: string; readonly place: Place };

/**
 * Google Docs' own code blocks have one paragraph per line. Their first and last characters are from the
 * private use area, as seen in https://github.com/Mr0grog/google-docs-to-markdown. Without those characters,
 * consecutive lines in a fixed-width font form one block.
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
		const first = content[at]?.paragraph;
		if (first && end > at) parts.push({ code: lines.join('\n'), place: placeOf(first) });
		else parts.push({ element: content[at] ?? {} });
		at = Math.max(end, at + 1);
	}
	return parts;
}

/** For each position, the position after the next block end, if there are only paragraphs before it. */
function blockEnds(content: readonly Element[]): Array<number | undefined> {
	const ends = new Array<number | undefined>(content.length);
	for (let at = content.length - 1; at >= 0; at--) {
		if (!content[at]?.paragraph) ends[at] = undefined;
		else ends[at] = rawText(content[at]).includes(blockEnd) ? at + 1 : ends[at + 1];
	}
	return ends;
}

/** @returns `start` if no block of several lines begins there */
function fixedWidthEnd(content: readonly Element[], start: number, tab: docs_v1.Schema$DocumentTab): number {
	let end = start;
	for (let at = start; at < content.length; at++) {
		const pieces = plainLine(content[at], tab);
		if (pieces === undefined || !pieces.every(({ marks }) => marks.code)) break;
		if (at > start && !isNextLine(content[at - 1]?.paragraph ?? {}, content[at]?.paragraph ?? {})) break;
		// Empty lines belong to a block only if they are between other lines.
		if (pieces.length > 0) end = at + 1;
		else if (at === start) break;
	}
	return end - start > 1 ? end : start;
}

/**
 * Lines of one block stand at one place without a gap: a paragraph with a space below it, or one that begins
 * further in or leaves a quote, is one of its own.
 */
function isNextLine(before: docs_v1.Schema$Paragraph, after: docs_v1.Schema$Paragraph): boolean {
	const gap =
		(before.paragraphStyle?.spaceBelow?.magnitude ?? 0) + (after.paragraphStyle?.spaceAbove?.magnitude ?? 0);
	const [place, next] = [placeOf(before), placeOf(after)];
	return gap === 0 && place.quoted === next.quoted && place.indentPoints === next.indentPoints;
}

/**
 * The pieces of a paragraph that is an ordinary line: not a heading, not a list item, and not shaded like our
 * own code blocks.
 */
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
