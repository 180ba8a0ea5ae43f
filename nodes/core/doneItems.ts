import type { INodeExecutionData } from 'n8n-workflow';

import { type NodeError, addAdviceToMessage } from './errors';
import { shorten } from './text';

/** The work that an item has done. It is not undone if the node stops. */
export interface DoneWork {
	/** The name of the result, as in "file a.pdf (ID 1Qm7xWc0aVbR2yKt4hL9)". */
	readonly resultName: string;
	/** Whether the work has no further effect if it is done again. */
	readonly mayRepeat: boolean;
	/** What to do so that the node can run again without repeating this work, if the operation offers a way. */
	readonly advice?: string;
}

/** What became of an item. A failed item may have output from before the failure, which Continue on Fail returns first. */
export interface ItemResult {
	readonly failure?: NodeError;
	readonly output?: INodeExecutionData[];
	/** Absent if the item only read something. */
	readonly doneWork?: DoneWork;
}

/** How many items the description names. */
const maxNamedItems = 10;
/** How many items the details name. */
const maxDetailedItems = 1000;

/**
 * Adds to the failure that stops the node what the other items have done, because a new run of the node does these items again.
 * Numbers the items from 0, as n8n does, because n8n puts the number of the failed item next to the message.
 * @param results by item index; undefined for an item that was not started
 */
export function addDoneItems(
	failure: NodeError,
	failedIndex: number,
	results: ReadonlyArray<ItemResult | undefined>,
): NodeError {
	const doneItems = results.flatMap((result, index) =>
		result?.doneWork && !result.failure ? [{ index, doneWork: result.doneWork }] : [],
	);
	const failedItemTexts = results.flatMap((result, index) =>
		result?.failure && index !== failedIndex && mayHaveDoneWork(result.failure)
			? [describeFailedItem(index, result.failure)]
			: [],
	);
	if (doneItems.length === 0 && failedItemTexts.length === 0) return failure;
	const summary = describeDone(doneItems, results.length);
	const texts = [failure.description, summary, ...failedItemTexts, adviseRerun(doneItems)];
	const detailedItems = doneItems
		.slice(0, maxDetailedItems)
		.map(({ index, doneWork }) => ({ item: index, result: doneWork.resultName }));
	return failure.with({
		description: texts.filter(Boolean).join(' '),
		...(doneItems.length > 0 && { details: { ...failure.details, done: detailedItems } }),
	});
}

interface DoneItem {
	readonly index: number;
	readonly doneWork: DoneWork;
}

/** Returns whether a failed item may have done work. `made` in the details of its failure names the files that it created. */
const mayHaveDoneWork = ({ outcome, details }: NodeError) =>
	outcome !== 'notDone' || details?.['made'] !== undefined;

const describeFailedItem = (index: number, failure: NodeError) =>
	`Item ${index} failed too, and may be done in part: ${shorten(addAdviceToMessage(failure).message, 400)}`;

function describeDone(doneItems: readonly DoneItem[], itemCount: number): string | undefined {
	if (doneItems.length === 0) return undefined;
	const itemsWere = doneItems.length === 1 ? 'item was' : 'items were';
	const names =
		doneItems.length > maxNamedItems
			? `${formatIndexes(doneItems)}. The details of this error name what each of them left`
			: doneItems
					.map(({ index, doneWork }) => `item ${index}: ${doneWork.resultName}`)
					.join('; ');
	return `Of ${itemCount} items, ${doneItems.length} ${itemsWere} already done (n8n counts from 0): ${names}.`;
}

/** Formats the indexes as in "items 0 to 11, 14". */
function formatIndexes(doneItems: readonly DoneItem[]): string {
	const ranges: Array<[first: number, last: number]> = [];
	for (const { index } of doneItems) {
		const range = ranges.at(-1);
		if (range && range[1] === index - 1) range[1] = index;
		else ranges.push([index, index]);
	}
	const texts = ranges.map(([first, last]) =>
		first === last ? String(first) : `${first} to ${last}`,
	);
	return `items ${shorten(texts.join(', '), 300)}`;
}

function adviseRerun(doneItems: readonly DoneItem[]): string | undefined {
	if (doneItems.length === 0) return undefined;
	const repeatedItems = doneItems.filter(({ doneWork }) => !doneWork.mayRepeat);
	if (repeatedItems.length === 0)
		return 'It is safe to run the node again: what is done already is not done twice.';
	return [
		'If the node runs again, also by a retry of the execution, these items are done a second time: remove them from its input first, for example with a Filter node.',
		...new Set(repeatedItems.flatMap(({ doneWork }) => doneWork.advice ?? [])),
		"To keep one failed item from stopping the others next time, set On Error to Continue in this node's settings.",
	].join(' ');
}
