import { createRefusal } from '../../../core/errors';
import { printChoice, quoteField } from '../../../fields/field';
import {
	cleanText,
	type DocumentContent,
	buildParagraph,
	type ParagraphBlock,
	type SimplifiedKind,
	type Span,
	joinSpans,
} from '../../../untrusted/document/blocks';
import type { Item } from '../../operation';
import { type ContentPlace, joinBlanks, type Section } from './contentPlace';
import {
	layOutContent,
	buildListRequests,
	placeSpans,
	buildStyleRequests,
	hasStyle,
	type InsertTarget,
} from './styleRequests';
import { buildTableRequests, type DocsRequest, type Extent } from './tableRequests';

interface ContentParams {
	readonly content: string;
	readonly contentFormat: 'text' | 'markdown';
	readonly insertImages: boolean;
}

/** @throws NodeError 400 for Markdown that cannot be read */
export async function parseContent({ content, contentFormat, insertImages }: ContentParams, item: Item) {
	if (contentFormat === 'markdown') return await readMarkdown(content, 'content', insertImages, item);
	const text = cleanText(content);
	if (markdownSigns.test(text)) item.addHint(plainMarkdownHint);
	return { blocks: text === '' ? [] : [buildParagraph([{ text, marks: {} }], 'plain')], lists: [] };
}

/** @param field that holds it @throws NodeError 400 for Markdown that cannot be read */
export async function readMarkdown(markdown: string, field: string, insertImages: boolean, item: Item) {
	const { runInWorker } = await import('../../../untrusted/runInWorker');
	const answer = await runInWorker('markdownToBlocks', cleanText(markdown), item.signal);
	if ('result' in answer) {
		// The task returns a DocumentContent as JSON.
		const parsed = JSON.parse(answer.result) as DocumentContent;
		const unneededHint = insertImages ? 'images' : 'images without address';
		for (const what of parsed.simplified ?? [])
			if (what !== unneededHint) item.addHint(simplificationHints[what]);
		return insertImages ? parsed : filterPictures(parsed, () => false);
	}
	throw createRefusal(
		`${quoteField(field)} cannot be read as Markdown: ${answer.trouble}`,
		'Nothing was written. Shorten or simplify it, or set its format to Text.',
	);
}

/** A heading, bold text, a link, a fence or a task: people who want plain text hardly write these. */
const markdownSigns = /^#{1,6} \S|\*\*[^\s*][^*\n]*\*\*|\[[^[\]\n]+\]\(https?:|^```|^[-*] \[[ x]\] /m;
const plainMarkdownHint = `The content looks like Markdown, but was written as plain text. To format it, set ${quoteField('contentFormat')} to ${printChoice('contentFormat', 'markdown')}.`;

const simplificationHints: Readonly<Record<SimplifiedKind, string>> = {
	images: `Images in the Markdown became links. Turn on ${quoteField('insertImages')} to insert them.`,
	'images without address':
		'Images in the Markdown without a public https address became text or links: Google fetches images itself.',
	'list numbers':
		'A numbered list in the Markdown does not begin at 1. Google Docs begins every list at 1, so its numbers differ.',
	'link titles': 'Titles of links in the Markdown were left out: Google Docs has no place for them.',
	'code languages':
		'Languages of code blocks in the Markdown were left out: Google Docs has no place for them.',
	footnotes: 'Footnotes in the Markdown became numbers in brackets. Their text stayed where it was.',
	'relative links':
		'Google Docs only supports full URLs as links. Other links in the Markdown became text, followed by their address in parentheses.',
};

/** The content with the pictures to keep; the others become links. */
export function filterPictures(parsed: DocumentContent, keep: (address: string) => boolean): DocumentContent {
	const keepSpans = (spans: readonly Span[]) =>
		spans.map((span) =>
			span.picture && !keep(span.picture) ? { text: span.text, marks: span.marks } : span,
		);
	const blocks = parsed.blocks.map((block) =>
		block.kind === 'paragraph'
			? { ...block, spans: keepSpans(block.spans) }
			: { ...block, rows: block.rows.map((row) => row.map(keepSpans)) },
	);
	return { ...parsed, blocks };
}

const headingLevels = [1, 2, 3, 4, 5, 6] as const;

/**
 * Fits content into a section. Moves its headings below the section's own, so that all of it belongs to the section. Leaves out a first
 * heading that repeats the section's own, so that the next write finds only one.
 */
export function fitIntoSection(whole: DocumentContent, { heading, level }: Section): DocumentContent {
	if (level === 0) return whole;
	const parsed = dropRepeatedHeading(whole, heading);
	const highest = headingLevels.find((own) =>
		parsed.blocks.some((block) => block.kind === 'paragraph' && block.format === own),
	);
	const steps = level + 1 - (highest ?? Infinity);
	if (steps <= 0) return parsed;
	const lower = (format: ParagraphBlock['format']): ParagraphBlock['format'] =>
		typeof format === 'number' ? (headingLevels[format + steps - 1] ?? (level < 6 ? 6 : 'text')) : format;
	const blocks = parsed.blocks.map((block) =>
		block.kind === 'paragraph' ? { ...block, format: lower(block.format) } : block,
	);
	return { ...parsed, blocks };
}

function dropRepeatedHeading(parsed: DocumentContent, heading: string): DocumentContent {
	const [first, ...blocks] = parsed.blocks;
	const isHeading = first?.kind === 'paragraph' && typeof first.format === 'number' && !first.list;
	if (!isHeading || blocks.length === 0 || joinBlanks(joinSpans(first.spans)) !== joinBlanks(heading))
		return parsed;
	return { ...parsed, blocks, lists: moveLists(parsed.lists, -1) };
}

