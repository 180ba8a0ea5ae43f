import { createRefusal } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import {
	buildParagraph,
	cleanText,
	filler,
	joinSpans,
	type Span,
} from '../../../untrusted/document/blocks';
import type {
	DocumentContent,
	ParagraphBlock,
	SimplifiedKind,
} from '../../../untrusted/document/blocks';
import type { Item } from '../../operation';
import { type ContentPlace, collapseBlanks, haveSameLetters, type Section } from './contentPlace';
import {
	buildListRequests,
	buildStyleRequests,
	hasStyle,
	Layout,
	placeSpans,
} from './styleRequests';
import type { InsertTarget } from './styleRequests';
import { buildTableRequests, type DocsRequest, type Extent } from './tableRequests';

interface ContentParams {
	readonly content: string;
	readonly contentFormat: 'text' | 'markdown';
	readonly insertImages: boolean;
}

/** Adds a hint for plain text that looks like Markdown. @throws NodeError 400 for Markdown that cannot be read */
export async function parseContent(
	{ content, contentFormat, insertImages }: ContentParams,
	item: Item,
) {
	if (contentFormat === 'markdown')
		return await readMarkdown(content, 'content', insertImages, item);
	const text = cleanText(content);
	if (markdownSigns.some((sign) => sign.test(text))) item.addHint(plainMarkdownHint);
	return {
		blocks: text === '' ? [] : [buildParagraph([{ text, marks: {} }], 'plain')],
		lists: [],
	};
}

/** Parses the Markdown of a field, with hints about what Docs shows differently. @throws NodeError 400 if it cannot be read */
export async function readMarkdown(
	markdown: string,
	field: string,
	insertImages: boolean,
	item: Item,
) {
	const { runInWorker } = await import('../../../untrusted/runInWorker');
	const answer = await runInWorker('markdownToBlocks', cleanText(markdown), item.signal);
	if ('result' in answer) {
		// The task `markdownToBlocks` returns a `DocumentContent` as JSON.
		const parsedContent = JSON.parse(answer.result) as DocumentContent;
		// One hint about images is enough. Without Insert Images, all of them became links.
		const unneededKind = insertImages ? 'images' : 'imagesWithoutHttps';
		for (const kind of parsedContent.simplified ?? [])
			if (kind !== unneededKind) item.addHint(simplificationHints[kind]);
		return insertImages ? parsedContent : linkImages(parsedContent, 'all');
	}
	throw createRefusal(
		`${quoteField(field)} cannot be read as Markdown: ${answer.problem}`,
		'Nothing was written. Shorten or simplify it, or set its format to Text.',
	);
}

/** Signs of Markdown: a heading, a quote, code, bold text, a link, a task, a list of two items, or the line below the header of a table. */
const markdownSigns = [
	/^#{1,6} \S/m,
	/^> \S/m,
	/^```|`[^`\n]+`/m,
	/\*\*[^\s*][^*\n]*\*\*/,
	/\[[^[\]\n]+\]\(https?:/,
	/^[-*] \[[ x]\] /m,
	/^ {0,3}(?:[-*+]|\d{1,9}[.)]) \S.*\n\s*(?:[-*+]|\d{1,9}[.)]) \S/m,
	/^\|?[ :-]*-[ :-]*\|[ |:-]*$/m,
];
const plainMarkdownHint = `The content looks like Markdown, but was written as plain text. To format it, set ${quoteField('contentFormat')} to ${mentionChoice('contentFormat', 'markdown')}.`;

const simplificationHints: Readonly<Record<SimplifiedKind, string>> = {
	images: `Images in the Markdown became links. Turn on ${quoteField('insertImages')} to insert them.`,
	imagesWithoutHttps:
		'Images in the Markdown without a public https address became text or links: Google fetches images itself.',
	listNumbers:
		'A numbered list in the Markdown does not begin at 1. Google Docs begins every list at 1, so its numbers differ.',
	linkTitles: 'Titles of links in the Markdown were left out: Google Docs has no place for them.',
	codeLanguages:
		'Languages of code blocks in the Markdown were left out: Google Docs has no place for them.',
	footnotes:
		'Footnotes in the Markdown became numbers in brackets. Their text stayed where it was.',
	relativeLinks:
		'Google Docs only supports full URLs as links. Other links in the Markdown became text, followed by their address in parentheses.',
	headingLinks:
		'Links to headings in the Markdown, such as [x](#part), became text: Google gives a heading its address only later.',
	htmlTags:
		'HTML in the Markdown was written as text. Only <b>, <strong>, <i>, <em>, <u>, <ins>, <s>, <del> and <br> become formatting.',
	tickedTasks:
		'Ticked tasks in the Markdown became checkboxes with struck-through text: Google lets only people tick them.',
};

