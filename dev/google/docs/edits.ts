import {
	checkIndex,
	cutRuns,
	getEnd,
	getEntry,
	createEndError,
	createInvalidError,
	getLength,
	createParagraph,
	findPlace,
	splitsPair,
	tidy,
	type Entry,
	type Paragraph,
	type Place,
	type Run,
	type Segment,
} from './segment.ts';
import { createId } from './document.ts';

// Control characters except tab, newline and vertical tab, and the private use area (InsertTextRequest.text).
const strippedCharacters = /[\u0000-\u0008\u000c-\u001f\ue000-\uf8ff]/g;

const outsideParagraph =
	'The insertion index must be inside the bounds of an existing paragraph. ' +
	'You can still create new paragraphs by inserting newlines.';
const badDeletion = 'Invalid deletion range. Cannot delete the requested range.';

export function findParagraph(
	segment: Segment,
	index: number,
): { paragraph: Paragraph; place: Place } {
	checkIndex(segment, index);
	const place = findPlace(segment, index);
	const paragraph = getEntry(segment, place.entryIndex);
	if (paragraph.kind !== 'paragraph' || splitsPair(paragraph, place.offset))
		throw createInvalidError(outsideParagraph);
	return { paragraph, place };
}

/**
 * New text takes the style of the preceding text in its paragraph; new paragraphs take that of their original
 * paragraph.
 */
export function insertText(segment: Segment, index: number, text: string): void {
	const { paragraph, place } = findParagraph(segment, index);
	const clean = text.replace(strippedCharacters, '').replace(/\p{Surrogate}/gu, '\ufffd');
	const runIndex = cutRuns(paragraph, place.offset);
	const neighbour = paragraph.runs[runIndex - 1] ?? paragraph.runs[runIndex];
	const style = neighbour?.style ?? {};
	const lines = clean.split('\n');
	const run = (line: string): Run => ({ text: line, style: { ...style } });
	const lastLine = lines.pop() ?? '';
	if (lines.length === 0) {
		paragraph.runs.splice(runIndex, 0, run(lastLine));
		tidy(paragraph);
		return;
	}
	const tail = paragraph.runs.splice(runIndex);
	const parts = lines.map((line, lineIndex) =>
		createParagraph(paragraph, [...(lineIndex === 0 ? paragraph.runs : []), run(`${line}\n`)]),
	);
	parts.push(createParagraph(paragraph, [run(lastLine), ...tail]));
	for (const part of parts) {
		tidy(part);
		// A paragraph's style belongs to its newline: what the old one ends is still that heading, a new one is another.
		if (part !== parts.at(-1) && part.style.headingId) part.style.headingId = createId('h.');
	}
	segment.entries = segment.entries.toSpliced(place.entryIndex, 1, ...parts);
}

/** A newline is inserted before the table, and the rest of the paragraph follows the table. */
export function insertTable(segment: Segment, index: number, rows: number, columns: number): void {
	if (rows < 1 || columns < 1)
		throw createInvalidError('The number of rows and columns must be at least 1.');
	insertText(segment, index, '\n');
	const { entryIndex } = findPlace(segment, index + 1);
	const style = { namedStyleType: 'NORMAL_TEXT' };
	const cell = (): Entry[] => [
		{ kind: 'cellStart' },
		{ kind: 'paragraph', runs: [{ text: '\n', style: {} }], style: { ...style } },
	];
	const row = (): Entry[] => [{ kind: 'rowStart' }, ...repeat(columns, cell)];
	const table: Entry[] = [{ kind: 'tableStart' }, ...repeat(rows, row), { kind: 'tableEnd' }];
	segment.entries = segment.entries.toSpliced(entryIndex, 0, ...table);
}

const repeat = (count: number, make: () => Entry[]): Entry[] =>
	Array.from({ length: count }, make).flat();

