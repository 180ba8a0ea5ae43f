import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { isNodeError, type NodeError, createRefusal } from '../../core/errors';
import { BoundedMap } from '../../core/boundedMap';
import { systemClock } from '../../core/clock';
import { KeyedMutex } from '../../core/keyedMutex';
import { getGlobalSingleton } from '../../core/runtime';
import { createStoppedError } from '../../http/retry';
import { toGoogleFailure } from '../google/errors';
import type { SharedSending } from '../google/googleCredential';
import type { Clients } from '../operation';
import type { Job } from './job';

/** Gives the clients of a job's run. @param shared if they send for other runs too */
export type ClientGetter = (job: Job, shared?: SharedSending) => Promise<Clients>;

/** Jobs of one run that are sent together. */
interface JobsOfRun {
	readonly jobs: readonly [Job, ...Job[]];
	readonly clients: Clients;
	readonly getClients: ClientGetter;
}

interface WaitingRun extends JobsOfRun {
	/** The run's own asynchronous context, in which it sends for the group. */
	readonly context: AsyncResource;
	readonly settle: (outcomes: readonly unknown[]) => void;
}

/** Runs that wait for the same lock and go together, in the order of their arrival. */
interface Group {
	readonly runs: [WaitingRun, ...WaitingRun[]];
	/** The sum of what their items add to a request; known when a second run comes. */
	weight?: number;
}

/** The last work under the lock of each spreadsheet, by its ID. All versions of the package in this process share it. */
const lastByLock = getGlobalSingleton('locks', () => new Map<string, Promise<unknown>>());
const locks = new KeyedMutex(lastByLock);

/** When each execution last came to a spreadsheet, by its lock. */
const arrivals = new BoundedMap<string, Map<string | undefined, number>>();
/**
 * This many executions within this time are a crowd: more than one a second, for which Google's quota would not last if each sent alone.
 * Fewer may be loops, whose next row waits for the last. A worker of n8n's queue mode has five to ten executions at a time.
 */
const crowd = { executions: 6, milliseconds: 5000 };
/** How long a crowd waits for more runs. Even an endless crowd then takes half of what Google lets a user read and write in a minute. */
const crowdPauseMilliseconds = 2000;

/** Groups that have not got the lock, by what their runs have in common. */
const waitingGroups = new Map<string, Group>();

/**
 * Executes jobs, under a lock if their operation has one. Runs that wait for the lock to do the same are sent together; a run that need
 * not wait is sent at once.
 * @returns a result or a NodeError for each job, in order
 */
export async function executeJobs(own: JobsOfRun): Promise<readonly unknown[]> {
	const [{ operation, resource, params, combineKey }] = own.jobs;
	const lock = operation.lock?.key(params);
	if (lock === undefined) return await executeAlone(own);
	const isCrowded = noteArrival(lock, own.jobs[0].item.executionId);
	const key = JSON.stringify([own.clients.account, resource, operation.value, combineKey]);
	return await new Promise((settle) => {
		const run = { ...own, settle, context: new AsyncResource('WorkspaceGroup') };
		const waiting = waitingGroups.get(key);
		if (waiting && combineKey !== undefined && joinGroup(waiting, run)) return;
		const group: Group = { runs: [run] };
		waitingGroups.set(key, group);
		void locks.run(lock, async () => {
			if (isCrowded) await sleep(crowdPauseMilliseconds);
			if (waitingGroups.get(key) === group) waitingGroups.delete(key);
			await executeGroup(group.runs);
		});
	});
}

/** @returns whether a crowd comes to the spreadsheet */
function noteArrival(lock: string, executionId: string | undefined): boolean {
	const now = systemClock.getMonotonicMilliseconds();
	const recent = arrivals.get(lock) ?? new Map<string | undefined, number>();
	arrivals.set(lock, recent.set(executionId, now));
	for (const [execution, at] of recent) if (now - at > crowd.milliseconds) recent.delete(execution);
	return recent.size >= crowd.executions;
}

async function executeAlone({ jobs, clients }: JobsOfRun): Promise<readonly unknown[]> {
	const [{ operation, params, item, combineKey }] = jobs;
	try {
		if (operation.combine && combineKey !== undefined) return await operation.combine.execute(clients, jobs);
		return [await operation.execute(clients, params, item)];
	} catch (error) {
		return jobs.map((job) => toJobFailure(error, job));
	}
}

