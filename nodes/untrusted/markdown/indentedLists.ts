import type { List, RootContent } from 'mdast';

/** Below `1. `, CommonMark wants three spaces, but models write two. */
const minIndent = 2;

/**
 * Puts a list that is indented into the last item of the list before it, and lets the outer list go on after it: `1. A`, `  - b`, `1. C`
 * is one list of two items.
 */
export function nestIndentedLists(nodes: readonly RootContent[]): RootContent[] {
	const nestedNodes: RootContent[] = [];
	/** The last list into which another one was put. */
	let outerList: List | undefined;
	for (const node of nodes) {
		const previous = nestedNodes.at(-1);
		if (node.type === 'list' && previous?.type === 'list') {
			const indent = getColumn(node) - getColumn(previous);
			const item = previous.children.at(-1);
			if (indent >= minIndent && item !== undefined) {
				item.children.push(node);
				outerList = previous;
				continue;
			}
			if (previous === outerList && indent === 0 && node.ordered === previous.ordered) {
				previous.children.push(...node.children);
				continue;
			}
		}
		nestedNodes.push(node);
	}
	return nestedNodes;
}

const getColumn = ({ position }: List) => position?.start.column ?? 0;
