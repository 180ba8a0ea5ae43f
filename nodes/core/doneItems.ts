import type { INodeExecutionData } from 'n8n-workflow';

import { type NodeError, addAdviceToMessage } from './errors';
import { joinSentences, shorten } from './text';

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
	const doneItems: DoneItem[] = [];
	const failedTexts: string[] = [];
	for (const [index, result] of results.entries()) {
		if (!result || index === failedIndex) continue;
		const { doneWork, failure: otherFailure } = result;
		if (otherFailure) failedTexts.push(describeFailedItem(index, otherFailure));
		else if (doneWork) doneItems.push({ index, doneWork });
	}
	const description = joinSentences(
		failure.description,
		describeDone(doneItems, results.length),
		...failedTexts,
		adviseRerun(doneItems),
	);
	return failure.with({
		description: description === '' ? undefined : description,
		details: addDetails(failure.details, doneItems),
	});
}

interface DoneItem {
	readonly index: number;
	readonly doneWork: DoneWork;
}

/** @returns '' if the failed item certainly did nothing; `made` in the details of its failure names the files that it created */
function describeFailedItem(index: number, failure: NodeError): string {
	if (failure.outcome === 'notDone' && failure.details?.['made'] === undefined) return '';
	const { message } = addAdviceToMessage(failure);
	return `Item ${index} failed too, and may be done in part: ${shorten(message, 400)}`;
}

function describeDone(doneItems: readonly DoneItem[], itemCount: number): string {
	const { length } = doneItems;
	if (length === 0) return '';
	const names = doneItems
		.slice(0, maxNamedItems)
		.map(({ index, doneWork }) => `item ${index}: ${doneWork.resultName}`);
	if (length > maxNamedItems) names.push('the details of this error name the others');
	const itemsWere = length === 1 ? 'item was' : 'items were';
	return `Of ${itemCount} items, ${length} ${itemsWere} already done (n8n counts from 0): ${names.join('; ')}.`;
}

function addDetails(details: NodeError['details'], doneItems: readonly DoneItem[]) {
	if (doneItems.length === 0) return details;
	const done = doneItems
		.slice(0, maxDetailedItems)
		.map(({ index, doneWork }) => ({ item: index, result: doneWork.resultName }));
	return { ...details, done };
}

function adviseRerun(doneItems: readonly DoneItem[]): string {
	if (doneItems.length === 0) return '';
	const repeatedItems = doneItems.filter(({ doneWork }) => !doneWork.mayRepeat);
	if (repeatedItems.length === 0)
		return 'It is safe to run the node again: what is done already is not done twice.';
	return joinSentences(
		'If the node runs again, also by a retry of the execution, these items are done a second time: remove them from its input first, for example with a Filter node.',
		...new Set(repeatedItems.map(({ doneWork }) => doneWork.advice)),
		"To keep one failed item from stopping the others next time, set On Error to Continue in this node's settings.",
	);
}
