import type { BlockContent, DefinitionContent, List, ListItem, Text } from 'mdast';

import { listIndentPoints, quoteIndentPoints, type Place } from '../document/indents';
import type { Glyph } from '../document/glyphs';

/** A paragraph or table of the document, which represents lists and quotes only by their appearance. */
export interface FlatBlock extends Place {
	readonly node: BlockContent;
	readonly glyph: Glyph | undefined;
}

interface Placed {
	readonly node: BlockContent;
	/** Number of quotes around it, and around the list that contains it. */
	readonly quoteDepth: number;
	readonly list:
		{ readonly level: number; readonly glyph: Glyph | undefined; readonly quoted: boolean } | undefined;
}

/** A document may have any indentation. */
const deepestQuote = 50;

type Nested = BlockContent | DefinitionContent;

export function nestBlocks(blocks: readonly FlatBlock[]): Nested[] {
	return build(place(blocks));
}

/** An indented paragraph after a list item belongs to that item. */
function place(blocks: readonly FlatBlock[]): Placed[] {
	let open: { level: number; quoteDepth: number } | undefined;
	return blocks.map(({ node, quoted, indentPoints, glyph }): Placed => {
		if (glyph !== undefined) {
			open = { level: glyph.level, quoteDepth: quoted ? 1 : 0 };
			return { node, quoteDepth: open.quoteDepth, list: { level: glyph.level, glyph, quoted: false } };
		}
		const ownPoints = indentPoints - (quoted ? quoteIndentPoints : 0);
		const level = Math.min(Math.floor((ownPoints + 1) / listIndentPoints) - 1, open?.level ?? -1);
		if (open !== undefined && level >= 0) {
			const { quoteDepth } = open;
			open = { level, quoteDepth };
			return { node, quoteDepth, list: { level, glyph: undefined, quoted: quoted && quoteDepth === 0 } };
		}
		open = undefined;
		const depth = Math.min(Math.max(1, Math.round(indentPoints / quoteIndentPoints)), deepestQuote);
		const quoteDepth = quoted ? depth : 0;
		return { node, quoteDepth, list: undefined };
	});
}

function build(blocks: readonly Placed[]): Nested[] {
	const nodes: Nested[] = [];
	for (let at = 0; at < blocks.length;) {
		const first = blocks[at];
		if (first === undefined) break;
		const end = endOfStretch(blocks, at, first.quoteDepth > 0 ? isQuoted : first.list ? isListed : undefined);
		const stretch = blocks.slice(at, end);
		at = end;
		if (first.quoteDepth > 0) {
			const inner = stretch.map((block) => ({ ...block, quoteDepth: block.quoteDepth - 1 }));
			nodes.push({ type: 'blockquote', children: build(inner) });
		} else if (first.list) nodes.push(...listsOf(stretch));
		else nodes.push(first.node);
	}
	return nodes;
}

const isQuoted = (block: Placed) => block.quoteDepth > 0;
const isListed = (block: Placed) => block.quoteDepth === 0 && block.list !== undefined;

function endOfStretch(
	blocks: readonly Placed[],
	from: number,
	belongs: ((block: Placed) => boolean) | undefined,
): number {
	if (belongs === undefined) return from + 1;
	const end = blocks.findIndex((block, at) => at > from && !belongs(block));
	return end < 0 ? blocks.length : end;
}

/** Adjacent items of the same level and kind form one list, whichever list Docs assigns them to. */
function listsOf(blocks: readonly Placed[]): List[] {
	const roots: List[] = [];
	let open: Array<{ list: List; level: number }> = [];
	for (const { node, list } of blocks) {
		if (list === undefined) continue;
		open = open.filter(({ level }) => level <= list.level);
		const { glyph } = list;
		if (glyph === undefined) {
			const item = open.at(-1)?.list.children.at(-1);
			if (item !== undefined) addLater(item, node, list.quoted);
			continue;
		}
		const same = open.at(-1);
		if (same?.level === list.level && same.list.ordered === glyph.ordered) {
			same.list.children.push(itemOf(node));
			continue;
		}
		open = open.filter(({ level }) => level < list.level);
		const start = glyph.ordered ? { start: glyph.number } : {};
		const made: List = {
			type: 'list',
			ordered: glyph.ordered,
			...start,
			spread: false,
			children: [itemOf(node)],
		};
		const parent = open.at(-1)?.list.children.at(-1);
		if (parent === undefined) roots.push(made);
		else parent.children.push(made);
		open.push({ list: made, level: list.level });
	}
	return roots;
}

function addLater(item: ListItem, node: BlockContent, quoted: boolean): void {
	const last = item.children.at(-1);
	if (!quoted) item.children.push(node);
	else if (last?.type === 'blockquote') last.children.push(node);
	else item.children.push({ type: 'blockquote', children: [node] });
}

function itemOf(node: BlockContent): ListItem {
	const item: ListItem = { type: 'listItem', spread: false, children: [node] };
	const first = node.type === 'paragraph' ? node.children[0] : undefined;
	if (first?.type !== 'text') return item;
	const box = /^[☐☑] /u.exec(first.value)?.[0];
	if (box === undefined || node.type !== 'paragraph') return item;
	const rest: Text = { type: 'text', value: first.value.slice(box.length) };
	const children = [rest, ...node.children.slice(1)];
	return { ...item, checked: box.startsWith('☑'), children: [{ ...node, children }] };
}