/** Keeps the images with these addresses as links: without an `imageUrl`, no image takes the place of the linked text. */
export function linkImages(
	content: DocumentContent,
	urls: ReadonlySet<string> | 'all',
): DocumentContent {
	const linkInSpans = (spans: readonly Span[]) =>
		spans.map((span) => {
			const isLinked = span.imageUrl && (urls === 'all' || urls.has(span.imageUrl));
			return isLinked ? { text: span.text, marks: span.marks } : span;
		});
	const blocks = content.blocks.map((block) =>
		block.kind === 'paragraph'
			? { ...block, spans: linkInSpans(block.spans) }
			: { ...block, rows: block.rows.map((row) => row.map(linkInSpans)) },
	);
	return { ...content, blocks };
}

const headingLevels = [1, 2, 3, 4, 5, 6] as const;

/**
 * Fits content into a section. Lowers its headings below the level of the section's heading, so that all content belongs to the section.
 * Leaves out a first heading with the text of the section's heading if content follows, because the next write would find two such headings.
 */
export function fitIntoSection(
	content: DocumentContent,
	{ heading, level }: Section,
): DocumentContent {
	if (level === 0) return content;
	const fittedContent = dropRepeatedHeading(content, heading);
	const highestLevel = headingLevels.find((headingLevel) =>
		fittedContent.blocks.some(
			(block) => block.kind === 'paragraph' && block.format === headingLevel,
		),
	);
	if (highestLevel === undefined || highestLevel > level) return fittedContent;
	const steps = level + 1 - highestLevel;
	// Level 6 is the lowest. Under a heading of level 6, headings become text.
	const lowestFormat = level < 6 ? 6 : 'text';
	const lowerFormat = (format: ParagraphBlock['format']): ParagraphBlock['format'] =>
		typeof format === 'number' ? (headingLevels[format + steps - 1] ?? lowestFormat) : format;
	const blocks = fittedContent.blocks.map((block) =>
		block.kind === 'paragraph' ? { ...block, format: lowerFormat(block.format) } : block,
	);
	return { ...fittedContent, blocks };
}

function dropRepeatedHeading(content: DocumentContent, heading: string): DocumentContent {
	const [block, ...blocks] = content.blocks;
	const isHeading =
		block?.kind === 'paragraph' && typeof block.format === 'number' && !block.list;
	const isRepeated =
		isHeading && haveSameLetters(collapseBlanks(joinSpans(block.spans)), heading);
	if (!isRepeated || blocks.length === 0) return content;
	return { ...content, blocks, lists: moveLists(content.lists, -1) };
}

const moveLists = (lists: DocumentContent['lists'], shift: number) =>
	lists.map((list) => ({
		...list,
		firstIndex: list.firstIndex + shift,
		lastIndex: list.lastIndex + shift,
	}));

export const isEmpty = ({ blocks }: DocumentContent) => blocks.length === 0;

export interface ContentPlan {
	readonly requests: readonly DocsRequest[];
	/** The text of the segment (here, the body of a tab) after the change, from the index of the insertion to its last newline. */
	readonly text: string;
	/** Number of inserted UTF-16 units. */
	readonly characterCount: number;
	/** The index at the end of the segment after the change. */
	readonly endIndex: number;
	/** How many placeholders Markdown replaces, by text to find. */
	readonly replaced?: readonly ReplacedCount[];
}

export interface ReplacedCount {
	readonly find: string;
	readonly count: number;
}

export const planWrite = (content: DocumentContent, place: ContentPlace) =>
	planInPlace(content, { ...place, continuesParagraph: false });

