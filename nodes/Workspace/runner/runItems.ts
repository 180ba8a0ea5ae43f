import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isNodeError, type NodeError } from '../../core/errors';
import { type CheckedItem, type PerformedItem, runItems, type Task } from '../../core/itemLoop';
import type { DoneWork } from '../../core/doneItems';
import { Sanitizer } from '../../core/sanitizer';
import { quoteField } from '../../fields/field';
import { NodeParameters } from '../../fields/params';
import { createStoppedError } from '../../http/retry';
import { readGoogleCredential, type GoogleCredential } from '../google/googleCredential';
import type { Clients, OutputItem } from '../operation';
import { type ClientGetter, executeJobs, toJobFailure } from './executeJobs';
import { type Job, createJobReader, RunState } from './job';

/** Performs jobs that are sent together: a result or a NodeError for each, in order; fewer if the operation gave fewer. Never throws. */
export async function performJobs(jobs: readonly Job[], getClients: ClientGetter): Promise<unknown[]> {
	const [first, ...others] = jobs;
	if (!first) return [];
	try {
		const clients = await getClients(first);
		const outcomes = await executeJobs({ jobs: [first, ...others], clients, getClients });
		const known = jobs.slice(0, outcomes.length);
		return await Promise.all(known.map((job, at) => recoverOutcome(clients, job, outcomes[at])));
	} catch (error) {
		return jobs.map((job) => job.item.explainFailure(toJobFailure(error, job)));
	}
}

/** The real outcome of a failure whose outcome is unknown, if the operation can find out. */
async function recoverOutcome(clients: Clients, job: Job, outcome: unknown): Promise<unknown> {
	if (!isNodeError(outcome)) return outcome;
	const { operation, params, item } = job;
	if (outcome.outcome !== 'unknown') return item.explainFailure(outcome);
	const unknownOutcome = item.explainFailure(explainUnknownOutcome(outcome, job));
	if (!operation.recover || item.signal?.aborted) return unknownOutcome;
	try {
		const found = await operation.recover(clients, params, outcome, item);
		if (isNodeError(found)) return item.explainFailure(found);
		return found ?? unknownOutcome;
	} catch (error) {
		const later = toJobFailure(error, job);
		const isSelfExplanatory = later.outcome === 'unknown' || item.hasCreated;
		return item.explainFailure(isSelfExplanatory ? later : explainUnknownOutcome(outcome, job, later));
	}
}

/** Says in the message that the work may be done: an error item has no description. @param later why finding out failed too */
function explainUnknownOutcome(failure: NodeError, { operation, params }: Job, later?: NodeError): NodeError {
	const { message, description } = failure;
	// Most operations say it in words of their own.
	const saysUnknown = /\bmay (still )?(have been|exist)\b/.test(message);
	const laterText = later && `Checking this also failed (${later.message}).`;
	const advice = operation.isIdempotent?.(params)
		? 'It is safe to run this again.'
		: 'Check the result in Google before you run this again.';
	return failure.with({
		message: saysUnknown ? message : `The request may have been carried out: ${message}`,
		description: [description, laterText, saysUnknown ? undefined : advice].filter(Boolean).join(' '),
		outcome: 'unknown',
	});
}

/** How many items run at once, if they may run in parallel; their requests share one limit per credential anyway. */
const maxParallelItems = 5;

/** Works on all input items; every output item is paired with its input item. */
export async function runWorkspace(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const sanitizer = new Sanitizer();
	const run = new RunState(sanitizer);
	const parameters = new NodeParameters(context);
	const { getClients, showNotice } = createClientCache(context, run);
	try {
		return await runItems<Job>(context, {
			sanitizer,
			check: createJobReader(context, parameters, run),
			hasInputFields: (job) =>
				job ? Boolean(job.params['includeInputFields']) : parameters.isOn('includeInputFields'),
			getRequestIdentity: (job) => [job.resource, job.operation.value, job.params, job.item.json],
			planTasks: orderTasks,
			getConcurrency: () => maxParallelItems,
			async perform(items) {
				const together = items.map(({ value }) => value);
				const outcomes = await performJobs(together, getClients);
				return together.slice(0, outcomes.length).map((job, at) => finishJob(job, outcomes[at]));
			},
			createStoppedError: () => createStoppedError('Nothing was sent for this item.'),
		});
	} finally {
		run.showHints(context);
		await showNotice();
	}
}

/** Changes run in the order of the items; neighboring reads, and changes of different things by one operation, run in parallel. */
function orderTasks(checked: ReadonlyArray<CheckedItem<Job>>): Array<Task<Job>> {
	let phase = 0;
	let last: Job | undefined;
	return groupTasks(checked).map((items) => {
		const [first] = items;
		if (!first || !last || !mayRunBeside(last, first.value)) phase++;
		last = first?.value;
		return { items, phase, key: first?.value.serialKey };
	});
}

