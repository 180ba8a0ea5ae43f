import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { ApiError } from '../service.ts';
import { createId, findSegment, findTab, type StoredDocument, type Tab } from './document.ts';
import { deleteRange, insertTable, insertText } from './edits.ts';
import { createNamedRange, editAndMoveRanges } from './namedRanges.ts';
import { createBullets, deleteBullets } from './lists.ts';
import { getEnd, createInvalidError, type Segment } from './segment.ts';
import { addDocumentTab, insertInlineImage, replaceAllText } from './template.ts';
import { updateParagraphStyle, updateTextStyle } from './styles.ts';

interface Target {
	readonly tab: Tab;
	readonly segment: Segment;
	readonly start: number;
	readonly end: number;
}

interface Located {
	location?: docs_v1.Schema$Location;
	endOfSegmentLocation?: docs_v1.Schema$EndOfSegmentLocation;
}

/** Finds the position of an insertion. The end of a segment is before its last newline. */
function resolveInsertion(
	document: StoredDocument,
	{ location, endOfSegmentLocation }: Located,
): Target {
	if ((location === undefined) === (endOfSegmentLocation === undefined))
		throw createInvalidError(
			'Exactly one of location and end_of_segment_location must be set.',
		);
	const { tabId, segmentId } = location ?? endOfSegmentLocation ?? {};
	const tab = findTab(document, tabId);
	const segment = findSegment(tab, segmentId);
	const start = location === undefined ? getEnd(segment) - 1 : (location.index ?? 0);
	return { tab, segment, start, end: start };
}

function resolveRange(document: StoredDocument, range: docs_v1.Schema$Range | undefined): Target {
	if (range === undefined) throw createInvalidError('The range is required.');
	const tab = findTab(document, range.tabId);
	const segment = findSegment(tab, range.segmentId);
	return { tab, segment, start: range.startIndex ?? 0, end: range.endIndex ?? 0 };
}

type Kind = keyof docs_v1.Schema$Request;

/** Carries out a request. Most requests have no answer. */
type CarryOut = (
	document: StoredDocument,
	request: docs_v1.Schema$Request,
) => docs_v1.Schema$Response | undefined;

const carryOutByKind: { readonly [K in Kind]?: CarryOut } = {
	insertText(document, { insertText: request = {} }) {
		const { tab, segment, start } = resolveInsertion(document, request);
		const { text } = request;
		if (!text) throw createInvalidError('Text to insert must not be empty.');
		editAndMoveRanges(tab, segment, start, () => {
			insertText(segment, start, text);
		});
		return undefined;
	},
	insertInlineImage(document, { insertInlineImage: request = {} }) {
		const { tab, segment, start } = resolveInsertion(document, request);
		return insertInlineImage(tab, segment, start, request);
	},
	replaceAllText: (document, { replaceAllText: request = {} }) =>
		replaceAllText(document, request),
	addDocumentTab: (document, { addDocumentTab: request = {} }) =>
		addDocumentTab(document, request),
	insertTable(document, { insertTable: request = {} }) {
		const { tab, segment, start } = resolveInsertion(document, request);
		editAndMoveRanges(tab, segment, start, () => {
			insertTable(segment, start, request.rows ?? 0, request.columns ?? 0);
		});
		return undefined;
	},
	deleteContentRange(document, { deleteContentRange: request = {} }) {
		const { tab, segment, start, end } = resolveRange(document, request.range);
		editAndMoveRanges(tab, segment, start, () => {
			deleteRange(segment, start, end);
		});
		dropFootnotes(tab);
		return undefined;
	},
	updateTextStyle(document, { updateTextStyle: request = {} }) {
		const { segment, start, end } = resolveRange(document, request.range);
		updateTextStyle(segment, start, end, request);
		return undefined;
	},
	updateParagraphStyle(document, { updateParagraphStyle: request = {} }) {
		const { segment, start, end } = resolveRange(document, request.range);
		updateParagraphStyle(segment, start, end, request, createId);
		return undefined;
	},
	createNamedRange(document, { createNamedRange: request = {} }) {
		return createNamedRange(findTab(document, request.range?.tabId), request, createId);
	},
	createParagraphBullets(document, { createParagraphBullets: request = {} }) {
		const { tab, segment, start, end } = resolveRange(document, request.range);
		editAndMoveRanges(tab, segment, start, () => {
			createBullets(segment, start, end, request, tab.lists, createId);
		});
		return undefined;
	},
	deleteParagraphBullets(document, { deleteParagraphBullets: request = {} }) {
		const { segment, start, end } = resolveRange(document, request.range);
		deleteBullets(segment, start, end);
		return undefined;
	},
};

/** Removes footnotes whose reference was deleted. */
function dropFootnotes(tab: Tab): void {
	const runs = tab.body.entries.flatMap((entry) =>
		entry.kind === 'paragraph' ? entry.runs : [],
	);
	const keptIds = new Set(runs.map(({ object }) => object?.footnoteReference?.footnoteId));
	tab.footnotes = Object.fromEntries(
		Object.entries(tab.footnotes).filter(([id]) => keptIds.has(id)),
	);
}

function isKind(name: string): name is Kind {
	return Object.hasOwn(carryOutByKind, name);
}

/**
 * Carries out one request of a batch.
 * @throws ApiError in Google's words, with the request's position and kind
 */
export function apply(
	document: StoredDocument,
	request: docs_v1.Schema$Request,
	position: number,
): docs_v1.Schema$Response {
	const names = Object.keys(request);
	const name = names[0] ?? '';
	if (names.length !== 1)
		throw createInvalidError(
			`Invalid requests[${position}]: Exactly one request kind must be set.`,
		);
	const carryOut = isKind(name) ? carryOutByKind[name] : undefined;
	if (carryOut === undefined)
		throw new ApiError(501, `The stand-in does not know the request ${name}.`);
	try {
		return carryOut(document, request) ?? {};
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		throw new ApiError(error.code, `Invalid requests[${position}].${name}: ${error.message}`, {
			status: error.status,
		});
	}
}
