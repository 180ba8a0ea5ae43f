import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isNodeError, type NodeError, refusal } from '../../core/errors';
import { type Checked, type Done, runItems, type Task } from '../../core/itemLoop';
import type { Left } from '../../core/doneItems';
import { Sanitizer } from '../../core/sanitizer';
import { named } from '../../fields/field';
import { stopped } from '../../http/retry';
import { connect, type Connection } from '../google/googleConnection';
import { errorOfReading } from '../google/errors';
import type { Clients, OutputItem } from '../operation';
import { type Job, jobReader, RunNotes } from './job';

/** Performs jobs that are sent together: a result or a NodeError for each, in order; fewer if the operation gave fewer. Never throws. */
export async function perform(
	jobs: readonly Job[],
	clientsFor: (job: Job) => Promise<Clients>,
): Promise<unknown[]> {
	const [first] = jobs;
	if (!first) return [];
	try {
		const clients = await clientsFor(first);
		const outcomes = await outcomesOf(clients, first, jobs);
		const known = jobs.slice(0, outcomes.length);
		return await Promise.all(known.map((job, at) => settled(clients, job, outcomes[at])));
	} catch (error) {
		return jobs.map((job) => job.item.told(failureOf(error, job)));
	}
}

async function outcomesOf(
	clients: Clients,
	{ operation, params, item, combineKey }: Job,
	jobs: readonly Job[],
): Promise<readonly unknown[]> {
	try {
		if (operation.combine && combineKey !== undefined) return await operation.combine.execute(clients, jobs);
		return [await operation.execute(clients, params, item)];
	} catch (error) {
		return jobs.map((job) => failureOf(error, job));
	}
}

/** The real outcome of a failure whose outcome is unknown, if the operation can find out. */
async function settled(clients: Clients, job: Job, outcome: unknown): Promise<unknown> {
	if (!isNodeError(outcome)) return outcome;
	const { operation, params, item } = job;
	if (outcome.outcome !== 'unknown') return item.told(outcome);
	const unsettled = item.told(unknown(outcome, job));
	if (!operation.recover || item.signal?.aborted) return unsettled;
	try {
		const found = await operation.recover(clients, params, outcome, item);
		if (isNodeError(found)) return item.told(found);
		return found ?? unsettled;
	} catch (error) {
		const later = failureOf(error, job);
		const isTold = later.outcome === 'unknown' || item.hasMade;
		return item.told(isTold ? later : unknown(outcome, job, later));
	}
}

/** In the message, because an error item has no description. @param lookup why looking for what became of it failed too */
function unknown(failure: NodeError, { operation, params }: Job, lookup?: NodeError): NodeError {
	const { message, description } = failure;
	// Most operations say it in words of their own.
	const isSaid = /\bmay (still )?(have been|exist)\b/.test(message);
	const seen = lookup && `Checking this also failed (${lookup.message}).`;
	const what = operation.idempotent?.(params)
		? 'It is safe to run this again.'
		: 'Check the result in Google before you run this again.';
	return failure.with({
		message: isSaid ? message : `The request may have been carried out: ${message}`,
		description: [description, seen, isSaid ? undefined : what].filter(Boolean).join(' '),
		outcome: 'unknown',
	});
}

function failureOf(error: unknown, { operation, item }: Job): NodeError {
	// The generated clients check their own parameters before they send anything, and throw plain errors.
	const byClient =
		error instanceof Error && /^(Missing required parameters|Invalid value)/.test(error.message);
	if (byClient) return refusal(error.message);
	const failure = errorOfReading(error, item.log.bind(item));
	// It may be the response to what changed something.
	const isAmbiguous = !isNodeError(error) && failure.code === 502 && !operation.readsOnly;
	return isAmbiguous ? failure.with({ outcome: 'unknown' }) : failure;
}

/** Of items that may run in parallel; their requests share one limit per credential anyway. */
const parallelItems = 5;

/** Works on all input items; every output item is paired with its input item. */
export async function run(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const sanitizer = new Sanitizer();
	const notes = new RunNotes(sanitizer);
	const clientsFor = clientsOfRun(context, sanitizer);
	try {
		return await runItems<Job>(context, {
			sanitizer,
			check: jobReader(context, notes),
			sent: ({ resource, operation, params, item }) => [resource, operation.value, params, item.json],
			tasks: tasksInOrder,
			parallel: () => parallelItems,
			async perform(items) {
				const together = items.map(({ value }) => value);
				const outcomes = await perform(together, clientsFor);
				return together.slice(0, outcomes.length).map((job, at) => done(job, outcomes[at]));
			},
			stopped: () => stopped('Nothing was sent for this item.'),
		});
	} finally {
		notes.show(context);
	}
}

