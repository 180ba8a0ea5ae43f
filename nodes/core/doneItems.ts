import { type NodeError, addAdviceToMessage } from './errors';
import { shorten } from './text';

/** What the work of a finished item left, which a node that stops does not undo. */
export interface DoneWork {
	/** As in "file a.pdf (ID 1Qm7xWc0aVbR2yKt4hL9)". */
	readonly what: string;
	/** Whether doing it again changes nothing. */
	readonly mayRepeat: boolean;
	/** How the node can run again without repeating this work, if the operation offers a way. */
	readonly advice?: string;
}

/** What counts here of an item that has ended. */
interface EndedItem {
	readonly failure?: NodeError;
	readonly doneWork?: DoneWork;
}

/** How many items the text names one by one. */
const maxNamedItems = 10;
/** How many items the details name. */
const maxDetailedItems = 1000;

/**
 * The error that stops the node, with what the other items have done: whoever runs the node again must know what would be done twice.
 * Items have n8n's numbers, which begin at 0, because n8n puts the number of the failed one next to the message.
 * @param outcomes by item; undefined for those not started
 */
export function withDoneItems(
	failure: NodeError,
	index: number,
	outcomes: ReadonlyArray<EndedItem | undefined>,
): NodeError {
	const done = outcomes.flatMap((outcome, item) =>
		outcome?.doneWork && !outcome.failure ? [{ item, doneWork: outcome.doneWork }] : [],
	);
	const doubtful = outcomes.flatMap((outcome, item) =>
		outcome?.failure && item !== index && mayHaveDoneWork(outcome.failure)
			? [describeFailedItem(item, outcome.failure)]
			: [],
	);
	if (done.length === 0 && doubtful.length === 0) return failure;
	const texts = [failure.description, describeDone(done, outcomes.length), ...doubtful, adviseRerun(done)];
	const named = done
		.slice(0, maxDetailedItems)
		.map(({ item, doneWork }) => ({ item, result: doneWork.what }));
	return failure.with({
		description: texts.filter(Boolean).join(' '),
		...(done.length > 0 && { details: { ...failure.details, done: named } }),
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

function describeDone(done: readonly DoneItem[], count: number): string | undefined {
	if (done.length === 0) return undefined;
	const were = done.length === 1 ? 'item was' : 'items were';
	const names =
		done.length > maxNamedItems
			? `${formatNumbers(done)}. The details of this error name what each of them left`
			: done.map(({ item, doneWork }) => `item ${item}: ${doneWork.what}`).join('; ');
	return `Of ${count} items, ${done.length} ${were} already done (n8n counts from 0): ${names}.`;
}

/** As in "items 0 to 11, 14". */
function formatNumbers(done: readonly DoneItem[]): string {
	const runs: Array<[first: number, last: number]> = [];
	for (const { item } of done) {
		const run = runs.at(-1);
		if (run && run[1] === item - 1) run[1] = item;
		else runs.push([item, item]);
	}
	const texts = runs.map(([first, last]) => (first === last ? String(first) : `${first} to ${last}`));
	return `items ${shorten(texts.join(', '), 300)}`;
}

function adviseRerun(done: readonly DoneItem[]): string | undefined {
	if (done.length === 0) return undefined;
	const again = done.filter(({ doneWork }) => !doneWork.mayRepeat);
	if (again.length === 0) return 'It is safe to run the node again: what is done already is not done twice.';
	const own = [...new Set(again.flatMap(({ doneWork }) => doneWork.advice ?? []))];
	return [
		'If the node runs again, also by a retry of the execution, these items are done a second time: remove them from its input first, for example with a Filter node.',
		...own,
		"To keep one failed item from stopping the others next time, set On Error to Continue in this node's settings.",
	].join(' ');
}
