import {
	checkIndex,
	cutRuns,
	endOf,
	entryAt,
	invalid,
	lengthOf,
	newParagraph,
	placeOf,
	splitsPair,
	tidy,
	type Entry,
	type Paragraph,
	type Place,
	type Run,
	type Segment,
} from './segment.ts';
import { newId } from './document.ts';

// Control characters except tab, newline and vertical tab, and the private use area (InsertTextRequest.text).
const stripped = /[\u0000-\u0008\u000c-\u001f\ue000-\uf8ff]/g;

const outsideParagraph =
	'The insertion index must be inside the bounds of an existing paragraph. ' +
	'You can still create new paragraphs by inserting newlines.';
const badDeletion = 'Invalid deletion range. Cannot delete the requested range.';

export function paragraphAt(segment: Segment, index: number): { paragraph: Paragraph; place: Place } {
	checkIndex(segment, index);
	const place = placeOf(segment, index);
	const paragraph = entryAt(segment, place.at);
	if (paragraph.kind !== 'paragraph' || splitsPair(paragraph, place.offset)) throw invalid(outsideParagraph);
	return { paragraph, place };
}

/**
 * New text takes the style of the preceding text in its paragraph; new paragraphs take that of their original
 * paragraph.
 */
export function insertText(segment: Segment, index: number, text: string): void {
	const { paragraph, place } = paragraphAt(segment, index);
	const clean = text.replace(stripped, '').replace(/\p{Surrogate}/gu, '\ufffd');
	const at = cutRuns(paragraph, place.offset);
	const neighbour = paragraph.runs[at - 1] ?? paragraph.runs[at];
	const style = neighbour?.style ?? {};
	const lines = clean.split('\n');
	const run = (line: string): Run => ({ text: line, style: { ...style } });
	const last = lines.pop() ?? '';
	if (lines.length === 0) {
		paragraph.runs.splice(at, 0, run(last));
		tidy(paragraph);
		return;
	}
	const tail = paragraph.runs.splice(at);
	const parts = lines.map((line, line0) =>
		newParagraph(paragraph, [...(line0 === 0 ? paragraph.runs : []), run(`${line}\n`)]),
	);
	parts.push(newParagraph(paragraph, [run(last), ...tail]));
	for (const part of parts) {
		tidy(part);
		// A paragraph's style belongs to its newline: what the old one ends is still that heading, a new one is another.
		if (part !== parts.at(-1) && part.style.headingId) part.style.headingId = newId('h.');
	}
	segment.entries = [...segment.entries.slice(0, place.at), ...parts, ...segment.entries.slice(place.at + 1)];
}

/** A newline is inserted before the table, and the rest of the paragraph follows the table. */
export function insertTable(segment: Segment, index: number, rows: number, columns: number): void {
	if (rows < 1 || columns < 1) throw invalid('The number of rows and columns must be at least 1.');
	insertText(segment, index, '\n');
	const { at } = placeOf(segment, index + 1);
	const cell = (): Entry[] => [
		{ kind: 'cellStart' },
		{ kind: 'paragraph', runs: [{ text: '\n', style: {} }], style: { namedStyleType: 'NORMAL_TEXT' } },
	];
	const row = (): Entry[] => [{ kind: 'rowStart' }, ...Array.from({ length: columns }, cell).flat()];
	const table: Entry[] = [
		{ kind: 'tableStart' },
		...Array.from({ length: rows }, row).flat(),
		{ kind: 'tableEnd' },
	];
	segment.entries = [...segment.entries.slice(0, at), ...table, ...segment.entries.slice(at)];
}

/** Deletes tables and tables of contents only as a whole, and a newline only together with what it ends. */
export function deleteRange(segment: Segment, start: number, end: number): void {
	if (start >= end) throw invalid('The range should not be empty.');
	checkIndex(segment, start);
	const segmentEnd = endOf(segment);
	if (end > segmentEnd) {
		throw invalid(`Index ${end} must be less than the end index of the referenced segment, ${segmentEnd}.`);
	}
	if (end === segmentEnd) {
		throw invalid('The range cannot include the newline character at the end of the segment.');
	}
	const from = placeOf(segment, start);
	const to = placeOf(segment, end);
	checkPairs(segment, from, to);
	if (from.at === to.at) {
		const paragraph = entryAt(segment, from.at);
		if (paragraph.kind !== 'paragraph') throw invalid(badDeletion);
		const left = cutRuns(paragraph, from.offset);
		paragraph.runs.splice(left, cutRuns(paragraph, to.offset) - left);
		tidy(paragraph);
		return;
	}
	checkWhole(segment, from, to);
	const left = entryAt(segment, from.at);
	const right = entryAt(segment, to.at);
	if (right.kind === 'paragraph') {
		const kept = left.kind === 'paragraph' ? left.runs.slice(0, cutRuns(left, from.offset)) : [];
		right.runs.splice(0, cutRuns(right, to.offset), ...kept);
		tidy(right);
	}
	segment.entries.splice(from.at, to.at - from.at);
}

function checkPairs(segment: Segment, ...places: Place[]): void {
	for (const place of places) {
		const entry = entryAt(segment, place.at);
		if (entry.kind === 'paragraph' && splitsPair(entry, place.offset)) {
			throw invalid('Invalid deletion range. The range cannot start or end inside a surrogate pair.');
		}
	}
}

/**
 * @throws ApiError if the range contains part of a table, or if deleting it would leave a table without its
 * newline
 */
function checkWhole(segment: Segment, from: Place, to: Place): void {
	let depth = 0;
	for (const { kind } of segment.entries.slice(from.at, to.at)) {
		if (kind === 'tableStart' || kind === 'tocStart') depth++;
		else if (kind === 'tableEnd' || kind === 'tocEnd') depth--;
		else if ((kind === 'rowStart' || kind === 'cellStart') && depth === 0) throw invalid(badDeletion);
		if (depth < 0) throw invalid(badDeletion);
	}
	if (depth !== 0) throw invalid(badDeletion);
	const next = entryAt(segment, to.at);
	const last = entryAt(segment, to.at - 1);
	if (next.kind !== 'paragraph' && (from.offset > 0 || last.kind === 'paragraph')) throw invalid(badDeletion);
}

/** The paragraphs that a range touches, and the units of each that are in the range. */
export function paragraphsIn(
	segment: Segment,
	start: number,
	end: number,
): Array<{ paragraph: Paragraph; at: number; from: number; to: number }> {
	if (start >= end) throw invalid('The range should not be empty.');
	checkIndex(segment, start);
	const segmentEnd = endOf(segment);
	if (end >= segmentEnd) {
		throw invalid(`Index ${end} must be less than the end index of the referenced segment, ${segmentEnd}.`);
	}
	const found = [];
	let position = 0;
	for (const [at, entry] of segment.entries.entries()) {
		const length = lengthOf(entry);
		if (position >= end) break;
		if (entry.kind === 'paragraph' && position + length > start) {
			const from = Math.max(0, start - position);
			found.push({ paragraph: entry, at, from, to: Math.min(length, end - position) });
		}
		position += length;
	}
	return found;
}