/** Changes run in the order of the items; neighboring reads, and changes of different things by one operation, run in parallel. */
function tasksInOrder(checked: ReadonlyArray<Checked<Job>>): Array<Task<Job>> {
	let phase = 0;
	let last: Job | undefined;
	return tasksOf(checked).map((items) => {
		const [first] = items;
		if (!first || !last || !mayRunBeside(last, first.value)) phase++;
		last = first?.value;
		return { items, phase, key: first?.value.serialKey };
	});
}

/** @param outcome a result or a NodeError */
function done(job: Job, outcome: unknown): Done {
	if (isNodeError(outcome)) return failed(job, outcome);
	const { operation, params, index, item } = job;
	try {
		const items = operation.toItems?.(outcome, params) ?? [{ json: outcome as OutputItem['json'] }];
		const output = items.map((one) => ({ ...one, pairedItem: { item: index } }));
		const ending = operation.endedBy?.(outcome);
		if (ending) return failed(job, item.told(ending), { output });
		const what = operation.left?.(outcome);
		const left = what === undefined ? undefined : { what, ...repeatOf(job) };
		return { outcome: { output, left }, isFinal: !operation.readsOnly };
	} catch (error) {
		return failed(job, item.told(failureOf(error, job)), { isDone: true });
	}
}

/** The name of `idempotencyOption`: its file is not needed before an operation needs it. */
const keyOption = 'idempotencyKey';

/** What happens to a finished job if the node runs again. */
function repeatOf({ operation, params, item }: Job): Omit<Left, 'what'> {
	const { options, rerun } = operation;
	const takesKey = options.some(({ name }) => name === keyOption);
	const mayRepeat = operation.idempotent?.(params) === true || Boolean(params[keyOption]);
	const advice = [
		rerun,
		takesKey && `With ${named(keyOption)}, an item is done once, however often the node runs.`,
	].filter(Boolean);
	return { mayRepeat, advice: item.text(advice.join(' ')) || undefined };
}

/** Clients differ by what the requests may need and by the operation's advice. */
function clientsOfRun(context: IExecuteFunctions, sanitizer: Sanitizer) {
	const known = new Map<string, Promise<Clients>>();
	let connection: Promise<Connection> | undefined;
	return ({ operation, resource, limits }: Job): Promise<Clients> => {
		connection ??= connect(context, context.getNodeParameter('authentication', 0, 'oAuth2'), sanitizer);
		const key = JSON.stringify([resource, operation.value, limits]);
		const clients =
			known.get(key) ??
			connection.then((connected) =>
				connected.clients({
					maxTries: limits.maxTries,
					maxRetryWaitMilliseconds: limits.maxRetryWaitSeconds * 1000,
					timeoutMilliseconds: limits.timeoutSeconds * 1000,
					advice: operation.errors,
				}),
			);
		known.set(key, clients);
		return clients;
	};
}

/** Jobs that are processed together; most are single. In the order of their first members. */
export function tasksOf<J extends { readonly value: Job }>(jobs: readonly J[]): J[][] {
	const tasks: J[][] = [];
	let groups = new Map<string | undefined, J[]>();
	let last: Job['operation'] | undefined;
	for (const job of jobs) {
		const { operation, combineKey } = job.value;
		// A job must not overtake an earlier one of another operation: in JSON mode, items may have different operations.
		if (operation !== last) groups = new Map();
		last = operation;
		const group = groups.get(combineKey) ?? [];
		if (group.length === 0) tasks.push(group);
		group.push(job);
		if (combineKey !== undefined) groups.set(combineKey, group);
	}
	return tasks;
}

function mayRunBeside(earlier: Job, later: Job): boolean {
	if (earlier.operation.readsOnly) return later.operation.readsOnly === true;
	return (
		earlier.operation === later.operation && earlier.serialKey !== undefined && later.serialKey !== undefined
	);
}

/** Retry On Fail does not start an item again that may have been carried out or is half done: the item fails again. */
function failed(
	{ item, operation, params }: Job,
	failure: NodeError,
	{ isDone, output }: { readonly isDone?: boolean; readonly output?: INodeExecutionData[] } = {},
): Done {
	const mayBeDone = isDone || failure.outcome !== 'notDone' || item.hasMade;
	return {
		outcome: { failure, output },
		isFinal: mayBeDone && !operation.readsOnly && !operation.idempotent?.(params),
	};
}
