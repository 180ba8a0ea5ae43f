import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isNodeError, type NodeError } from '../../core/errors';
import { type CheckedItem, type PerformedItem, runItems, type Batch } from '../../core/itemLoop';
import { completeModelAnswer, isTool } from '../../core/modelAnswer';
import { Sanitizer, showHints } from '../../core/sanitizer';
import { quoteField } from '../../fields/field';
import { includeInputFieldsOption } from '../../fields/commonOptions';
import { RawParameters } from '../../fields/rawParameters';
import { createStoppedError } from '../../http/attempt';
import { readGoogleCredential } from '../google/googleCredential';
import type { OutputItem } from '../operation';
import { type ClientGetter, executeWithWaitingRuns } from './executionGroups';
import { recoverOutcome, toJobFailure } from './failure';
import { type Job, createJobReader, notStarted, RunState } from './job';

/** Performs jobs together. Never throws. @returns a result or a NodeError for each job, in order */
export async function performJobs(
	jobs: readonly Job[],
	getClients: ClientGetter,
): Promise<unknown[]> {
	const [firstJob, ...otherJobs] = jobs;
	if (!firstJob) return [];
	try {
		const clients = await getClients(firstJob);
		await executeWithWaitingRuns({ jobs: [firstJob, ...otherJobs], clients, getClients });
		return await Promise.all(jobs.map((job) => recoverOutcome(clients, job)));
	} catch (error) {
		return jobs.map((job) => job.item.explainFailure(toJobFailure(error, job)));
	}
}

/**
 * The most batches that are performed at the same time. The requests also share the credential's
 * rate limiters.
 */
const maxParallelBatches = 5;

/** Performs the jobs of all input items. Every output item is paired with its input item. */
export async function runWorkspace(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const sanitizer = new Sanitizer();
	const run = new RunState(sanitizer, isTool(context.getNode()));
	const rawParameters = new RawParameters(context);
	const getClients = createClientGetter(context, run);
	try {
		return await runItems<Job>(context, {
			sanitizer,
			check: createJobReader(context, rawParameters, run),
			outputHasInputFields(job) {
				if (!job) return rawParameters.findSavedValue(includeInputFieldsOption) === true;
				return Boolean(job.params[includeInputFieldsOption.name]);
			},
			getRequestIdentity({ resource, operation, params, item }) {
				return [resource, operation.value, params, item.json];
			},
			planPhases,
			getConcurrency: () => maxParallelBatches,
			async perform(items) {
				const jobs = items.map(({ value }) => value);
				const results = await performJobs(jobs, getClients);
				if (!jobs.every(isOnlyReading)) run.forgetReadings();
				return jobs.map((job, index) => toPerformedItem(job, results[index]));
			},
			createStoppedError: () => createStoppedError('Nothing was sent for this item.'),
		});
	} finally {
		showHints(context, run.hints, sanitizer);
		const message = run.credential?.reportSignInEnd();
		if (message)
			context.addExecutionHints({ message, location: 'outputPane', type: 'warning' });
	}
}

/**
 * Puts jobs that are sent together into one batch. The batches are in the order of their first
 * jobs, and most have a single job. Neighboring batches share a phase if they only read, or if one
 * operation changes different things.
 */
export function planPhases(
	checkedItems: ReadonlyArray<CheckedItem<Job>>,
): Array<Array<Batch<Job>>> {
	const phases: Array<Array<Batch<Job>>> = [];
	/** The items of the last batch of each place. A later job with their key may join. */
	const openBatches = new Map<string | undefined, Array<CheckedItem<Job>>>();
	/** The first job of the last batch. */
	let lastJob: Job | undefined;
	for (const checkedItem of checkedItems) {
		const job = checkedItem.value;
		const { operation, combineKey, place, changedId } = job;
		// In JSON mode, items may have different operations. A job must not overtake an earlier job
		// of another operation.
		if (operation !== lastJob?.operation) openBatches.clear();
		const openBatch = openBatches.get(place);
		if (combineKey !== undefined && openBatch?.[0]?.value.combineKey === combineKey) {
			openBatch.push(checkedItem);
			continue;
		}
		const items = [checkedItem];
		openBatches.set(place, items);
		const batch = { items, key: changedId };
		if (lastJob && mayBeParallel(lastJob, job)) phases.at(-1)?.push(batch);
		else phases.push([batch]);
		lastJob = job;
	}
	return phases;
}