/** @param outcome a result or a NodeError */
function finishJob(job: Job, outcome: unknown): PerformedItem {
	if (isNodeError(outcome)) return failJob(job, outcome);
	const { operation, index, item } = job;
	try {
		const output = toOutputItems(job, outcome).map((one) => ({ ...one, pairedItem: { item: index } }));
		const ending = operation.getFailure?.(outcome);
		if (ending) return failJob(job, item.explainFailure(ending), { output, isDone: item.continueOnFail });
		const resultName = operation.nameResult?.(outcome);
		const doneWork = resultName === undefined ? undefined : { resultName, ...judgeRerun(job) };
		return { result: { output, doneWork }, mustNotRunAgain: !isOnlyReading(job) };
	} catch (error) {
		return failJob(job, item.explainFailure(toJobFailure(error, job)), { isDone: true });
	}
}

function toOutputItems({ operation, params, item, modelCharacters = 0 }: Job, result: unknown): OutputItem[] {
	if (modelCharacters > 0 && operation.toModel) {
		const { items, note } = operation.toModel(result, params, modelCharacters);
		const notes = [...(note === undefined ? [] : [item.insertNames(note)]), ...(item.hints ?? [])];
		return [...items, ...notes.map((text) => ({ note: text }))].map((json) => ({ json }));
	}
	return operation.toItems?.(result, params) ?? [{ json: result as OutputItem['json'] }];
}

/** The name of `idempotencyOption`: its file is not needed before an operation needs it. */
const keyOption = 'idempotencyKey';

/** What happens to a finished job if the node runs again. */
function judgeRerun({ operation, params, item }: Job): Omit<DoneWork, 'resultName'> {
	const { options, rerunAdvice } = operation;
	const takesKey = options.some(({ name }) => name === keyOption);
	const mayRepeat = operation.isIdempotent?.(params) === true || Boolean(params[keyOption]);
	const advice = [
		rerunAdvice,
		takesKey && `With ${quoteField(keyOption)}, an item is done once, however often the node runs.`,
	].filter(Boolean);
	return { mayRepeat, advice: item.insertNames(advice.join(' ')) || undefined };
}

/** Services that an operation's advice is about. A mail operation may also call Drive, to attach files, and an upload may call Gmail. */
const mailApis = ['mail'] as const;
const fileApis = ['sheets', 'docs', 'drive'] as const;

/** Clients differ by what the requests may need and by the operation's advice. */
function createClientCache(context: IExecuteFunctions, run: RunState) {
	let credential: Promise<GoogleCredential> | undefined;
	// Adds no hint to an item, because a model would get it. Says nothing of a credential that fails, because the items already do.
	const showNotice = async () => {
		const message = await credential?.then(async (one) => await one.findNotice()).catch(() => undefined);
		if (message) context.addExecutionHints({ message, location: 'outputPane', type: 'warning' });
	};
	const getClients: ClientGetter = ({ operation, resource, limits }, shared) => {
		const reading = (credential ??= readGoogleCredential(
			context,
			context.getNodeParameter('authentication', 0, 'oAuth2'),
			run.sanitizer,
		));
		const key = JSON.stringify(['clients', resource, operation.value, limits]);
		const create = async () => {
			const options = {
				maxTries: limits.maxTries,
				maxRetryWaitMilliseconds: limits.maxRetryWaitSeconds * 1000,
				timeoutMilliseconds: limits.timeoutSeconds * 1000,
				advice: operation.adviceByStatus,
				adviceApis: resource === 'mail' ? mailApis : fileApis,
			};
			return await (await reading).loadClients(options, shared);
		};
		return shared ? create() : run.once(key, create);
	};
	return { getClients, showNotice };
}

/** Jobs that are processed together; most are single. In the order of their first members. */
export function groupTasks<J extends { readonly value: Job }>(jobs: readonly J[]): J[][] {
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

function isOnlyReading({ operation, params }: Job): boolean {
	return operation.isReadOnly === true && operation.mayChange?.(params) !== true;
}

function mayRunBeside(earlier: Job, later: Job): boolean {
	if (isOnlyReading(earlier)) return isOnlyReading(later);
	const haveKeys = earlier.serialKey !== undefined && later.serialKey !== undefined;
	return haveKeys && earlier.operation === later.operation;
}

/** Keeps Retry On Fail from starting an item again that may be done, or is half done: such an item only fails again. */
function failJob(
	job: Job,
	failure: NodeError,
	{ isDone, output }: { readonly isDone?: boolean; readonly output?: INodeExecutionData[] } = {},
): PerformedItem {
	const { item, operation, params } = job;
	const mayBeDone = isDone || failure.outcome !== 'notDone' || item.hasCreated;
	return {
		result: { failure, output },
		mustNotRunAgain: mayBeDone && !isOnlyReading(job) && !operation.isIdempotent?.(params),
	};
}