/** @returns false if one request cannot hold the rows of all these runs */
function joinGroup(group: Group, run: WaitingRun): boolean {
	group.weight ??= weighJobs(group.runs[0].jobs);
	const weight = group.weight + weighJobs(run.jobs);
	if (weight > 1) return false;
	group.weight = weight;
	group.runs.push(run);
	return true;
}

function weighJobs(jobs: readonly Job[]): number {
	const weights = jobs.map(({ operation, params, item }) => operation.lock?.weigh(params, item) ?? Infinity);
	return weights.reduce((sum, weight) => sum + weight, 0);
}

/** A run that was stopped while it waited does not take part. Every run is settled. */
async function executeGroup(runs: readonly WaitingRun[]): Promise<void> {
	const isStopped = ({ jobs: [{ item }] }: WaitingRun) => item.signal?.aborted === true;
	for (const { jobs, settle } of runs.filter(isStopped))
		settle(jobs.map(() => createStoppedError('Nothing was sent for this item.')));
	const [sender, ...others] = runs.filter((run) => !isStopped(run));
	if (!sender) return;
	const outcomes = await sender.context.runInAsyncScope(() =>
		others.length === 0 ? executeAlone(sender) : executeTogether(sender, [sender, ...others]),
	);
	let next = 0;
	for (const { jobs, settle } of [sender, ...others]) settle(outcomes.slice(next, (next += jobs.length)));
}

/** Sends for several runs with the credential of one. The requests end early only if all runs were stopped. */
async function executeTogether(sender: WaitingRun, runs: readonly WaitingRun[]): Promise<readonly unknown[]> {
	const jobs = runs.flatMap((run) => run.jobs);
	const firstItems = runs.map((run) => run.jobs[0].item);
	const stop = new AbortController();
	const stopIfAll = () => {
		if (firstItems.every(({ signal }) => signal?.aborted)) stop.abort();
	};
	for (const { signal } of firstItems) signal?.addEventListener('abort', stopIfAll);
	try {
		const clients = await sender.getClients(sender.jobs[0], {
			signal: stop.signal,
			log(text) {
				for (const item of firstItems) item.log(text);
			},
			sanitizers: firstItems.flatMap(({ run }) => run?.sanitizer ?? []),
		});
		return await executeInHalves(clients, jobs);
	} catch (error) {
		return jobs.map((job) => toJobFailure(error, job));
	} finally {
		for (const { signal } of firstItems) signal?.removeEventListener('abort', stopIfAll);
	}
}

/**
 * Executes jobs of several runs together. If Google refuses them, the rows of one run may be the reason. Each half is then sent again by
 * itself, so that the other runs do not fail.
 * @throws an error that concerns all jobs, before any of them was sent
 */
async function executeInHalves(clients: Clients, jobs: readonly Job[]): Promise<readonly unknown[]> {
	const outcomes = [...((await jobs[0]?.operation.combine?.execute(clients, jobs)) ?? [])];
	for (const refusal of new Set(outcomes)) {
		if (!isNodeError(refusal) || refusal.code !== 400 || refusal.outcome !== 'notDone') continue;
		const refused = jobs.filter((_, at) => outcomes[at] === refusal);
		const runs = [...new Set(refused.map(({ item }) => item.run))];
		const firstRuns = runs.slice(0, runs.length / 2);
		if (firstRuns.length === 0) continue;
		for (const isFirst of [true, false]) {
			const half = refused.filter(({ item }) => firstRuns.includes(item.run) === isFirst);
			const fail = (error: unknown) => half.map((job) => toJobFailure(error, job));
			const again = await executeInHalves(clients, half).catch(fail);
			for (const [at, job] of half.entries()) outcomes[jobs.indexOf(job)] = again[at];
		}
	}
	return outcomes;
}

export function toJobFailure(error: unknown, { operation, item }: Job): NodeError {
	// The generated clients check their own parameters before they send anything, and throw plain errors.
	const isFromClient =
		error instanceof Error && /^(Missing required parameters|Invalid value)/.test(error.message);
	if (isFromClient) return createRefusal(error.message);
	const failure = toGoogleFailure(error, item.log.bind(item));
	// A bad response may belong to a change that was carried out.
	const isAmbiguous = !isNodeError(error) && failure.code === 502 && !operation.isReadOnly;
	return isAmbiguous ? failure.with({ outcome: 'unknown' }) : failure;
}