/** Deletes tables and tables of contents only as a whole, and a newline only together with what it ends. */
export function deleteRange(segment: Segment, start: number, end: number): void {
	checkRange(segment, start, end, getEnd(segment));
	if (end === getEnd(segment)) {
		throw createInvalidError(
			'The range cannot include the newline character at the end of the segment.',
		);
	}
	const startPlace = findPlace(segment, start);
	const endPlace = findPlace(segment, end);
	checkPairs(segment, startPlace, endPlace);
	if (startPlace.entryIndex === endPlace.entryIndex) {
		const paragraph = getEntry(segment, startPlace.entryIndex);
		if (paragraph.kind !== 'paragraph') throw createInvalidError(badDeletion);
		const runIndex = cutRuns(paragraph, startPlace.offset);
		paragraph.runs.splice(runIndex, cutRuns(paragraph, endPlace.offset) - runIndex);
		tidy(paragraph);
		return;
	}
	checkWhole(segment, startPlace, endPlace);
	const startEntry = getEntry(segment, startPlace.entryIndex);
	const endEntry = getEntry(segment, endPlace.entryIndex);
	if (endEntry.kind === 'paragraph') {
		const keptRuns =
			startEntry.kind === 'paragraph'
				? startEntry.runs.slice(0, cutRuns(startEntry, startPlace.offset))
				: [];
		endEntry.runs.splice(0, cutRuns(endEntry, endPlace.offset), ...keptRuns);
		tidy(endEntry);
	}
	segment.entries.splice(startPlace.entryIndex, endPlace.entryIndex - startPlace.entryIndex);
}

function checkRange(segment: Segment, start: number, end: number, lastEnd: number): void {
	if (start >= end) throw createInvalidError('The range should not be empty.');
	checkIndex(segment, start);
	if (end > lastEnd) throw createEndError(segment, end);
}

function checkPairs(segment: Segment, ...places: Place[]): void {
	for (const place of places) {
		const entry = getEntry(segment, place.entryIndex);
		if (entry.kind === 'paragraph' && splitsPair(entry, place.offset)) {
			throw createInvalidError(
				'Invalid deletion range. The range cannot start or end inside a surrogate pair.',
			);
		}
	}
}

/**
 * @throws ApiError if the range contains part of a table, or if deleting it would leave a table without its
 * newline
 */
function checkWhole(segment: Segment, startPlace: Place, endPlace: Place): void {
	let depth = 0;
	for (const { kind } of segment.entries.slice(startPlace.entryIndex, endPlace.entryIndex)) {
		if (kind === 'tableStart' || kind === 'tocStart') depth++;
		else if (kind === 'tableEnd' || kind === 'tocEnd') depth--;
		else if ((kind === 'rowStart' || kind === 'cellStart') && depth === 0)
			throw createInvalidError(badDeletion);
		if (depth < 0) throw createInvalidError(badDeletion);
	}
	if (depth !== 0) throw createInvalidError(badDeletion);
	const nextEntry = getEntry(segment, endPlace.entryIndex);
	const lastEntry = getEntry(segment, endPlace.entryIndex - 1);
	if (nextEntry.kind !== 'paragraph' && (startPlace.offset > 0 || lastEntry.kind === 'paragraph'))
		throw createInvalidError(badDeletion);
}

/** Finds the paragraphs that a range touches, and the units of each that are in the range. */
export function findParagraphs(
	segment: Segment,
	start: number,
	end: number,
): Array<{ paragraph: Paragraph; entryIndex: number; startOffset: number; endOffset: number }> {
	checkRange(segment, start, end, getEnd(segment) - 1);
	const paragraphs = [];
	let position = 0;
	for (const [entryIndex, entry] of segment.entries.entries()) {
		const length = getLength(entry);
		if (position >= end) break;
		if (entry.kind === 'paragraph' && position + length > start) {
			const startOffset = Math.max(0, start - position);
			const endOffset = Math.min(length, end - position);
			paragraphs.push({ paragraph: entry, entryIndex, startOffset, endOffset });
		}
		position += length;
	}
	return paragraphs;
}
