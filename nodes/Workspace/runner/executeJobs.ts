import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { BoundedMap } from '../../core/boundedMap';
import { systemClock } from '../../core/clock';
import { KeyedMutex } from '../../core/keyedMutex';
import { getGlobalSingleton } from '../../core/runtime';
import { createStoppedError } from '../../http/attempt';
import type { GroupRequestOptions } from '../google/googleCredential';
import type { Clients } from '../operation';
import { toJobFailure } from './failure';
import type { Job } from './job';
import { type Results, sendTogether } from './sendTogether';

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
	readonly settle: (results: Results) => void;
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
/** How long a crowd pauses to let more runs join. An endless crowd then sends 20 groups a minute, each with up to three reads: as many as Google allows a user. */
const crowdPauseMilliseconds = 3000;

/** The newest group that waits for its lock, by credential, operation and combine key. Other runs may join it. */
const waitingGroups = new Map<string, Group>();

/** Executes jobs. With a lock, they wait for it, perhaps in a group. Never throws. */
export async function executeJobs(run: JobsOfRun): Promise<Results> {
	const [{ operation, resource, params, combineKey, item }] = run.jobs;
	const lockId = operation.combine?.getLockId?.(params);
	if (lockId === undefined) return await sendJobs(run.clients, run.jobs);
	const isCrowded = recordArrival(lockId, item.executionId);
	// Without a combine key, no other run joins.
	const key = combineKey ?? item.markerId;
	const groupKey = JSON.stringify([run.clients.credentialHash, resource, operation.value, key]);
	return await new Promise((settle) => {
		const asyncResource = new AsyncResource('WorkspaceGroup');
		const waitingRun = { ...run, settle, asyncResource };
		const waitingGroup = waitingGroups.get(groupKey);
		if (waitingGroup && joinIfRoom(waitingGroup, waitingRun)) return;
		// Takes the place of a full group, which still waits for the lock, but which no run can join anymore.
		const group: Group = { runs: [waitingRun] };
		waitingGroups.set(groupKey, group);
		void locks.doInTurn(lockId, async () => {
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

/** Sends jobs of one operation. Never throws. */
async function sendJobs(clients: Clients, jobs: readonly [Job, ...Job[]]): Promise<Results> {
	const [job] = jobs;
	const { operation, prepared, item } = job;
	if (operation.combine) return await sendTogether(clients, operation.combine, jobs);
	try {
		return new Map([[job, await operation.send?.(clients, prepared, item)]]);
	} catch (error) {
		return failAll(jobs, error);
	}
}

const failAll = (jobs: readonly Job[], error: unknown): Results =>
	new Map(jobs.map((job) => [job, toJobFailure(error, job)]));

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
	let sum = 0;
	for (const { operation, prepared } of jobs)
		sum += operation.combine?.weigh(prepared) ?? Infinity;
	return sum;
}

/** Executes the jobs of all runs in a group and settles every run. A run that was stopped while it waited is not sent. */
async function executeGroup(group: readonly WaitingRun[]): Promise<void> {
	const runs: WaitingRun[] = [];
	for (const run of group) {
		if (!run.jobs[0].item.signal?.aborted) runs.push(run);
		else run.settle(failAll(run.jobs, createStoppedError('Nothing was sent for this item.')));
	}
	const [sender] = runs;
	if (!sender) return;
	const results = await sender.asyncResource.runInAsyncScope(
		sendForGroup,
		undefined,
		sender,
		runs,
	);
	for (const { settle } of runs) settle(results);
}

/** Sends the jobs of runs with the credential of one of them. The requests are aborted only if all runs are stopped. Never throws. */
async function sendForGroup(sender: WaitingRun, runs: readonly WaitingRun[]): Promise<Results> {
	const [firstJob] = sender.jobs;
	const jobs = [firstJob, ...runs.flatMap((run) => run.jobs).slice(1)] as const;
	// All items of a run have the same signal, log and sanitizer, so the first item stands for its run.
	const items = runs.map((run) => run.jobs[0].item);
	const abortController = new AbortController();
	const stopIfAllStopped = () => {
		if (items.every(({ signal }) => signal?.aborted)) abortController.abort();
	};
	for (const { signal } of items) signal?.addEventListener('abort', stopIfAllStopped);
	try {
		const clients = await sender.getClients(firstJob, {
			signal: abortController.signal,
			log(text) {
				for (const item of items) item.log(text);
			},
			sanitizers: items.map(({ run }) => run.sanitizer),
		});
		return await sendJobs(clients, jobs);
	} catch (error) {
		return failAll(jobs, error);
	} finally {
		for (const { signal } of items) signal?.removeEventListener('abort', stopIfAllStopped);
	}
}
