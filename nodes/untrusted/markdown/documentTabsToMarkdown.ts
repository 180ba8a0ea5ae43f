import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { BlockContent, RootContent, Table } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, type Options, toMarkdown } from 'mdast-util-to-markdown';

import { joinSpans } from '../document/blocks';
import * as elements from '../document/elements';
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
export function documentTabsToMarkdown(tabs: readonly elements.TitledTab[]): string {
	const children: RootContent[] = [];
	for (const tab of tabs) {
		if (tab.tabTitle)
			children.push({
				type: 'heading',
				depth: 1,
				children: [{ type: 'text', value: tab.tabTitle }],
			});
		children.push(...new MarkdownTreeBuilder(tab).buildTab());
	}
	return toMarkdown({ type: 'root', children }, markdownOptions).replace(/\n$/, '');
}

class MarkdownTreeBuilder {
	readonly #tab: elements.DocumentTab;
	readonly #countItem: elements.ItemCounter;

	constructor(tab: elements.DocumentTab) {
		this.#tab = tab;
		this.#countItem = elements.createItemCounter(tab);
	}

	buildTab(): RootContent[] {
		const contents = elements.getTabContents(this.#tab);
		const blocks = contents.flatMap((content) => nestBlocks(this.#flatten(content)));
		const footnotes = elements
			.getFootnotes(this.#tab)
			.map(({ number, content }): RootContent => ({
				type: 'footnoteDefinition',
				identifier: number,
				label: number,
				children: nestBlocks(this.#flatten(content)),
			}));
		return [...blocks, ...footnotes];
	}

	#readPieces = (paragraph: elements.Paragraph) => elements.readPieces(paragraph, this.#tab);

	#flatten(content: elements.Elements): FlatBlock[] {
		return content.flatMap((element) => this.#flattenElement(element));
	}

	#flattenElement(element: docs_v1.Schema$StructuralElement): FlatBlock[] {
		const { paragraph, table, tableOfContents } = element;
		if (paragraph) return this.#buildParagraphBlocks(paragraph);
		const [cell, ...otherCells] = elements.getCells(table);
		if (cell && otherCells.length > 0)
			return [{ node: this.#buildTable(table?.tableRows ?? []) }];
		// A table with one cell is a frame around code or text.
		return this.#flatten((tableOfContents ?? cell)?.content ?? []);
	}

	#buildParagraphBlocks(paragraph: elements.Paragraph): FlatBlock[] {
		const pieces = this.#readPieces(paragraph);
		const item = paragraph.bullet && this.#countItem(paragraph.bullet);
		const checked = item?.kind === 'checkbox' ? elements.isTicked(pieces) : undefined;
		const text = checked ? removeMark(pieces, 'strikethrough') : pieces;
		const blocks: FlatBlock[] = [];
		if (hasRule(paragraph, pieces))
			blocks.push({ node: { type: 'thematicBreak' }, paragraph, item });
		const node = buildTextNode(text, paragraph);
		if (node) blocks.push({ node, paragraph, item, checked });
		if (item && blocks.length === 0)
			blocks.push({ node: { type: 'paragraph', children: [] }, paragraph, item });
		return blocks;
	}

	/** Makes the first row the header. */
	#buildTable(tableRows: readonly docs_v1.Schema$TableRow[]): Table {
		const children = tableRows.map(({ tableCells = [] }, rowIndex) => ({
			type: 'tableRow' as const,
			children: tableCells.map(({ content = [] }) => {
				const pieces = this.#readCell(content);
				// Markdown shows a header in bold.
				const text = rowIndex === 0 ? removeMark(pieces, 'bold') : pieces;
				const phrasing = buildPhrasing(text, { type: 'html', value: '<br>' });
				return { type: 'tableCell' as const, children: phrasing };
			}),
		}));
		return { type: 'table', children };
	}

	/**
	 * Reads a line for each paragraph, also of lists and inner tables, which a cell of Markdown
	 * cannot contain.
	 */
	#readCell(content: elements.Elements): elements.ParagraphPiece[] {
		const cell: elements.ParagraphPiece[] = [];
		for (const { paragraph } of elements.getParagraphs(content)) {
			const pieces = this.#readPieces(paragraph);
			const item = paragraph.bullet && this.#countItem(paragraph.bullet);
			if (item) pieces.unshift(buildText(`${elements.getItemSign(item, pieces)} `));
			if (cell.length > 0 && pieces.length > 0) cell.push(buildText('\v'));
			cell.push(...pieces);
		}
		return cell;
	}
}

const buildText = (text: string): elements.ParagraphPiece => ({ text, marks: {} });
const buildCode = (text: string) => ({ type: 'code' as const, value: text.replaceAll('\v', '\n') });

const removeMark = (pieces: readonly elements.ParagraphPiece[], mark: 'strikethrough' | 'bold') =>
	pieces.map((piece) => ({ ...piece, marks: { ...piece.marks, [mark]: false } }));

const hasRule = (
	{ paragraphStyle }: elements.Paragraph,
	pieces: readonly elements.ParagraphPiece[],
) =>
	pieces.some(({ isRule }) => isRule) ||
	(pieces.length === 0 && elements.isBorderVisible(paragraphStyle?.borderBottom));

function buildTextNode(
	pieces: readonly elements.ParagraphPiece[],
	paragraph: elements.Paragraph,
): BlockContent | undefined {
	const isShaded = paragraph.paragraphStyle?.shading?.backgroundColor?.color !== undefined;
	if (isShaded && pieces.every(({ marks }) => marks.code)) return buildCode(joinSpans(pieces));
	const depth = elements.getHeadingLevel(paragraph);
	const children = buildPhrasing(
		pieces,
		depth ? { type: 'text', value: ' ' } : { type: 'break' },
	);
	if (children.length === 0) return undefined;
	return depth ? { type: 'heading', depth, children } : { type: 'paragraph', children };
}
