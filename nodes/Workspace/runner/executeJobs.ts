import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { isNodeError, type NodeError, createRefusal } from '../../core/errors';
import { BoundedMap } from '../../core/boundedMap';
import { systemClock } from '../../core/clock';
import { KeyedMutex } from '../../core/keyedMutex';
import { getGlobalSingleton } from '../../core/runtime';
import { createStoppedError } from '../../http/attempt';
import { toGoogleFailure } from '../google/errors';
import type { GroupRequestOptions } from '../google/googleCredential';
import type { Clients } from '../operation';
import type { Job } from './job';

/** Returns the clients of a job's run. With `groupOptions`, the run sends for its whole group. */
export type ClientGetter = (job: Job, groupOptions?: GroupRequestOptions) => Promise<Clients>;

/** Jobs of one run that are sent together. All have the same operation and combine key, so code that needs one of these reads the first job. */
interface JobsOfRun {
	readonly jobs: readonly [Job, ...Job[]];
	readonly clients: Clients;
	readonly getClients: ClientGetter;
}

interface WaitingRun extends JobsOfRun {
	/** The asynchronous context of the run. If the run sends for its group, the requests are made in this context. */
	readonly asyncResource: AsyncResource;
	readonly settle: (results: readonly unknown[]) => void;
}

/** Runs that wait for the same lock and are sent together, in the order of their arrival. */
interface Group {
	readonly runs: [WaitingRun, ...WaitingRun[]];
	/** The share of one request that the runs need, where 1 is a full request. It is set when a second run arrives. */
	weight?: number;
}

/** The locks, by the ID of their spreadsheet. All versions of the package in this process share the last work under each of them. */
const locks = new KeyedMutex(
	getGlobalSingleton('locks', () => new Map<string, Promise<unknown>>()),
);

/** For each lock, when each execution last arrived, in milliseconds of the monotonic clock. */
const arrivals = new BoundedMap<string, Map<string, number>>();
/**
 * A crowd is at least 6 executions that arrive within 5 seconds. Google allows 60 writes a minute, which is fewer than a crowd would send if
 * each execution sent its own request. Fewer may be a loop, which must not pause, because each of its executions waits for the one before.
 */
const crowd = { minExecutions: 6, windowMilliseconds: 5000 };
/** How long a crowd pauses to let more runs join. An endless crowd then sends 30 groups a minute, half of what Google allows a user. */
const crowdPauseMilliseconds = 2000;

/** The newest group that waits for its lock, by credential, operation and combine key. Other runs may join it. */
const waitingGroups = new Map<string, Group>();

/** Executes jobs. With a lock, they wait for it, perhaps in a group. @returns a result or a NodeError for each job, in order */
export async function executeJobs(jobsOfRun: JobsOfRun): Promise<readonly unknown[]> {
	const [{ operation, resource, params, combineKey }] = jobsOfRun.jobs;
	const lockKey = operation.lock?.getKey(params);
	if (lockKey === undefined) return await executeOneRun(jobsOfRun);
	const isCrowded = recordArrival(lockKey, jobsOfRun.jobs[0].item.executionId);
	const groupKey = JSON.stringify([
		jobsOfRun.clients.credentialHash,
		resource,
		operation.value,
		combineKey,
	]);
	return await new Promise((settle) => {
		const waitingRun = {
			...jobsOfRun,
			settle,
			asyncResource: new AsyncResource('WorkspaceGroup'),
		};
		const waitingGroup = combineKey === undefined ? undefined : waitingGroups.get(groupKey);
		if (waitingGroup && joinIfRoom(waitingGroup, waitingRun)) return;
		// Takes the place of a full group, which still waits for the lock, but which no run can join anymore.
		const group: Group = { runs: [waitingRun] };
		waitingGroups.set(groupKey, group);
		void locks.doInTurn(lockKey, async () => {
			if (isCrowded) await sleep(crowdPauseMilliseconds);
			// If the group was full, a newer one has taken its place, and must stay there.
			if (waitingGroups.get(groupKey) === group) waitingGroups.delete(groupKey);
			await executeGroup(group.runs);
		});
	});
}

/** Records that an execution asks for a lock. @returns whether the recent executions are a crowd */
function recordArrival(lockKey: string, executionId: string): boolean {
	const now = systemClock.getMonotonicMilliseconds();
	const executions = arrivals.get(lockKey) ?? new Map<string, number>();
	arrivals.set(lockKey, executions.set(executionId, now));
	for (const [id, time] of executions)
		if (now - time > crowd.windowMilliseconds) executions.delete(id);
	return executions.size >= crowd.minExecutions;
}

/** Executes the jobs of one run. Never throws. */
async function executeOneRun({ jobs, clients }: JobsOfRun): Promise<readonly unknown[]> {
	const [{ operation, params, item, combineKey }] = jobs;
	try {
		if (operation.combine && combineKey !== undefined)
			return await operation.combine.execute(clients, jobs);
		return [await operation.execute(clients, params, item)];
	} catch (error) {
		return jobs.map((job) => toJobFailure(error, job));
	}
}

