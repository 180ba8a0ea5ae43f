import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { getEnd, createInvalidError, type Segment } from './segment.ts';

/** A named range of a tab's body. Names need not be unique. */
export interface NamedRange {
	readonly namedRangeId: string;
	readonly name: string;
	readonly startIndex: number;
	readonly endIndex: number;
}

/** The part of a tab that contains the ranges. */
interface Home {
	readonly tabId: string;
	readonly body: Segment;
	namedRanges: NamedRange[];
}

/** Limit for a name, in UTF-16 units (CreateNamedRangeRequest.name). */
const maxNameLength = 256;

export function createNamedRange(
	tab: Home,
	{ name, range }: docs_v1.Schema$CreateNamedRangeRequest,
	newId: (prefix: string) => string,
): docs_v1.Schema$Response {
	const { segmentId } = range ?? {};
	const [start, end] = [range?.startIndex ?? 0, range?.endIndex ?? 0];
	if (!name || name.length > maxNameLength)
		throw createInvalidError('The name must be between 1 and 256 UTF-16 code units.');
	if (segmentId) throw createInvalidError('The stand-in keeps named ranges of bodies only.');
	if (start >= end || start < 1) throw createInvalidError('The range should not be empty.');
	if (end > getEnd(tab.body))
		throw createInvalidError(`Index ${end} must be less than the end index of the segment.`);
	const namedRangeId = newId('kix.');
	tab.namedRanges.push({ namedRangeId, name, startIndex: start, endIndex: end });
	return { createNamedRange: { namedRangeId } };
}

/** Runs an edit of the body and moves the ranges with the text. A range without text is removed. */
export function editAndMoveRanges(
	tab: Home,
	segment: Segment,
	position: number,
	edit: () => void,
): void {
	const oldEnd = getEnd(tab.body);
	edit();
	if (segment !== tab.body) return;
	const delta = getEnd(tab.body) - oldEnd;
	const moveIndex = (index: number) =>
		index <= position ? index : Math.max(position, index + delta);
	tab.namedRanges = tab.namedRanges
		.map((range) => ({
			...range,
			// Text inserted where a range begins goes before the range.
			startIndex:
				range.startIndex === position && delta > 0
					? position + delta
					: moveIndex(range.startIndex),
			endIndex: moveIndex(range.endIndex),
		}))
		.filter(({ startIndex, endIndex }) => startIndex < endIndex);
}

export function renderNamedRanges(tab: Home): Record<string, docs_v1.Schema$NamedRanges> {
	const { tabId } = tab;
	const byName: Record<string, docs_v1.Schema$NamedRanges> = {};
	for (const { namedRangeId, name, startIndex, endIndex } of tab.namedRanges) {
		const { namedRanges } = (byName[name] ??= { name, namedRanges: [] });
		namedRanges?.push({ namedRangeId, name, ranges: [{ startIndex, endIndex, tabId }] });
	}
	return byName;
}