/**
 * Turns what a job returned into output items.
 * @param result a result of the operation, a NodeError or `notStarted`
 */
function toPerformedItem(job: Job, result: unknown): PerformedItem {
	if (result === notStarted) return { result: {}, mustNotRepeat: false };
	if (isNodeError(result)) return buildFailedItem(job, result);
	const { operation, index, item } = job;
	try {
		if (result === undefined) throw new Error('The operation returned no result');
		const output = toOutputItems(job, result).map((outputItem) => ({
			...outputItem,
			pairedItem: { item: index },
		}));
		const resultName = isOnlyReading(job) ? undefined : operation.nameResult?.(result);
		const repeatAdvice = findRepeatAdvice(job);
		const doneWork = resultName === undefined ? undefined : { resultName, repeatAdvice };
		item.releaseHints();
		return { result: { output, doneWork }, mustNotRepeat: !isOnlyReading(job) };
	} catch (error) {
		return buildFailedItem(job, item.explainFailure(toJobFailure(error, job)), true);
	}
}

function toOutputItems({ operation, params, item }: Job, result: unknown): OutputItem[] {
	const buildItems = () =>
		operation.toItems?.(result, params) ?? [{ json: result as OutputItem['json'] }];
	if (!item.isTool) return buildItems();
	const answer = operation.toModel?.(result, params) ?? {
		items: buildItems().map(({ json }) => json),
	};
	const note = answer.note && item.insertNames(answer.note);
	return completeModelAnswer({ ...answer, note }, item.hints).map((json) => ({ json }));
}

/**
 * Finds out what to do before the node runs again with a finished job.
 * @returns undefined if the job has no further effect then
 */
function findRepeatAdvice({ operation, params, item }: Job): string | undefined {
	// Importing `idempotencyOption` for its name would load its file for every operation.
	const optionName = 'idempotencyKey';
	if (operation.isIdempotent?.(params) || params[optionName]) return undefined;
	if (!operation.options.some(({ name }) => name === optionName)) return '';
	return item.insertNames(
		`With ${quoteField(optionName)}, an item is done once, however often the node runs.`,
	);
}

/**
 * Creates the function that returns the clients of a job. Jobs of one operation with the same
 * limits share clients.
 */
function createClientGetter(context: IExecuteFunctions, run: RunState): ClientGetter {
	const loadClients: ClientGetter = async ({ operation, limits }, groupOptions) => {
		const credential = await readCredential(context, run);
		const options = {
			maxRetryWaitMilliseconds: limits.maxRetryWaitSeconds * 1000,
			timeoutMilliseconds: limits.timeoutSeconds * 1000,
			operationAdvice: operation.advice,
		};
		return await credential.loadClients(options, groupOptions);
	};
	return async (job, groupOptions) => {
		if (groupOptions) return await loadClients(job, groupOptions);
		const { resource, operation, limits } = job;
		const key = JSON.stringify(['clients', resource, operation.value, limits]);
		return await run.doOnce(key, () => loadClients(job));
	};
}

const readCredential = (context: IExecuteFunctions, run: RunState) =>
	run.doOnce('credential', async () => {
		const authentication = context.getNodeParameter('authentication', 0, 'oAuth2');
		run.credential = await readGoogleCredential(context, authentication, run.sanitizer);
		return run.credential;
	});

const isOnlyReading = ({ operation, params }: Job) => operation.mayChange?.(params) === false;

function mayBeParallel(earlier: Job, later: Job) {
	if (isOnlyReading(earlier)) return isOnlyReading(later);
	const haveChangedIds = earlier.changedId !== undefined && later.changedId !== undefined;
	return haveChangedIds && earlier.operation === later.operation;
}

/**
 * Turns a failure into an item's result. If the job may be done or half done, Retry On Fail must
 * not start it again. It then fails at once.
 */
function buildFailedItem(job: Job, failure: NodeError, isDone = false): PerformedItem {
	const { item, operation, params } = job;
	const mayBeDone = isDone || failure.outcome !== 'notDone' || item.hasCreated;
	return {
		result: { failure },
		mustNotRepeat: mayBeDone && !isOnlyReading(job) && !operation.isIdempotent?.(params),
	};
}
