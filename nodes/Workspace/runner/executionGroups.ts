// How rows of several executions become one request. Runs that change the same spreadsheet wait for
// its lock, and go one after another. What waits is a group. Another run joins the newest group
// with its credential, operation and combine key, if one request can hold the rows of all. When the
// group gets the lock, nobody can join anymore. Its first run that was not stopped then sends the
// rows of all runs, in the order of their arrival, and each run gets its own results. So a run that
// comes alone waits for nobody, and groups grow with the time that requests take. After a crowd of
// executions, the lock rests, so that the next group is larger.
import { setTimeout as sleep } from 'node:timers/promises';

import { BoundedMap, getOrAdd } from '../../core/maps';
import { getGlobalMutex } from '../../core/keyedMutex';
import { createStoppedError } from '../../http/attempt';
import type { GroupRequestOptions } from '../google/googleCredential';
import type { Clients } from '../operation';
import { toJobFailure } from './failure';
import type { Job } from './job';
import { planAndSend } from './planAndSend';

/** Returns the clients of a job's run. With `groupOptions`, the run sends for its whole group. */
export type ClientGetter = (job: Job, groupOptions?: GroupRequestOptions) => Promise<Clients>;

/**
 * Jobs of one run that are sent together. All have the same operation and combine key, so code that
 * needs one of these reads the first job.
 */
interface JobsOfRun {
	readonly jobs: readonly [Job, ...Job[]];
	readonly clients: Clients;
	readonly getClients: ClientGetter;
}

interface WaitingRun extends JobsOfRun {
	readonly settle: () => void;
}

/** Runs that wait for the same lock and are sent together, in the order of their arrival. */
interface Group {
	readonly runs: [WaitingRun, ...WaitingRun[]];
	/** The share of one request that the runs need, where 1 is a full request. */
	weight: number;
}

/**
 * The locks, by the ID of their spreadsheet. All versions of the package in this process share the
 * last work under each of them.
 */
const locks = getGlobalMutex('locks');

/**
 * So many executions that meet under a lock within a short time are a crowd, in which the lock
 * rests after each group. Their runs do not count, because a loop is one execution, which would
 * wait in many rounds. Nor do executions that come one after the other, as those of a sub-workflow
 * for each row.
 */
const crowdSize = 4;
const crowdMilliseconds = 10_000;
/**
 * How long a lock rests at least. An endless crowd then sends up to 20 groups a minute, each with
 * up to three reads: as many as Google allows a user.
 */
const minRestMilliseconds = 3000;
/**
 * How long it rests at most, while runs keep joining the next group. Where n8n runs few executions
 * at once, as for the messages of a trigger, a longer rest would not make the group larger.
 */
const maxRestMilliseconds = 7000;
/** If nobody joins for so long, nobody else is expected. */
const quietMilliseconds = 1000;

/**
 * The executions that met others recently under each lock, with the time of each, in milliseconds
 * of the monotonic clock.
 */
const recentMeetings = new BoundedMap<string, Map<string, number>>();

/**
 * The newest group that waits for its lock, by credential, operation and combine key. Other runs
 * may join it.
 */
const waitingGroups = new Map<string, Group>();

/**
 * Executes jobs, and sets their results. With a lock, they wait for it, and the rows of other
 * executions that wait for it, too, go into the same request.
 */
export async function executeWithWaitingRuns(run: JobsOfRun): Promise<void> {
	const { jobs, clients } = run;
	const [{ operation, resource, prepared, combineKey, item }] = jobs;
	const lockId = operation.combine?.getLockId?.(prepared);
	if (lockId === undefined) {
		await sendJobs(jobs, () => clients);
		return;
	}
	// Without a combine key, no other run joins.
	const key = combineKey ?? item.markerId;
	const groupKey = JSON.stringify([clients.credentialHash, resource, operation.value, key]);
	await new Promise<void>((settle) => {
		const waitingRun = { ...run, settle };
		const weight = weighJobs(jobs);
		const waitingGroup = waitingGroups.get(groupKey);
		if (waitingGroup && waitingGroup.weight + weight <= 1) {
			waitingGroup.weight += weight;
			waitingGroup.runs.push(waitingRun);
			return;
		}
		// This group takes the place of a full one, which still waits for the lock, but which no
		// run can join anymore.
		const group: Group = { runs: [waitingRun], weight };
		waitingGroups.set(groupKey, group);
		void locks.doInTurn(lockId, async () => {
			// If the group was full, a newer one has taken its place, and must stay there.
			if (waitingGroups.get(groupKey) === group) waitingGroups.delete(groupKey);
			await executeGroup(group.runs);
			const hasMetOthers = group.runs.length > 1 || waitingGroups.has(groupKey);
			const recentCount = countMeetings(lockId, hasMetOthers ? group.runs : []);
			if (recentCount >= crowdSize) await restWhileRunsJoin(groupKey);
		});
	});
}

