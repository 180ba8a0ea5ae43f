import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { piecesOf, type Piece } from '../document/elements';
import { listIndentPoints, ownSpacing, placeOf, type Place } from '../document/indents';

type Element = docs_v1.Schema$StructuralElement;

/** Adjacent paragraphs that form one code block, with the place of its first line, or any other element. */
type Part = { readonly element: Element } | { readonly code: string; readonly place: Place };

/**
 * Google Docs' own code blocks have one paragraph per line. Their first and last characters are from the
 * private use area, as seen in https://github.com/Mr0grog/google-docs-to-markdown. Without those characters,
 * consecutive lines in a fixed-width font form one block.
 */
const blockStart = '\uec03';
const blockEnd = '\uec02';
/** What Docs' button for more indentation stands for. */
const spacesPerIndent = 4;
/** A document may have any indentation. */
const mostSpaces = 64;

export function withCodeBlocks(content: readonly Element[], tab: docs_v1.Schema$DocumentTab): Part[] {
	const parts: Part[] = [];
	const ends = blockEnds(content);
	for (let at = 0; at < content.length;) {
		const marked = rawText(content[at]).includes(blockStart) ? ends[at] : undefined;
		const end = marked ?? fixedWidthEnd(content, at, tab);
		const first = placeOf(content[at]?.paragraph ?? {});
		// What Docs' own blocks have for a look is not known.
		const place = marked === undefined ? first : topLevel;
		if (end > at) parts.push({ code: codeOf(content.slice(at, end), first, tab), place });
		else parts.push({ element: content[at] ?? {} });
		at = Math.max(end, at + 1);
	}
	return parts;
}

const topLevel: Place = { quoted: false, indentPoints: 0 };

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
	const first = placeOf(content[start]?.paragraph ?? {});
	let end = start;
	for (let at = start; at < content.length; at++) {
		const pieces = plainLine(content[at], tab);
		if (pieces === undefined || !pieces.every(({ marks }) => marks.code)) break;
		// Empty lines belong to a block only if they are between other lines.
		if (pieces.length === 0) {
			if (at === start) break;
			continue;
		}
		if (!isWithin(placeOf(content[at]?.paragraph ?? {}), first)) break;
		end = at + 1;
	}
	return end - start > 1 ? end : start;
}

/**
 * A line further in is one of the same block, but one further out is beside it, as after a list item, and so is one that
 * is quoted more or less deeply.
 */
function isWithin({ quoted, indentPoints }: Place, first: Place): boolean {
	if (quoted !== first.quoted) return false;
	const further = indentPoints - first.indentPoints;
	return quoted ? Math.abs(further) < 1 : further > -1;
}

/**
 * The pieces of a paragraph that is an ordinary line: not a heading, not a list item, and neither shaded like our
 * own code blocks nor spaced like our own paragraphs, which are what they were in Markdown.
 */
function plainLine(element: Element | undefined, tab: docs_v1.Schema$DocumentTab): Piece[] | undefined {
	const { paragraph } = element ?? {};
	if (!paragraph || paragraph.bullet) return undefined;
	const { namedStyleType = 'NORMAL_TEXT', shading, spaceBelow, spacingMode } = paragraph.paragraphStyle ?? {};
	if (namedStyleType !== 'NORMAL_TEXT' || shading?.backgroundColor?.color) return undefined;
	const { pointsBelow, mode } = ownSpacing;
	if (spacingMode === mode && spaceBelow?.magnitude === pointsBelow) return undefined;
	return piecesOf(paragraph, tab);
}

function rawText(element: Element | undefined): string {
	return (element?.paragraph?.elements ?? []).map(({ textRun }) => textRun?.content ?? '').join('');
}

function codeOf(lines: readonly Element[], first: Place, tab: docs_v1.Schema$DocumentTab): string {
	return lines
		.map(({ paragraph = {} }) => {
			const text = piecesOf(paragraph, tab).map((piece) => piece.text);
			const further = first.quoted ? 0 : placeOf(paragraph).indentPoints - first.indentPoints;
			const spaces = text.length === 0 ? 0 : Math.round((further / listIndentPoints) * spacesPerIndent);
			return ' '.repeat(Math.min(Math.max(0, spaces), mostSpaces)) + text.join('').replaceAll('\v', '\n');
		})
		.join('\n');
}