/** Adds a run to a group if one request can hold the items of all runs. @returns whether it was added */
function joinIfRoom(group: Group, run: WaitingRun): boolean {
	group.weight ??= weighJobs(group.runs[0].jobs);
	const weight = group.weight + weighJobs(run.jobs);
	if (weight > 1) return false;
	group.weight = weight;
	group.runs.push(run);
	return true;
}

/** @returns the share of one request that the jobs need; Infinity if a job must not share a request */
function weighJobs(jobs: readonly Job[]): number {
	const weights = jobs.map(
		({ operation, params, item }) => operation.lock?.weigh(params, item) ?? Infinity,
	);
	return weights.reduce((sum, weight) => sum + weight, 0);
}

/** Executes the jobs of all runs in a group and settles every run. A run that was stopped while it waited is not sent. */
async function executeGroup(runs: readonly WaitingRun[]): Promise<void> {
	const isStopped = ({ jobs: [{ item }] }: WaitingRun) => item.signal?.aborted === true;
	for (const { jobs, settle } of runs.filter(isStopped))
		settle(jobs.map(() => createStoppedError('Nothing was sent for this item.')));
	const activeRuns = runs.filter((run) => !isStopped(run));
	const [sender] = activeRuns;
	if (!sender) return;
	const results = await sender.asyncResource.runInAsyncScope(() =>
		activeRuns.length === 1 ? executeOneRun(sender) : executeTogether(sender, activeRuns),
	);
	let start = 0;
	for (const { jobs, settle } of activeRuns) {
		settle(results.slice(start, start + jobs.length));
		start += jobs.length;
	}
}

/** Executes the jobs of several runs with the credential of the sender. The requests are aborted only if all runs are stopped. */
async function executeTogether(
	sender: WaitingRun,
	runs: readonly WaitingRun[],
): Promise<readonly unknown[]> {
	const jobs = runs.flatMap((run) => run.jobs);
	// All items of a run have the same signal, log and sanitizer, so the first item stands for its run.
	const firstItems = runs.map((run) => run.jobs[0].item);
	const abortController = new AbortController();
	const stopIfAllStopped = () => {
		if (firstItems.every(({ signal }) => signal?.aborted)) abortController.abort();
	};
	for (const { signal } of firstItems) signal?.addEventListener('abort', stopIfAllStopped);
	try {
		const clients = await sender.getClients(sender.jobs[0], {
			signal: abortController.signal,
			log(text) {
				for (const item of firstItems) item.log(text);
			},
			sanitizers: firstItems.map(({ run }) => run.sanitizer),
		});
		return await executeWithBisection(clients, jobs);
	} catch (error) {
		return jobs.map((job) => toJobFailure(error, job));
	} finally {
		for (const { signal } of firstItems) signal?.removeEventListener('abort', stopIfAllStopped);
	}
}

/**
 * Executes jobs of several runs together. If Google refuses them, the items of a single run may be the reason. Finds this run by bisection:
 * sends the refused runs again in two halves, and a refused half in halves again. So only the run with the wrong items fails.
 * @throws an error that stopped all jobs before anything was sent
 */
async function executeWithBisection(
	clients: Clients,
	jobs: readonly Job[],
): Promise<readonly unknown[]> {
	const results = [...((await jobs[0]?.operation.combine?.execute(clients, jobs)) ?? [])];
	// Jobs that Google refused in one request have the same error.
	for (const result of new Set(results)) {
		if (!isNodeError(result) || result.code !== 400 || result.outcome !== 'notDone') continue;
		const refusedJobs = jobs.filter((_, index) => results[index] === result);
		const refusedRuns = [...new Set(refusedJobs.map(({ item }) => item.run))];
		if (refusedRuns.length === 1) continue;
		const firstRuns = refusedRuns.slice(0, refusedRuns.length / 2);
		const firstHalf = refusedJobs.filter(({ item }) => firstRuns.includes(item.run));
		const secondHalf = refusedJobs.filter(({ item }) => !firstRuns.includes(item.run));
		for (const half of [firstHalf, secondHalf]) {
			const toFailures = (error: unknown) => half.map((job) => toJobFailure(error, job));
			const halfResults = await executeWithBisection(clients, half).catch(toFailures);
			for (const [index, job] of half.entries())
				results[jobs.indexOf(job)] = halfResults[index];
		}
	}
	return results;
}

/** Turns whatever an operation threw into a failure of the job. */
export function toJobFailure(error: unknown, { operation, item }: Job): NodeError {
	// Google's clients check their own parameters before they send anything. They throw plain errors.
	const isFromClient =
		error instanceof Error &&
		/^(Missing required parameters|Invalid value)/.test(error.message);
	if (isFromClient) return createRefusal(error.message);
	const failure = toGoogleFailure(error, item.log.bind(item));
	// Google may have carried out a change and then sent a response that cannot be read.
	const isAmbiguous =
		!isNodeError(error) && failure.code === 502 && !operation.isReadOnlyByDefault;
	return isAmbiguous ? failure.with({ outcome: 'unknown' }) : failure;
}
