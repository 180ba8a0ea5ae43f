import type { Blockquote, BlockContent, DefinitionContent, List, ListItem } from 'mdast';

import type { Glyph, ParagraphIndent } from '../document/elements';
import { listIndentPoints, quoteIndentPoints } from '../document/elements';

/** A paragraph or table of a document. Docs does not nest lists and quotes. It only shows them by glyphs, indentation and borders. */
export interface FlatBlock extends ParagraphIndent {
	readonly node: BlockContent;
	readonly glyph?: Glyph | undefined;
	/** Whether the checkbox of the item is ticked; undefined without a checkbox. */
	readonly checked?: boolean | undefined;
}

interface OpenList {
	readonly list: List;
	readonly level: number;
	readonly kind: Glyph['kind'];
}
type Container = Blockquote | OpenList;

/** The number of nested quotes follows from the indentation, which has no limit in a document. */
const maxQuoteDepth = 50;

/** Puts blocks into the lists and quotes that they belong to. */
export function nestBlocks(blocks: readonly FlatBlock[]): Array<BlockContent | DefinitionContent> {
	const nester = new BlockNester();
	for (const block of blocks) nester.add(block);
	return nester.nodes;
}

class BlockNester {
	readonly nodes: BlockContent[] = [];
	/** The quotes and lists around the last block, from the outermost to the innermost. */
	readonly #open: Container[] = [];

	add(block: FlatBlock): void {
		const { node, glyph, isQuoted, indentPoints, checked } = block;
		if (glyph !== undefined) {
			this.#openItemPlace(glyph.level, isQuoted);
			this.#addItem(glyph, { type: 'listItem', spread: false, checked, children: [node] });
			return;
		}
		const listPoints = indentPoints - (isQuoted ? quoteIndentPoints : 0);
		// The point that is added allows for rounding.
		const level = Math.floor((listPoints + 1) / listIndentPoints) - 1;
		if (level >= 0 && this.#open.some(isList)) this.#openItem(level, isQuoted);
		else {
			const depth = Math.max(1, Math.round(indentPoints / quoteIndentPoints));
			this.#openQuotes(isQuoted ? Math.min(depth, maxQuoteDepth) : 0);
		}
		this.#append(node);
	}

	/** Opens the quote in which an item belongs, or closes the quotes around other items. */
	#openItemPlace(level: number, isQuoted: boolean): void {
		const quoteIndex = this.#open.findIndex((container) => !isList(container));
		const outerList = this.#open[quoteIndex - 1];
		if (!isQuoted) {
			if (quoteIndex >= 0) this.#open.length = quoteIndex;
			return;
		}
		const isInSameQuote =
			quoteIndex === 0 || (outerList && isList(outerList) && outerList.level < level);
		if (isInSameQuote) return;
		if (quoteIndex >= 0) this.#open.length = quoteIndex;
		this.#closeLists(level - 1);
		this.#openQuote();
	}

	/** Closes the innermost lists that are deeper than a level. */
	#closeLists(maxLevel: number): void {
		for (let last = this.#open.at(-1); last && isList(last); last = this.#open.at(-1)) {
			if (last.level <= maxLevel) return;
			this.#open.pop();
		}
	}

	#addItem({ level, kind, number }: Glyph, item: ListItem): void {
		this.#closeLists(level);
		const last = this.#open.at(-1);
		// Adjacent items of the same level and kind form one list, even if Docs assigns them to several lists.
		if (last && isList(last) && last.level === level) {
			if (last.kind === kind) {
				last.list.children.push(item);
				return;
			}
			this.#open.pop();
		}
		const ordered = kind === 'number';
		const start = ordered ? number : null;
		const list: List = { type: 'list', ordered, start, spread: false, children: [item] };
		this.#append(list);
		this.#open.push({ list, level, kind });
	}

	/** Goes back to the last item of a list that an indented paragraph continues. */
	#openItem(level: number, isQuoted: boolean): void {
		const innerQuoteIndex = this.#open.findIndex(
			(container, index) => index > 0 && !isList(container),
		);
		const candidates =
			isQuoted || innerQuoteIndex < 0 ? this.#open : this.#open.slice(0, innerQuoteIndex);
		const found = candidates.findLastIndex(
			(container) => isList(container) && container.level <= level,
		);
		const index = Math.max(found, candidates.findIndex(isList));
		const isInQuote = candidates.slice(0, index).some((container) => !isList(container));
		const needsQuote = isQuoted && !isInQuote;
		const next = this.#open[index + 1];
		const keepsQuote = needsQuote && next !== undefined && !isList(next);
		this.#open.length = index + (keepsQuote ? 2 : 1);
		if (needsQuote && !keepsQuote) this.#openQuote();
	}

	/** Closes all lists, and leaves as many quotes open. */
	#openQuotes(depth: number): void {
		const listIndex = this.#open.findIndex(isList);
		const quoteCount = listIndex < 0 ? this.#open.length : listIndex;
		this.#open.length = Math.min(quoteCount, depth);
		while (this.#open.length < depth) this.#openQuote();
	}

	#openQuote(): void {
		const quote: Blockquote = { type: 'blockquote', children: [] };
		this.#append(quote);
		this.#open.push(quote);
	}

	#append(node: BlockContent): void {
		const container = this.#open.at(-1);
		if (container === undefined) this.nodes.push(node);
		else if (isList(container)) container.list.children.at(-1)?.children.push(node);
		else container.children.push(node);
	}
}

const isList = (container: Container): container is OpenList => 'list' in container;
