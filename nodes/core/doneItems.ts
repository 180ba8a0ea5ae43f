import type { INodeExecutionData } from 'n8n-workflow';

import { getOrAdd } from './maps';
import { type NodeError, addAdviceToMessage } from './errors';
import { joinSentences, shorten } from './text';

/** The work that an item has done. It is not undone if the node stops. */
export interface DoneWork {
	/** The name of the result, as in "file a.pdf (ID 1Qm7xWc0aVbR2yKt4hL9)". */
	readonly resultName: string;
	/**
	 * What to do so that the node can run again without repeating this work; '' if the operation
	 * offers no way. Absent if the work has no further effect when it is done again.
	 */
	readonly repeatAdvice?: string;
}

/**
 * What became of an item. A failed item may have output from before the failure, which Continue on
 * Fail returns first.
 */
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
 * Adds to the failure that stops the node what the other items have done, because a new run of the
 * node does these items again. Numbers the items from 0, as n8n does, because n8n puts the number
 * of the failed item next to the message.
 * @param results by item index; undefined for an item that was not started
 */
export function addDoneItems(
	failure: NodeError,
	failedIndex: number,
	results: ReadonlyArray<ItemResult | undefined>,
): NodeError {
	const done: DoneItem[] = [];
	/** The indexes of the other items that may be done, by what is said of them. */
	const doubtfulItems = new Map<string, number[]>();
	for (const [index, { failure: otherFailure, doneWork } = {}] of results.entries()) {
		if (index === failedIndex) continue;
		if (doneWork) done.push({ index, ...doneWork });
		const doubt = otherFailure && describeDoubt(otherFailure);
		if (doubt) getOrAdd(doubtfulItems, doubt, () => []).push(index);
	}
	const doubts = [...doubtfulItems].map(
		([doubt, indexes]) => `${nameItems(indexes)} failed too, and may be done in part: ${doubt}`,
	);
	if (done.length === 0)
		return failure.with({
			description: joinSentences(failure.description, ...doubts) || undefined,
		});
	const isInDoubt = doubts.length > 0 || describeDoubt(failure) !== '';
	return failure.with({
		description: joinSentences(
			failure.description,
			describeDone(done, results.length),
			adviseRerun(done, isInDoubt),
			...doubts,
		),
		details: { ...failure.details, done: done.slice(0, maxDetailedItems).map(toDetail) },
	});
}

interface DoneItem extends DoneWork {
	readonly index: number;
}

const toDetail = ({ index, resultName }: DoneItem) => {
	return { item: index, result: shorten(resultName, 2000) };
};

/**
 * Says what became of a failed item. Returns '' if it certainly did nothing. `made` in the details
 * of its failure names the files that it created.
 */
function describeDoubt(failure: NodeError): string {
	if (failure.outcome === 'notDone' && failure.details?.['made'] === undefined) return '';
	return shorten(addAdviceToMessage(failure).message, 400);
}

const nameItems = ([first, ...others]: readonly number[]) =>
	others.length === 0 ? `Item ${first}` : `Item ${first} and ${others.length} more`;

function describeDone(done: readonly DoneItem[], itemCount: number): string {
	const names = done
		.slice(0, maxNamedItems)
		.map(({ index, resultName }) => `item ${index}: ${shorten(resultName, 200)}`);
	if (done.length > maxNamedItems) names.push('the details of this error name the others');
	return `Already done, of ${itemCount} items (n8n counts from 0): ${names.join('; ')}.`;
}

/** @param isInDoubt whether a failed item may be done, so that a new run may repeat its work */
function adviseRerun(done: readonly DoneItem[], isInDoubt: boolean): string {
	const advice = new Set(done.flatMap(({ repeatAdvice }) => repeatAdvice ?? []));
	if (advice.size === 0)
		return isInDoubt
			? 'If the node runs again, these items are not done a second time.'
			: 'It is safe to run the node again: what is done already is not done twice.';
	return joinSentences(
		'If the node runs again, also by a retry of the execution, these items are done a second time: remove them from its input first, for example with a Filter node.',
		...advice,
		"To keep one failed item from stopping the others next time, set On Error to Continue in this node's settings.",
	);
}
