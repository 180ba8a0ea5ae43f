import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import {
	collectTabs,
	createId,
	createTab,
	findTab,
	type StoredDocument,
	type Tab,
} from './document.ts';
import { deleteRange, insertText, findParagraph } from './edits.ts';
import { editAndMoveRanges } from './namedRanges.ts';
import { cutRuns, createInvalidError, getLength, readText, type Segment } from './segment.ts';

/** Replaces text in all segments of the given tabs, or of all tabs. The new text gets the style of what it replaces. */
export function replaceAllText(
	document: StoredDocument,
	{ containsText, replaceText, tabsCriteria }: docs_v1.Schema$ReplaceAllTextRequest,
): docs_v1.Schema$Response {
	const { text = '', matchCase = false, searchByRegex } = containsText ?? {};
	if (!text) throw createInvalidError('The search text should not be empty.');
	if (searchByRegex) throw createInvalidError('The stand-in does not know regular expressions.');
	const ids = tabsCriteria?.tabIds ?? [];
	const tabs =
		ids.length > 0 ? ids.map((id) => findTab(document, id)) : collectTabs(document.tabs);
	let occurrencesChanged = 0;
	for (const tab of tabs) {
		for (const segment of listSegments(tab)) {
			const starts = findMatches(segment, text, matchCase ?? false);
			for (const start of starts.toReversed())
				replace(tab, segment, start, text, replaceText ?? '');
			occurrencesChanged += starts.length;
		}
	}
	return { replaceAllText: occurrencesChanged > 0 ? { occurrencesChanged } : {} };
}

function listSegments({ body, headers, footers, footnotes }: Tab): Segment[] {
	return [body, ...[headers, footers, footnotes].flatMap((part) => Object.values(part))];
}

function findMatches(segment: Segment, text: string, matchCase: boolean): number[] {
	const folded = (some: string) => (matchCase ? some : some.toLowerCase());
	const starts: number[] = [];
	let position = 0;
	for (const entry of segment.entries) {
		const paragraphText = entry.kind === 'paragraph' ? folded(readText(entry)) : '';
		let offset = paragraphText.indexOf(folded(text));
		while (offset >= 0) {
			starts.push(position + offset);
			offset = paragraphText.indexOf(folded(text), offset + text.length);
		}
		position += getLength(entry);
	}
	return starts;
}

function replace(
	tab: Tab,
	segment: Segment,
	start: number,
	text: string,
	replacement: string,
): void {
	const end = start + text.length;
	editAndMoveRanges(tab, segment, end, () => {
		insertText(segment, end, replacement);
	});
	editAndMoveRanges(tab, segment, start, () => {
		deleteRange(segment, start, end);
	});
}

export function addDocumentTab(
	document: StoredDocument,
	{ tabProperties }: docs_v1.Schema$AddDocumentTabRequest,
): docs_v1.Schema$Response {
	const { title, parentTabId, tabId: given, nestingLevel } = tabProperties ?? {};
	if (given || nestingLevel)
		throw createInvalidError('The tab ID and the nesting level cannot be set.');
	const siblings = parentTabId ? findTab(document, parentTabId).children : document.tabs;
	const index = siblings.length;
	const seed = { tabId: createId('t.'), ...(title && { title }) };
	const tab = createTab(seed, index, parentTabId ?? undefined);
	siblings.push(tab);
	return { addDocumentTab: { tabProperties: { tabId: tab.tabId, title: tab.title, index } } };
}

const maxAddressLength = 2_000;
/** No address in these domains is one that Google can fetch (RFC 2606, RFC 6761). */
const unreachable = /(?:^|\.)(?:invalid|test|localhost)$/;

export function insertInlineImage(
	tab: Tab,
	segment: Segment,
	index: number,
	{ uri }: docs_v1.Schema$InsertInlineImageRequest,
): docs_v1.Schema$Response {
	if (!uri || uri.length > maxAddressLength || !URL.canParse(uri))
		throw createInvalidError('The image URI is invalid.');
	const { protocol, hostname } = new URL(uri);
	if (!/^https?:$/.test(protocol) || unreachable.test(hostname)) {
		throw createInvalidError(
			'There was a problem retrieving the image. The provided image should be publicly accessible, within size limit, and in supported formats.',
		);
	}
	const objectId = createId('kix.');
	const contentUri = 'https://lh7-rt.googleusercontent.com/docsz/x';
	const embeddedObject = { imageProperties: { contentUri, sourceUri: uri } };
	tab.inlineObjects[objectId] = { objectId, inlineObjectProperties: { embeddedObject } };
	editAndMoveRanges(tab, segment, index, () => {
		const { paragraph, place } = findParagraph(segment, index);
		const object = { inlineObjectElement: { inlineObjectId: objectId, textStyle: {} } };
		const run = { text: '\ue907', style: {}, object };
		paragraph.runs.splice(cutRuns(paragraph, place.offset), 0, run);
	});
	return { insertInlineImage: { objectId } };
}
