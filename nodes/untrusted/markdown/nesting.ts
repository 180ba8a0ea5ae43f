import type { Blockquote, BlockContent, List, ListItem as ListItemNode } from 'mdast';

import { listIndentPoints, quoteIndentPoints } from '../document/blocks';
import { isBorderVisible } from '../document/elements';
import type { ListItem, Paragraph } from '../document/elements';

/**
 * A paragraph or table of a document. Docs does not nest lists and quotes. It only shows them by
 * bullets, indentation and borders.
 */
export interface FlatBlock {
	readonly node: BlockContent;
	/** The paragraph that shows where the block belongs; undefined for a table. */
	readonly paragraph?: Paragraph;
	/** The item that begins with the block. */
	readonly item?: ListItem;
}

interface OpenList {
	readonly list: List;
	readonly level: number;
	readonly kind: ListItem['kind'];
}
type Container = Blockquote | OpenList;

/** Puts blocks into the lists and quotes that they belong to. */
export function nestBlocks(blocks: readonly FlatBlock[]): BlockContent[] {
	const nester = new BlockNester();
	for (const block of blocks) nester.add(block);
	return nester.nodes;
}

class BlockNester {
	readonly nodes: BlockContent[] = [];
	/** The quotes and lists around the last block, from the outermost to the innermost. */
	#open: Container[] = [];

	add({ node, paragraph, item }: FlatBlock): void {
		const { borderLeft, indentStart } = paragraph?.paragraphStyle ?? {};
		const isQuoted = isBorderVisible(borderLeft);
		if (!isQuoted) this.#closeFrom((container) => !isList(container));
		const level = item?.level ?? getItemLevel(indentStart?.magnitude ?? 0, isQuoted);
		if (item === undefined && level < 0) this.#closeFrom(isList);
		this.#closeInnerLists(Math.max(level, 0));
		if (isQuoted && this.#open.every(isList)) this.#openQuote(item);
		if (item === undefined) this.#append(node);
		else {
			const checked = item.isTicked;
			this.#addItem(item, { type: 'listItem', spread: false, checked, children: [node] });
		}
	}

	/** Closes the outermost container that must be closed, and all in it. */
	#closeFrom(mustClose: (container: Container) => boolean): void {
		const index = this.#open.findIndex(mustClose);
		if (index >= 0) this.#open.length = index;
	}

	/** Closes the innermost lists that are deeper than a level. */
	#closeInnerLists(maxLevel: number): void {
		for (let last = this.#open.at(-1); last && isList(last); last = this.#open.at(-1)) {
			if (last.level <= maxLevel) return;
			this.#open.pop();
		}
	}

	#addItem({ level, kind, number }: ListItem, item: ListItemNode): void {
		const last = this.#open.at(-1);
		const sibling = last && isList(last) && last.level === level ? last : undefined;
		// Adjacent items of the same level and kind form one list, even if Docs assigns them to
		// several lists, unless the numbers begin anew.
		const nextNumber = (sibling?.list.start ?? 1) + (sibling?.list.children.length ?? 0);
		if (sibling?.kind === kind && (kind !== 'number' || number === nextNumber)) {
			sibling.list.children.push(item);
			return;
		}
		if (sibling) this.#open.pop();
		const list: List = {
			type: 'list',
			ordered: kind === 'number',
			start: number,
			spread: false,
			children: [item],
		};
		this.#append(list);
		this.#open.push({ list, level, kind });
	}

	/**
	 * Opens a quote in the item before it, or in place of the list before it if the quote has an
	 * item of the same level.
	 */
	#openQuote(item: ListItem | undefined): void {
		if (item) this.#closeInnerLists(item.level - 1);
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

/**
 * Returns the level of the items that a paragraph stands below by its indentation; -1 for a
 * paragraph outside of lists.
 */
function getItemLevel(indentPoints: number, isQuoted: boolean): number {
	const listPoints = isQuoted ? indentPoints - quoteIndentPoints : indentPoints;
	// The point that is added allows for rounding.
	return Math.floor((listPoints + 1) / listIndentPoints) - 1;
}

const isList = (container: Container): container is OpenList => 'list' in container;
