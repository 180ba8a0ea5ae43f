import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isNodeError, type NodeError } from '../../core/errors';
import { type CheckedItem, type PerformedItem, runItems, type Batch } from '../../core/itemLoop';
import type { DoneWork } from '../../core/doneItems';
import { completeModelAnswer } from '../../core/modelAnswer';
import { Sanitizer, showHints } from '../../core/sanitizer';
import { quoteField } from '../../fields/field';
import { RawParameters } from '../../fields/params';
import { createStoppedError } from '../../http/attempt';
import { readGoogleCredential, type GoogleCredential } from '../google/googleCredential';
import type { OutputItem } from '../operation';
import { type ClientGetter, executeJobs } from './executeJobs';
import { recoverOutcome, toJobFailure } from './failure';
import { type Job, createJobReader, RunState } from './job';

/** Performs jobs together. Never throws. @returns a result or a NodeError for each job, in order */
export async function performJobs(
	jobs: readonly Job[],
	getClients: ClientGetter,
): Promise<unknown[]> {
	const [firstJob, ...otherJobs] = jobs;
	if (!firstJob) return [];
	try {
		const clients = await getClients(firstJob);
		const results = await executeJobs({ jobs: [firstJob, ...otherJobs], clients, getClients });
		return await Promise.all(jobs.map((job) => recoverOutcome(clients, job, results.get(job))));
	} catch (error) {
		return jobs.map((job) => job.item.explainFailure(toJobFailure(error, job)));
	}
}

/** The most batches that are performed at the same time. The requests also share the credential's rate limiters. */
const maxParallelBatches = 5;

/** Performs the jobs of all input items. Every output item is paired with its input item. */
export async function runWorkspace(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const sanitizer = new Sanitizer();
	const run = new RunState(sanitizer);
	const rawParameters = new RawParameters(context);
	const { getClients, showNotice } = createGoogleAccess(context, run);
	try {
		return await runItems<Job>(context, {
			sanitizer,
			check: createJobReader(context, rawParameters, run),
			outputHasInputFields: (job) =>
				job
					? Boolean(job.params['includeInputFields'])
					: rawParameters.isSwitchOn('includeInputFields'),
			getRequestIdentity: (job) => [
				job.resource,
				job.operation.value,
				job.params,
				job.item.json,
			],
			planBatches,
			getConcurrency: () => maxParallelBatches,
			async perform(items) {
				const jobs = items.map(({ value }) => value);
				const results = await performJobs(jobs, getClients);
				return jobs.map((job, index) => toPerformedItem(job, results[index]));
			},
			createStoppedError: () => createStoppedError('Nothing was sent for this item.'),
		});
	} finally {
		showHints(context, run.hints, sanitizer);
		await showNotice();
	}
}

/** Plans the batches in phases, one after another. Neighboring jobs share a phase if they only read, or if one operation changes different things. */
function planBatches(checkedItems: ReadonlyArray<CheckedItem<Job>>): Array<Batch<Job>> {
	let phase = 0;
	let lastJob: Job | undefined;
	return combineIntoBatches(checkedItems).map((items) => {
		// All jobs of a batch have the same operation and change the same thing, so the first stands for all.
		const job = items[0]?.value;
		if (!job || !lastJob || !mayBeParallel(lastJob, job)) phase++;
		lastJob = job;
		return { items, phase, key: job?.changedId };
	});
}

/** Turns what a job returned into output items. @param result a result of the operation, or a NodeError */
function toPerformedItem(job: Job, result: unknown): PerformedItem {
	if (isNodeError(result)) return toFailedItem(job, result);
	const { operation, index, item } = job;
	try {
		const pairedItem = { item: index };
		if (result === undefined) throw new Error('The operation returned no result');
		const output = toOutputItems(job, result).map((outputItem) => ({
			...outputItem,
			pairedItem,
		}));
		const resultName = operation.nameResult?.(result);
		const doneWork =
			resultName === undefined ? undefined : { resultName, ...describeRerun(job) };
		return { result: { output, doneWork }, mustNotRepeat: !isOnlyReading(job) };
	} catch (error) {
		return toFailedItem(job, item.explainFailure(toJobFailure(error, job)), true);
	}
}

