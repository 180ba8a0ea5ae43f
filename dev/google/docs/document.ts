import { randomBytes } from 'node:crypto';

import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { renderNamedRanges, type NamedRange } from './namedRanges.ts';
import { parseEntries, render } from './render.ts';
import { createInvalidError, readText, type Segment } from './segment.ts';

type Content = docs_v1.Schema$StructuralElement[];

/** Content in Google's form. Indexes and missing final newlines are filled in. */
export interface TabSeed {
	readonly title?: string;
	readonly tabId?: string;
	readonly body?: Content;
	readonly headers?: Readonly<Record<string, Content>>;
	readonly footers?: Readonly<Record<string, Content>>;
	readonly footnotes?: Readonly<Record<string, Content>>;
	readonly lists?: Record<string, docs_v1.Schema$List>;
	readonly inlineObjects?: Record<string, docs_v1.Schema$InlineObject>;
	readonly children?: readonly TabSeed[];
}

export interface Tab {
	readonly tabId: string;
	readonly title: string;
	readonly parentTabId: string | undefined;
	body: Segment;
	readonly headers: Record<string, Segment>;
	readonly footers: Record<string, Segment>;
	footnotes: Record<string, Segment>;
	readonly lists: Record<string, docs_v1.Schema$List>;
	readonly inlineObjects: Record<string, docs_v1.Schema$InlineObject>;
	namedRanges: NamedRange[];
	readonly children: Tab[];
}

export interface StoredDocument {
	readonly id: string;
	title: string;
	revisionId: string;
	tabs: Tab[];
	/** Batches that were carried out. A write that happened twice shows up here. */
	batches: number;
}

export function createId(prefix: string): string {
	return prefix + randomBytes(9).toString('hex').slice(0, 12);
}

const emptyParagraph: docs_v1.Schema$StructuralElement = { paragraph: { elements: [] } };

function buildSegment(content: Content | undefined): Segment {
	const lastElement = content?.at(-1);
	const closedContent = lastElement?.paragraph ? content : [...(content ?? []), emptyParagraph];
	return { entries: parseEntries(closedContent ?? []) };
}

function mapValues<From, To>(
	all: Readonly<Record<string, From>>,
	change: (value: From, key: string) => To,
): Record<string, To> {
	const entries = Object.entries(all).map(([key, value]) => [key, change(value, key)] as const);
	return Object.fromEntries(entries);
}

export function createTab(seed: TabSeed, position: number, parentTabId?: string): Tab {
	const isFirst = position === 0 && parentTabId === undefined;
	const { tabId = isFirst ? 't.0' : createId('t.'), headers = {}, footers = {} } = seed;
	const body = buildSegment(seed.body);
	if (body.entries[0]?.kind !== 'sectionBreak') body.entries.unshift({ kind: 'sectionBreak' });
	return {
		tabId,
		title: seed.title ?? `Tab ${position + 1}`,
		parentTabId,
		body,
		headers: mapValues(headers, buildSegment),
		footers: mapValues(footers, buildSegment),
		footnotes: mapValues(seed.footnotes ?? {}, buildSegment),
		lists: structuredClone(seed.lists ?? {}),
		inlineObjects: structuredClone(seed.inlineObjects ?? {}),
		namedRanges: [],
		children: (seed.children ?? []).map((child, index) => createTab(child, index, tabId)),
	};
}

export function collectTabs(tabs: readonly Tab[]): Tab[] {
	return tabs.flatMap((tab) => [tab, ...collectTabs(tab.children)]);
}

/** Finds the tab of a location, or the first tab if there is no ID. */
export function findTab(document: StoredDocument, tabId: string | null | undefined): Tab {
	const tabs = collectTabs(document.tabs);
	const tab = tabId ? tabs.find((openTab) => openTab.tabId === tabId) : tabs[0];
	if (tab === undefined) throw createInvalidError(`The tab ID ${tabId ?? ''} was not found.`);
	return tab;
}

export function findSegment(tab: Tab, segmentId: string | null | undefined): Segment {
	if (!segmentId) return tab.body;
	const segment = tab.headers[segmentId] ?? tab.footers[segmentId] ?? tab.footnotes[segmentId];
	if (segment === undefined)
		throw createInvalidError(`Segment with ID ${segmentId} was not found.`);
	return segment;
}

/** Reads all text of a body as stored, including tables and their cells, in order. */
export function readBodyText(tab: Tab): string {
	return tab.body.entries
		.map((entry) => (entry.kind === 'paragraph' ? readText(entry) : ''))
		.join('');
}

function renderContent(tab: Tab, withoutSuggestions: boolean): docs_v1.Schema$DocumentTab {
	const renderEach = (segments: Record<string, Segment>, idName: string) =>
		mapValues(segments, (segment, id) => ({
			[idName]: id,
			content: render(segment, withoutSuggestions),
		}));
	const content: docs_v1.Schema$DocumentTab = {
		body: { content: render(tab.body, withoutSuggestions) },
		documentStyle: { pageNumberStart: 1, marginTop: { magnitude: 72, unit: 'PT' } },
	};
	const parts: Readonly<Record<string, object>> = {
		headers: renderEach(tab.headers, 'headerId'),
		footers: renderEach(tab.footers, 'footerId'),
		footnotes: renderEach(tab.footnotes, 'footnoteId'),
		lists: tab.lists,
		inlineObjects: tab.inlineObjects,
		namedRanges: renderNamedRanges(tab),
	};
	const filled = Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0);
	return { ...content, ...Object.fromEntries(filled) };
}

function renderTab(
	tab: Tab,
	index: number,
	nestingLevel: number,
	withoutSuggestions: boolean,
): docs_v1.Schema$Tab {
	const { tabId, title, parentTabId } = tab;
	const place = nestingLevel > 0 ? { parentTabId, nestingLevel } : {};
	const childTabs = tab.children.map((child, childIndex) =>
		renderTab(child, childIndex, nestingLevel + 1, withoutSuggestions),
	);
	return {
		tabProperties: { tabId, title, index, ...place },
		documentTab: renderContent(tab, withoutSuggestions),
		...(childTabs.length > 0 && { childTabs }),
	};
}

/** With `includeTabs` there is no top-level body; otherwise the first tab alone is at the top level. */
export function renderDocument(
	document: StoredDocument,
	includeTabs: boolean,
	suggestionsViewMode: string,
): docs_v1.Schema$Document {
	const { id: documentId, title, revisionId, tabs } = document;
	const withoutSuggestions = suggestionsViewMode === 'PREVIEW_WITHOUT_SUGGESTIONS';
	const [firstTab] = tabs;
	const content = includeTabs
		? { tabs: tabs.map((tab, index) => renderTab(tab, index, 0, withoutSuggestions)) }
		: firstTab && renderContent(firstTab, withoutSuggestions);
	return { documentId, title, revisionId, suggestionsViewMode, ...content };
}
