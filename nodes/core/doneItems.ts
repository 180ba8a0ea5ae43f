import { type NodeError, addAdviceToMessage } from './errors';
import { shorten } from './text';

/** The work that an item has done. It stays done if the node stops. */
export interface DoneWork {
	/** The name of the result, as in "file a.pdf (ID 1Qm7xWc0aVbR2yKt4hL9)". */
	readonly resultName: string;
	/** Whether the work has no further effect if it is done again. */
	readonly mayRepeat: boolean;
	/** How the node can run again without repeating this work, if the operation offers a way. */
	readonly advice?: string;
}

/** The part of an item's result that is needed here. */
interface EndedItem {
	readonly failure?: NodeError;
	readonly doneWork?: DoneWork;
}

/** Limits the items that the description names, and those that the details name. */
const [maxNamedItems, maxDetailedItems] = [10, 1000];

/**
 * Adds to the failure that stops the node what the other items have done: whoever runs the node again must know what is done twice.
 * Numbers the items from 0, as n8n does, because n8n puts the number of the failed item next to the message.
 * @param results by item index; undefined for an item that was not started
 */
export function addDoneItems(
	failure: NodeError,
	failedIndex: number,
	results: ReadonlyArray<EndedItem | undefined>,
): NodeError {
	const doneItems = results.flatMap((result, item) =>
		result?.doneWork && !result.failure ? [{ item, doneWork: result.doneWork }] : [],
	);
	const doubts = results.flatMap((result, item) =>
		result?.failure && item !== failedIndex && mayHaveDoneWork(result.failure)
			? [describeFailedItem(item, result.failure)]
			: [],
	);
	if (doneItems.length === 0 && doubts.length === 0) return failure;
	const summary = describeDone(doneItems, results.length);
	const texts = [failure.description, summary, ...doubts, adviseRerun(doneItems)];
	const detailedItems = doneItems
		.slice(0, maxDetailedItems)
		.map(({ item, doneWork }) => ({ item, result: doneWork.resultName }));
	return failure.with({
		description: texts.filter(Boolean).join(' '),
		...(doneItems.length > 0 && { details: { ...failure.details, done: detailedItems } }),
	});
}

interface DoneItem {
	readonly item: number;
	readonly doneWork: DoneWork;
}

const mayHaveDoneWork = ({ outcome, details }: NodeError) =>
	outcome !== 'notDone' || details?.['made'] !== undefined;

const describeFailedItem = (item: number, failure: NodeError) =>
	`Item ${item} failed too, and may be done in part: ${shorten(addAdviceToMessage(failure).message, 400)}`;

function describeDone(doneItems: readonly DoneItem[], count: number): string | undefined {
	if (doneItems.length === 0) return undefined;
	const itemsWere = doneItems.length === 1 ? 'item was' : 'items were';
	const names =
		doneItems.length > maxNamedItems
			? `${formatNumbers(doneItems)}. The details of this error name what each of them left`
			: doneItems.map(({ item, doneWork }) => `item ${item}: ${doneWork.resultName}`).join('; ');
	return `Of ${count} items, ${doneItems.length} ${itemsWere} already done (n8n counts from 0): ${names}.`;
}

/** Formats the numbers as in "items 0 to 11, 14". */
function formatNumbers(doneItems: readonly DoneItem[]): string {
	const ranges: Array<[first: number, last: number]> = [];
	for (const { item } of doneItems) {
		const range = ranges.at(-1);
		if (range && range[1] === item - 1) range[1] = item;
		else ranges.push([item, item]);
	}
	const texts = ranges.map(([first, last]) => (first === last ? String(first) : `${first} to ${last}`));
	return `items ${shorten(texts.join(', '), 300)}`;
}

function adviseRerun(doneItems: readonly DoneItem[]): string | undefined {
	if (doneItems.length === 0) return undefined;
	const repeats = doneItems.filter(({ doneWork }) => !doneWork.mayRepeat);
	if (repeats.length === 0)
		return 'It is safe to run the node again: what is done already is not done twice.';
	const operationAdvice = [...new Set(repeats.flatMap(({ doneWork }) => doneWork.advice ?? []))];
	return [
		'If the node runs again, also by a retry of the execution, these items are done a second time: remove them from its input first, for example with a Filter node.',
		...operationAdvice,
		"To keep one failed item from stopping the others next time, set On Error to Continue in this node's settings.",
	].join(' ');
}
