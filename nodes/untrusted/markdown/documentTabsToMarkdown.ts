import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { BlockContent, RootContent, Table } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, type Options, toMarkdown } from 'mdast-util-to-markdown';

import { joinSpans } from '../document/blocks';
import {
	createParagraphReader,
	type DocumentTab,
	type Elements,
	getFootnotes,
	getHeadingLevel,
	getParagraphs,
	getTabContents,
	isBorderVisible,
	openFrames,
	type Paragraph,
	type ParagraphPiece,
	type ParagraphReader,
	type TitledTab,
} from '../document/elements';
import { type FlatBlock, nestBlocks } from './nesting';
import { buildPhrasing } from './phrasing';

/**
 * A backslash before an ampersand without a character reference, as in a URL. Backslashes in pairs
 * before it are text.
 */
const needlessEscapePattern = /(?<!\\)((?:\\\\)*)\\&(?!#?[A-Za-z\d]+;)/g;

/**
 * Writes Markdown as the library does, but without needless backslashes before ampersands, which
 * models copy with the address of a link.
 */
const writeRoot: typeof defaultHandlers.root = (node, parent, state, info) => {
	const escape = state.safe.bind(state);
	state.safe = (text, config) => escape(text, config).replaceAll(needlessEscapePattern, '$1&');
	return defaultHandlers.root(node, parent, state, info);
};

/**
 * GitHub Flavored Markdown. Extensions without handlers are left out, because they only escape text
 * that looks like an address.
 */
const markdownOptions: Options = {
	bullet: '-',
	emphasis: '*',
	listItemIndent: 'one',
	rule: '-',
	handlers: { root: writeRoot },
	extensions: (gfmToMarkdown({ tablePipeAlign: false }).extensions ?? []).filter(
		(extension) => extension.handlers !== undefined,
	),
};

/**
 * Converts headers, bodies, footers and footnotes of tabs to Markdown without a final newline. A
 * tab begins with its title, if it has one.
 */
export function documentTabsToMarkdown(tabs: readonly TitledTab[]): string {
	const children: RootContent[] = [];
	for (const tab of tabs) {
		if (tab.tabTitle)
			children.push({
				type: 'heading',
				depth: 1,
				children: [{ type: 'text', value: tab.tabTitle }],
			});
		children.push(...readTab(tab));
	}
	return toMarkdown({ type: 'root', children }, markdownOptions).replace(/\n$/, '');
}

function readTab(tab: DocumentTab): RootContent[] {
	const read = createParagraphReader(tab);
	const readBlocks = (content: Elements) => nestBlocks(flatten(content, read));
	const blocks = getTabContents(tab).flatMap(readBlocks);
	const footnotes = getFootnotes(tab).map(({ number, content }): RootContent => ({
		type: 'footnoteDefinition',
		identifier: number,
		label: number,
		children: readBlocks(content),
	}));
	return [...blocks, ...footnotes];
}

function flatten(content: Elements, read: ParagraphReader): FlatBlock[] {
	return openFrames(content).flatMap(({ paragraph, table }) => {
		if (paragraph) return readParagraph(paragraph, read);
		return { node: readTable(table?.tableRows ?? [], read) };
	});
}

function readParagraph(paragraph: Paragraph, read: ParagraphReader): FlatBlock[] {
	const { pieces, item } = read(paragraph);
	const nodes: BlockContent[] = [];
	if (hasRule(paragraph, pieces)) nodes.push({ type: 'thematicBreak' });
	const text = item?.isTicked ? removeMark(pieces, 'strikethrough') : pieces;
	const textNode = buildTextNode(text, paragraph);
	if (textNode) nodes.push(textNode);
	if (item && nodes.length === 0) nodes.push({ type: 'paragraph', children: [] });
	return nodes.map((node) => ({ node, paragraph, item }));
}

/** Makes the first row the header. */
function readTable(tableRows: readonly docs_v1.Schema$TableRow[], read: ParagraphReader): Table {
	const children = tableRows.map(({ tableCells = [] }, rowIndex) => ({
		type: 'tableRow' as const,
		children: tableCells.map(({ content = [] }) => {
			const pieces = readCell(content, read);
			// Markdown shows a header in bold.
			const text = rowIndex === 0 ? removeMark(pieces, 'bold') : pieces;
			const phrasing = buildPhrasing(text, { type: 'html', value: '<br>' });
			return { type: 'tableCell' as const, children: phrasing };
		}),
	}));
	return { type: 'table', children };
}

/**
 * Reads a line for each paragraph, also of lists and inner tables, which a cell of Markdown cannot
 * contain.
 */
function readCell(content: Elements, read: ParagraphReader) {
	const cell: ParagraphPiece[] = [];
	for (const { paragraph } of getParagraphs(content)) {
		const { pieces, item } = read(paragraph);
		if (item) pieces.unshift(buildText(`${item.sign} `));
		if (cell.length > 0 && pieces.length > 0) cell.push(buildText('\v'));
		cell.push(...pieces);
	}
	return cell;
}

const buildText = (text: string): ParagraphPiece => ({ text, marks: {} });

const removeMark = (pieces: readonly ParagraphPiece[], mark: 'strikethrough' | 'bold') =>
	pieces.map((piece) => ({ ...piece, marks: { ...piece.marks, [mark]: false } }));

const hasRule = ({ paragraphStyle }: Paragraph, pieces: readonly ParagraphPiece[]) =>
	pieces.some(({ isRule }) => isRule) ||
	(pieces.length === 0 && isBorderVisible(paragraphStyle?.borderBottom));

function buildTextNode(
	pieces: readonly ParagraphPiece[],
	paragraph: Paragraph,
): BlockContent | undefined {
	const isShaded = paragraph.paragraphStyle?.shading?.backgroundColor?.color !== undefined;
	if (isShaded && pieces.every(({ marks }) => marks.code))
		return { type: 'code', value: joinSpans(pieces).replaceAll('\v', '\n') };
	const depth = getHeadingLevel(paragraph);
	const children = buildPhrasing(
		pieces,
		depth ? { type: 'text', value: ' ' } : { type: 'break' },
	);
	if (children.length === 0) return undefined;
	return depth ? { type: 'heading', depth, children } : { type: 'paragraph', children };
}