/** Counts the executions that met recently under a lock, with those that have just met. */
function countMeetings(lockId: string, runs: readonly WaitingRun[]): number {
	const now = performance.now();
	const times = getOrAdd(recentMeetings, lockId, () => new Map<string, number>());
	for (const { jobs } of runs) times.set(jobs[0].item.executionId, now);
	for (const [executionId, time] of times)
		if (now - time > crowdMilliseconds) times.delete(executionId);
	return times.size;
}

async function restWhileRunsJoin(groupKey: string): Promise<void> {
	let rested = minRestMilliseconds - quietMilliseconds;
	await sleep(rested);
	while (rested < maxRestMilliseconds) {
		const waitingCount = waitingGroups.get(groupKey)?.runs.length;
		await sleep(quietMilliseconds);
		rested += quietMilliseconds;
		if (waitingGroups.get(groupKey)?.runs.length === waitingCount) return;
	}
}

/** Sends jobs of one operation. A failure becomes the result of all of them. */
async function sendJobs(
	jobs: readonly [Job, ...Job[]],
	getClients: () => Clients | Promise<Clients>,
): Promise<void> {
	const [job] = jobs;
	const { operation, prepared, item } = job;
	try {
		const clients = await getClients();
		if (operation.combine) await planAndSend(clients, operation.combine, jobs);
		else job.result = await operation.send?.(clients, prepared, item);
	} catch (error) {
		failAll(jobs, error);
	}
}

function failAll(jobs: readonly Job[], error: unknown) {
	for (const job of jobs) job.result = toJobFailure(error, job);
}

/**
 * @returns the share of one request that the jobs need; Infinity if a job must not share a request
 */
function weighJobs(jobs: readonly Job[]): number {
	let sum = 0;
	for (const { operation, prepared } of jobs)
		// Without a weight, a run is sent alone.
		sum += operation.combine?.weigh(prepared) ?? Infinity;
	return sum;
}

/**
 * Executes the jobs of all runs in a group and settles every run. A run that was stopped while it
 * waited is not sent.
 */
async function executeGroup(group: readonly WaitingRun[]): Promise<void> {
	const isStopped = ({ jobs }: WaitingRun) => jobs[0].item.signal?.aborted === true;
	const runs = group.filter((run) => !isStopped(run));
	for (const { jobs, settle } of group.filter(isStopped)) {
		failAll(jobs, createStoppedError('Nothing was sent for this item.'));
		settle();
	}
	const [sender] = runs;
	if (sender) await sendForGroup(sender, runs);
	for (const { settle } of runs) settle();
}

/**
 * Sends the jobs of runs with the credential of one of them. The requests are aborted only if all
 * runs are stopped.
 */
async function sendForGroup(sender: WaitingRun, runs: readonly WaitingRun[]) {
	const [firstJob] = sender.jobs;
	const jobs = [firstJob, ...runs.flatMap((run) => run.jobs).slice(1)] as const;
	// All items of a run have the same signal, log and sanitizer, so the first item stands for its
	// run.
	const items = runs.map((run) => run.jobs[0].item);
	const abortController = new AbortController();
	const stopIfAllStopped = () => {
		if (items.every(({ signal }) => signal?.aborted)) abortController.abort();
	};
	for (const { signal } of items) signal?.addEventListener('abort', stopIfAllStopped);
	await sendJobs(jobs, () =>
		sender.getClients(firstJob, {
			signal: abortController.signal,
			log(text) {
				for (const item of items) item.log(text);
			},
			sanitizers: items.map(({ run }) => run.sanitizer),
		}),
	);
	for (const { signal } of items) signal?.removeEventListener('abort', stopIfAllStopped);
}