const moveLists = (lists: DocumentContent['lists'], offset: number) =>
	lists.map((list) => ({
		...list,
		firstIndex: list.firstIndex + offset,
		lastIndex: list.lastIndex + offset,
	}));

/** Keeps the pictures to insert; the others become links. */
export type FilterContent = (parsed: DocumentContent) => DocumentContent;

export const isEmpty = ({ blocks }: DocumentContent) => blocks.length === 0;

export interface ContentPlan {
	readonly requests: readonly DocsRequest[];
	/** The text of the segment after the change, from the index of the insertion on, with its final newline. */
	readonly text: string;
	/** UTF-16 units of text that are inserted. */
	readonly characterCount: number;
	/** End of the segment after the change. */
	readonly endIndex: number;
	/** How often Markdown takes the place of a placeholder. */
	readonly replaced?: readonly ReplacedCount[];
}

export interface ReplacedCount {
	readonly find: string;
	readonly count: number;
}

/** Plans content that replaces what stands at a place. */
export const planReplacement = (parsed: DocumentContent, place: ContentPlace) =>
	planInPlace(parsed, { ...place, continues: false });

/** Appends at a place. Plain text continues the paragraph, as does a plain first paragraph of Markdown. */
export function planAppend(parsed: DocumentContent, newParagraph: boolean, place: ContentPlace): ContentPlan {
	const [first] = parsed.blocks;
	const isPlain = first?.kind === 'paragraph' && !hasStyle(first) && !first.list;
	const continues = !place.isParagraphEmpty;
	// An empty last paragraph is a new one already.
	const isContinued = !continues || (!newParagraph && isPlain);
	const isStyled = isPlain && first.format === 'plain' ? place.isMade : place.isStyled;
	return planInPlace(isContinued ? parsed : prependParagraph(parsed), { ...place, isStyled, continues });
}

function planInPlace(content: DocumentContent, place: ContentPlace & InsertTarget): ContentPlan {
	const plan = planContent(content, place);
	const { before, rest } = place;
	const requests = [...before, ...plan.requests];
	return { ...plan, requests, text: plan.text + rest.text, endIndex: plan.endIndex + rest.units };
}

/** Puts an empty paragraph in front, which stands for the existing one. */
const prependParagraph = ({ blocks, lists }: DocumentContent): DocumentContent => ({
	blocks: [buildParagraph([]), ...blocks],
	lists: moveLists(lists, 1),
});

/** Orders requests so that each index is right when its turn comes: all text, then tables from the last to the first, then styles. */
export function planContent(content: DocumentContent, target: InsertTarget): ContentPlan {
	const { closed, isFilled } = closeEmptyEnd(content, target);
	// Google puts a newline before a table.
	const beginsWithTable = content.blocks[0]?.kind === 'table';
	const { index, tabId } = target;
	const layout = layOutContent(beginsWithTable ? prependParagraph(closed) : closed, index, tabId);
	const { toRange, toLocation } = layout;
	const requests: DocsRequest[] = [];
	if (layout.text !== '') requests.push({ insertText: { text: layout.text, location: toLocation(index) } });
	for (const table of layout.tables.toReversed()) requests.push(...buildTableRequests(table, toLocation));
	requests.push(...buildStyleRequests(layout, target), ...buildListRequests(layout));
	if (isFilled) requests.push({ deleteContentRange: { range: toRange(layout.end - 1, layout.end) } });
	const placed = placeSpans(layout).filter(({ picture }) => picture !== undefined);
	for (const { start, end, picture: uri = '' } of placed.toReversed()) {
		requests.push({ deleteContentRange: { range: toRange(start, end) } });
		requests.push({ insertInlineImage: { uri, location: toLocation(start) } });
	}
	const removed = countUnits(placed) + (isFilled ? placeholder.length : 0);
	const cells = layout.tables.flatMap((table) => table.cells.flat());
	// Pictures are not text.
	const text = layout.lines
		.map(({ spans }) => `${joinSpans(spans.filter(({ picture }) => picture === undefined))}\n`)
		.join('');
	return {
		requests,
		text: isFilled ? text.replace(/.\n$/, '\n') : text,
		characterCount: layout.text.length + countUnits(cells) - removed,
		endIndex: layout.end + 1 - removed + placed.length,
	};
}

const countUnits = (texts: readonly Extent[]) => texts.reduce((sum, { start, end }) => sum + end - start, 0);

/** A range may not include a segment's last newline, so an empty last paragraph holds this character while it gets its style. */
const placeholder = '.';

/** Ends the content with a paragraph, because every segment ends with one. */
function closeEmptyEnd({ blocks, lists }: DocumentContent, { isStyled }: InsertTarget) {
	const last = blocks.at(-1);
	const [before, end] =
		last?.kind === 'paragraph'
			? [blocks.slice(0, -1), last]
			: [blocks, buildParagraph([], last ? 'text' : 'plain')];
	const getsStyle = isStyled || hasStyle(end) || end.list !== undefined;
	const isFilled = getsStyle && /(?:^|\n)$/.test(joinSpans(end.spans));
	const spans = isFilled ? [...end.spans, { text: placeholder, marks: {} }] : end.spans;
	return { closed: { lists, blocks: [...before, { ...end, spans }] }, isFilled };
}
