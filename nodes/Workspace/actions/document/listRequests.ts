import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { ListRange } from '../../../untrusted/document/blocks';
import { isParagraph, type Layout, type PlacedParagraph } from './layout';
import { indent, styleOf } from './looks';

type Request = docs_v1.Schema$Request;
type RangeOf = (startIndex: number, endIndex: number) => docs_v1.Schema$Range;

/**
 * Bullets. Leading tabs give the level, and Google takes them out again, so that after each list every index is what it was.
 * A list is bulleted as a whole, inner lists of another kind, an item's later paragraphs and text between the items included,
 * because only that keeps one numbering; then the inner ones get bullets of their own and the paragraphs lose theirs.
 */
export function listRequests(layout: Layout, range: RangeOf, tabId: string | undefined): Request[] {
	const requests = layout.lists.flatMap((list) =>
		stretches(list, layout).flatMap((items) => bulletRequests(items, list, range, tabId)),
	);
	const later = layout.placed
		.filter(isParagraph)
		.filter(({ block }) => block.between ?? block.list?.bullet === false);
	return [...requests, ...later.flatMap((one) => laterParagraph(one, range))];
}

/** A table cannot be in a list: the list continues after it. */
function stretches({ first, last }: ListRange, { placed }: Layout): PlacedParagraph[][] {
	const found: PlacedParagraph[][] = [[]];
	for (const one of placed.slice(first, last + 1)) {
		if (!isParagraph(one)) found.push([]);
		else if (one.block.list !== undefined) found.at(-1)?.push(one);
	}
	return found.filter((items) => items.some(({ block }) => block.list?.bullet));
}

function bulletRequests(
	items: readonly PlacedParagraph[],
	{ ordered }: ListRange,
	range: RangeOf,
	tabId: string | undefined,
): Request[] {
	const first = items[0];
	const last = items.at(-1);
	if (first === undefined || last === undefined) return [];
	const nested = items.filter(({ block }) => (block.list?.bullet ?? false) && (block.list?.level ?? 0) > 0);
	const tabs = nested.toReversed().map(({ block, start }) => ({
		insertText: { text: '\t'.repeat(block.list?.level ?? 0), location: { index: start, tabId } },
	}));
	const tabUnits = tabs.reduce((sum, { insertText }) => sum + insertText.text.length, 0);
	const bulletPreset = ordered ? 'NUMBERED_DECIMAL_ALPHA_ROMAN' : 'BULLET_DISC_CIRCLE_SQUARE';
	const end = Math.max(last.end, last.start + 1) + tabUnits;
	return [...tabs, { createParagraphBullets: { range: range(first.start, end), bulletPreset } }];
}

function laterParagraph({ block, start, end }: PlacedParagraph, range: RangeOf): Request[] {
	const touched = range(start, Math.max(end, start + 1));
	const paragraphStyle = block.between ? { ...indent(0), ...styleOf(block) } : styleOf(block);
	const fields = Object.keys(paragraphStyle ?? {}).join(',');
	return [
		{ deleteParagraphBullets: { range: touched } },
		...(paragraphStyle ? [{ updateParagraphStyle: { range: touched, paragraphStyle, fields } }] : []),
	];
}