function toOutputItems({ operation, params, item }: Job, result: unknown): OutputItem[] {
	const buildItems = () =>
		operation.toItems?.(result, params) ?? [{ json: result as OutputItem['json'] }];
	if (!item.isTool) return buildItems();
	const answer = operation.toModel?.(result, params) ?? {
		items: buildItems().map(({ json }) => json),
	};
	const note = answer.note === undefined ? undefined : item.insertNames(answer.note);
	return completeModelAnswer({ ...answer, note }, item.hints).map((json) => ({ json }));
}

/** Describes what happens to a finished job if the node runs again. */
function describeRerun({ operation, params, item }: Job): Omit<DoneWork, 'resultName'> {
	// Importing `idempotencyOption` for its name would load its file for every operation.
	const keyOptionName = 'idempotencyKey';
	const hasKeyOption = operation.options.some(({ name }) => name === keyOptionName);
	const advice = `With ${quoteField(keyOptionName)}, an item is done once, however often the node runs.`;
	return {
		mayRepeat: operation.isIdempotent?.(params) === true || Boolean(params[keyOptionName]),
		advice: hasKeyOption ? item.insertNames(advice) : undefined,
	};
}

/** Creates a run's access to Google's clients, and to the notice of its sign-in. Jobs of one operation with the same limits share clients. */
function createGoogleAccess(context: IExecuteFunctions, run: RunState) {
	let loadedCredential: Promise<GoogleCredential> | undefined;
	// The notice is not added by `addHint`, because a model would get it. If the credential cannot be read, the items already say so.
	const showNotice = async () => {
		const credential = await loadedCredential?.catch(() => undefined);
		const message = await credential?.reportSignInEnd().catch(() => undefined);
		if (message)
			context.addExecutionHints({ message, location: 'outputPane', type: 'warning' });
	};
	const getClients: ClientGetter = ({ operation, resource, limits }, groupOptions) => {
		const credential = (loadedCredential ??= readGoogleCredential(
			context,
			context.getNodeParameter('authentication', 0, 'oAuth2'),
			run.sanitizer,
		));
		const key = JSON.stringify(['clients', resource, operation.value, limits]);
		const loadClients = async () => {
			const options = {
				maxRetryWaitMilliseconds: limits.maxRetryWaitSeconds * 1000,
				timeoutMilliseconds: limits.timeoutSeconds * 1000,
				adviceByStatus: operation.adviceByStatus,
				// A mail operation may call Drive, too, and an upload may call Gmail.
				adviceApis:
					resource === 'mail'
						? (['mail'] as const)
						: (['sheets', 'docs', 'drive'] as const),
			};
			return await (await credential).loadClients(options, groupOptions);
		};
		return groupOptions ? loadClients() : run.doOnce(key, loadClients);
	};
	return { getClients, showNotice };
}

/** Puts jobs that are processed together into one batch. The batches are in the order of their first jobs. Most have a single job. */
export function combineIntoBatches<J extends { readonly value: Job }>(
	checkedItems: readonly J[],
): J[][] {
	const batches: J[][] = [];
	let openBatches = new Map<string | undefined, J[]>();
	let lastOperation: Job['operation'] | undefined;
	for (const checkedItem of checkedItems) {
		const { operation, combineKey } = checkedItem.value;
		// In JSON mode, items may have different operations. A job must not overtake an earlier job of another operation.
		if (operation !== lastOperation) openBatches = new Map();
		lastOperation = operation;
		const batch = openBatches.get(combineKey) ?? [];
		if (batch.length === 0) batches.push(batch);
		batch.push(checkedItem);
		if (combineKey !== undefined) openBatches.set(combineKey, batch);
	}
	return batches;
}

const isOnlyReading = ({ operation, params }: Job) =>
	operation.isReadOnlyByDefault === true && operation.mayChange?.(params) !== true;

function mayBeParallel(earlier: Job, later: Job): boolean {
	if (isOnlyReading(earlier)) return isOnlyReading(later);
	const haveChangedIds = earlier.changedId !== undefined && later.changedId !== undefined;
	return haveChangedIds && earlier.operation === later.operation;
}

/** Turns a failure into an item's result. If the job may be done or half done, Retry On Fail must not start it again. It then fails at once. */
function toFailedItem(job: Job, failure: NodeError, isDone = false): PerformedItem {
	const { item, operation, params } = job;
	const mayBeDone = isDone || failure.outcome !== 'notDone' || item.hasCreated;
	return {
		result: { failure },
		mustNotRepeat: mayBeDone && !isOnlyReading(job) && !operation.isIdempotent?.(params),
	};
}
