import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { ApiError } from '../service.ts';
import { newId, segmentIn, tabOf, type StoredDocument, type Tab } from './document.ts';
import { deleteRange, insertTable, insertText } from './edits.ts';
import { createNamedRange, movingRanges } from './namedRanges.ts';
import { createBullets, deleteBullets } from './lists.ts';
import { endOf, invalid, type Segment } from './segment.ts';
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
function insertion(document: StoredDocument, { location, endOfSegmentLocation }: Located): Target {
	if ((location === undefined) === (endOfSegmentLocation === undefined)) {
		throw invalid('Exactly one of location and end_of_segment_location must be set.');
	}
	const { tabId, segmentId } = location ?? endOfSegmentLocation ?? {};
	const tab = tabOf(document, tabId);
	const segment = segmentIn(tab, segmentId);
	const start = location === undefined ? endOf(segment) - 1 : (location.index ?? 0);
	return { tab, segment, start, end: start };
}

function ranged(document: StoredDocument, range: docs_v1.Schema$Range | undefined): Target {
	if (range === undefined) throw invalid('The range is required.');
	const tab = tabOf(document, range.tabId);
	return {
		tab,
		segment: segmentIn(tab, range.segmentId),
		start: range.startIndex ?? 0,
		end: range.endIndex ?? 0,
	};
}

type Kind = keyof docs_v1.Schema$Request;

/** Carries out a request. Most requests have no answer. */
type Carry = (
	document: StoredDocument,
	request: docs_v1.Schema$Request,
) => docs_v1.Schema$Response | undefined;

const kinds: { readonly [K in Kind]?: Carry } = {
	insertText(document, { insertText: request = {} }) {
		const { tab, segment, start } = insertion(document, request);
		const { text } = request;
		if (!text) throw invalid('Text to insert must not be empty.');
		movingRanges(tab, segment, start, () => {
			insertText(segment, start, text);
		});
		return undefined;
	},
	insertInlineImage(document, { insertInlineImage: request = {} }) {
		const { tab, segment, start } = insertion(document, request);
		return insertInlineImage(tab, segment, start, request);
	},
	replaceAllText: (document, { replaceAllText: request = {} }) => replaceAllText(document, request),
	addDocumentTab: (document, { addDocumentTab: request = {} }) => addDocumentTab(document, request),
	insertTable(document, { insertTable: request = {} }) {
		const { tab, segment, start } = insertion(document, request);
		movingRanges(tab, segment, start, () => {
			insertTable(segment, start, request.rows ?? 0, request.columns ?? 0);
		});
		return undefined;
	},
	deleteContentRange(document, { deleteContentRange: request = {} }) {
		const { tab, segment, start, end } = ranged(document, request.range);
		movingRanges(tab, segment, start, () => {
			deleteRange(segment, start, end);
		});
		dropFootnotes(tab);
		return undefined;
	},
	updateTextStyle(document, { updateTextStyle: request = {} }) {
		const { segment, start, end } = ranged(document, request.range);
		updateTextStyle(segment, start, end, request);
		return undefined;
	},
	updateParagraphStyle(document, { updateParagraphStyle: request = {} }) {
		const { segment, start, end } = ranged(document, request.range);
		updateParagraphStyle(segment, start, end, request, newId);
		return undefined;
	},
	createNamedRange(document, { createNamedRange: request = {} }) {
		return createNamedRange(tabOf(document, request.range?.tabId), request, newId);
	},
	createParagraphBullets(document, { createParagraphBullets: request = {} }) {
		const { tab, segment, start, end } = ranged(document, request.range);
		movingRanges(tab, segment, start, () => {
			createBullets(segment, start, end, request, tab.lists, newId);
		});
		return undefined;
	},
	deleteParagraphBullets(document, { deleteParagraphBullets: request = {} }) {
		const { segment, start, end } = ranged(document, request.range);
		deleteBullets(segment, start, end);
		return undefined;
	},
};

/** Removes footnotes whose reference was deleted. */
function dropFootnotes(tab: Tab): void {
	const runs = tab.body.entries.flatMap((entry) => (entry.kind === 'paragraph' ? entry.runs : []));
	const keptIds = new Set(runs.map(({ object }) => object?.footnoteReference?.footnoteId));
	tab.footnotes = Object.fromEntries(Object.entries(tab.footnotes).filter(([id]) => keptIds.has(id)));
}

function isKind(name: string): name is Kind {
	return Object.hasOwn(kinds, name);
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
		throw invalid(`Invalid requests[${position}]: Exactly one request kind must be set.`);
	const kind = isKind(name) ? kinds[name] : undefined;
	if (kind === undefined) throw new ApiError(501, `The stand-in does not know the request ${name}.`);
	try {
		return kind(document, request) ?? {};
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		throw new ApiError(error.code, `Invalid requests[${position}].${name}: ${error.message}`, {
			status: error.status,
		});
	}
}
