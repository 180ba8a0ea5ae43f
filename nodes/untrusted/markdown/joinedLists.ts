import type { List, ListItem, RootContent } from 'mdast';

/** Below `1. `, CommonMark wants three spaces, but models write two. */
const minIndent = 2;
/** What models forget to indent between two numbered items. */
const typesBetweenItems = ['paragraph', 'code', 'blockquote', 'list'];

/**
 * Puts into a numbered item what belongs to it: a list after it that is indented, and what stands
 * between it and the list with the next number, because Docs begins the numbers of each list at 1.
 */
export function joinLists(nodes: readonly RootContent[]): RootContent[] {
	const joinedNodes: RootContent[] = [];
	/** The last numbered list that the next node may belong to. */
	let list: List | undefined;
	/** Position of the first node after that list. */
	let afterList = 0;
	let hasIndentedList = false;
	for (const node of nodes) {
		if (list && node.type === 'list') {
			const isAdjacent = joinedNodes.length === afterList;
			if (isAdjacent && getColumn(node) - getColumn(list) >= minIndent) {
				addToLastItem(list, [node]);
				hasIndentedList = true;
				continue;
			}
			if (node.ordered && (hasNextNumber(node, list) || (isAdjacent && hasIndentedList))) {
				addToLastItem(list, joinedNodes.splice(afterList));
				list.children.push(...node.children);
				continue;
			}
		}
		joinedNodes.push(node);
		if (node.type === 'list' && node.ordered) {
			list = node;
			afterList = joinedNodes.length;
			hasIndentedList = false;
		} else if (!typesBetweenItems.includes(node.type)) list = undefined;
	}
	return joinedNodes;
}

const getColumn = ({ position }: List) => position?.start.column ?? 0;

const hasNextNumber = ({ start }: List, list: List) =>
	start === (list.start ?? 1) + list.children.length;

function addToLastItem(list: List, nodes: RootContent[]): void {
	list.children.at(-1)?.children.push(...(nodes as ListItem['children']));
}