/** Plans content after the text at a place. Without a new paragraph, plain text and an unstyled first paragraph continue the last line. */
export function planAppend(content: DocumentContent, newParagraph: boolean, place: ContentPlace) {
	const [firstBlock] = content.blocks;
	const isUnstyled =
		firstBlock?.kind === 'paragraph' && !hasStyle(firstBlock) && !firstBlock.list;
	const continuesParagraph = !place.isParagraphEmpty;
	// An empty paragraph already is a new paragraph.
	const needsParagraph = continuesParagraph && (newParagraph || !isUnstyled);
	// Plain text keeps the look of the text before it. Only an added paragraph is reset, because it may have taken over a heading's style.
	const mayInheritStyle =
		isUnstyled && firstBlock.format === 'plain' ? place.addsParagraph : place.mayInheritStyle;
	const fullContent = needsParagraph ? prependParagraph(content) : content;
	return planInPlace(fullContent, { ...place, mayInheritStyle, continuesParagraph });
}

function planInPlace(content: DocumentContent, place: ContentPlace & InsertTarget): ContentPlan {
	const plan = planContent(content, place);
	const { preparingRequests, contentAfter } = place;
	const requests = [...preparingRequests, ...plan.requests];
	const endIndex = plan.endIndex + contentAfter.indexCount;
	return { ...plan, requests, text: plan.text + contentAfter.text, endIndex };
}

/** Adds an empty first paragraph, which stands for the existing paragraph at the place. */
const prependParagraph = ({ blocks, lists }: DocumentContent): DocumentContent => ({
	blocks: [buildParagraph([]), ...blocks],
	lists: moveLists(lists, 1),
});

/** Plans the requests in an order that keeps their indexes right: text, tables from last to first, styles, images from last to first. */
export function planContent(content: DocumentContent, target: InsertTarget): ContentPlan {
	const layout = new Layout(closeContent(content, target), target.index, target.tabId);
	const toLocation = (index: number) => layout.toLocation(index);
	const requests: DocsRequest[] = [];
	if (layout.text !== '')
		requests.push({ insertText: { text: layout.text, location: toLocation(target.index) } });
	for (const table of layout.tables.toReversed())
		requests.push(...buildTableRequests(table, toLocation));
	requests.push(...buildStyleRequests(layout, target), ...buildListRequests(layout));
	const images = placeSpans(layout).filter(({ imageUrl }) => imageUrl !== undefined);
	const removedSpans = placeSpans(layout).filter((span) => !staysAsText(span));
	for (const { start, end, imageUrl: uri } of removedSpans.toReversed()) {
		requests.push({ deleteContentRange: { range: layout.toRange(start, end) } });
		if (uri) requests.push({ insertInlineImage: { uri, location: toLocation(start) } });
	}
	const removedUnits = countUnits(removedSpans);
	const cells = layout.tables.flatMap((table) => table.cells.flat());
	const texts = layout.lines.map(({ spans }) => `${joinSpans(spans.filter(staysAsText))}\n`);
	return {
		requests,
		text: texts.join(''),
		characterCount: layout.text.length + countUnits(cells) - removedUnits,
		// An image takes one index and has no text.
		endIndex: layout.end + 1 - removedUnits + images.length,
	};
}

const staysAsText = ({ imageUrl, isFiller }: Span) => imageUrl === undefined && !isFiller;

const countUnits = (texts: readonly Extent[]) =>
	texts.reduce((sum, { start, end }) => sum + end - start, 0);

/** Lets the content begin with a paragraph, because Google inserts a newline before a table, and end with one, as every segment does. */
function closeContent(content: DocumentContent, target: InsertTarget): DocumentContent {
	const { blocks, lists } =
		content.blocks[0]?.kind === 'table' ? prependParagraph(content) : content;
	const lastBlock = blocks.at(-1);
	if (lastBlock?.kind !== 'paragraph')
		return {
			lists,
			blocks: [
				...blocks,
				closeParagraph(buildParagraph([], lastBlock ? 'text' : 'plain'), target),
			],
		};
	return { lists, blocks: [...blocks.slice(0, -1), closeParagraph(lastBlock, target)] };
}

/** Adds the filler to an empty last paragraph that needs a style, because a range must not include the last newline of a segment. */
function closeParagraph(paragraph: ParagraphBlock, { mayInheritStyle }: InsertTarget) {
	const needsStyle = mayInheritStyle || hasStyle(paragraph) || paragraph.list !== undefined;
	const isEmptyAtEnd = /(?:^|\n)$/.test(joinSpans(paragraph.spans));
	if (!needsStyle || !isEmptyAtEnd) return paragraph;
	return { ...paragraph, spans: [...paragraph.spans, filler] };
}
