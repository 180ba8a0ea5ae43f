import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { ApiError } from '../service.ts';
import { newId, segmentIn, tabOf, type StoredDocument, type Tab } from './document.ts';
import { deleteRange, insertTable, insertText } from './edits.ts';
import { createBullets, deleteBullets } from './lists.ts';
import { endOf, invalid, type Segment } from './segment.ts';
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

/** Where an insertion goes; the end of a segment is before its last newline. */
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

const kinds: { readonly [K in Kind]?: (document: StoredDocument, request: docs_v1.Schema$Request) => void } =
	{
		insertText(document, { insertText: request = {} }) {
			const { segment, start } = insertion(document, request);
			if (!request.text) throw invalid('Text to insert must not be empty.');
			insertText(segment, start, request.text);
		},
		insertTable(document, { insertTable: request = {} }) {
			const { segment, start } = insertion(document, request);
			insertTable(segment, start, request.rows ?? 0, request.columns ?? 0);
		},
		deleteContentRange(document, { deleteContentRange: request = {} }) {
			const { tab, segment, start, end } = ranged(document, request.range);
			deleteRange(segment, start, end);
			dropFootnotes(tab);
		},
		updateTextStyle(document, { updateTextStyle: request = {} }) {
			const { segment, start, end } = ranged(document, request.range);
			updateTextStyle(segment, start, end, request);
		},
		updateParagraphStyle(document, { updateParagraphStyle: request = {} }) {
			const { segment, start, end } = ranged(document, request.range);
			updateParagraphStyle(segment, start, end, request, newId);
		},
		createParagraphBullets(document, { createParagraphBullets: request = {} }) {
			const { tab, segment, start, end } = ranged(document, request.range);
			createBullets(segment, start, end, request, tab.lists, newId);
		},
		deleteParagraphBullets(document, { deleteParagraphBullets: request = {} }) {
			const { segment, start, end } = ranged(document, request.range);
			deleteBullets(segment, start, end);
		},
	};

/** A footnote goes with its reference. */
function dropFootnotes(tab: Tab): void {
	const runs = tab.body.entries.flatMap((entry) => (entry.kind === 'paragraph' ? entry.runs : []));
	const kept = new Set(runs.map(({ object }) => object?.footnoteReference?.footnoteId));
	tab.footnotes = Object.fromEntries(Object.entries(tab.footnotes).filter(([id]) => kept.has(id)));
}

function isKind(name: string): name is Kind {
	return Object.hasOwn(kinds, name);
}

/** One request of a batch. @throws ApiError worded as Google does, with the request's position and kind. */
export function apply(document: StoredDocument, request: docs_v1.Schema$Request, position: number): void {
	const names = Object.keys(request);
	const name = names[0] ?? '';
	if (names.length !== 1)
		throw invalid(`Invalid requests[${position}]: Exactly one request kind must be set.`);
	const kind = isKind(name) ? kinds[name] : undefined;
	if (kind === undefined) throw new ApiError(501, `The stand-in does not know the request ${name}.`);
	try {
		kind(document, request);
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		throw new ApiError(error.code, `Invalid requests[${position}].${name}: ${error.message}`, {
			status: error.status,
		});
	}
}
