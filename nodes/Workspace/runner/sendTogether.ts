import { isNodeError, NodeError } from '../../core/errors';
import { createStoppedError } from '../../http/attempt';
import type { Clients, Operation } from '../operation';
import type { Job, RunState } from './job';
import { toJobFailure } from './failure';

/** What became of each job: a result of the operation, or a NodeError. */
export type Results = Map<Job, unknown>;

type Combination = NonNullable<Operation['combine']>;

/** The writes of jobs that one request may hold together, in the order of the jobs. */
type Writes = ReadonlyMap<Job, unknown>;

/**
 * Plans jobs together and sends them. If Google refuses a request, the items of a single run may be the reason. Finds this run by halving:
 * plans and sends each half of the refused runs by itself. So only the run with the wrong items fails.
 * @throws an error that stopped all jobs before anything was sent
 */
export async function sendTogether(
	clients: Clients,
	combine: Combination,
	jobs: readonly Job[],
): Promise<Results> {
	const results: Results = new Map();
	const writes = await planAccepted(clients, combine, jobs, results);
	let earlierFailure: NodeError | undefined;
	for (const request of splitIntoRequests(combine, writes)) {
		const requestJobs = [...request.keys()];
		if (earlierFailure) {
			setAll(results, requestJobs, createFollowUpError(earlierFailure));
			continue;
		}
		try {
			const sent = await combine.send(clients, [...request.values()]);
			for (const [index, job] of requestJobs.entries()) results.set(job, sent[index]);
		} catch (error) {
			earlierFailure = requestJobs[0] && toJobFailure(error, requestJobs[0]);
			const halves = halveRuns(requestJobs, earlierFailure);
			if (halves.length === 0) setAll(results, requestJobs, earlierFailure);
			for (const half of halves) await sendHalf(clients, combine, half, results);
		}
	}
	return results;
}

/**
 * Plans jobs. A refused job gets its NodeError as its result. Without Continue On Fail, it fails its whole run. The rest is then planned
 * again, because what is not sent must not change the plan of the rest.
 * @returns the writes of the jobs that are sent
 */
async function planAccepted(
	clients: Clients,
	combine: Combination,
	jobs: readonly Job[],
	results: Results,
): Promise<Writes> {
	let candidates = jobs;
	while (candidates.length > 0) {
		const outcomes = await combine.plan(clients, candidates);
		const failuresByRun = new Map<RunState, NodeError>();
		const writes = new Map<Job, unknown>();
		for (const [index, job] of candidates.entries()) {
			const outcome = outcomes[index];
			if (isNodeError(outcome)) results.set(job, outcome);
			else writes.set(job, outcome);
			const { run, continueOnFail, signal } = job.item;
			if (signal?.aborted) failuresByRun.set(run, createStoppedError('Nothing was changed.'));
			else if (isNodeError(outcome) && !continueOnFail && !failuresByRun.has(run))
				failuresByRun.set(run, createRunFailure(job, outcome));
		}
		for (const job of writes.keys()) {
			const failure = failuresByRun.get(job.item.run);
			if (failure) results.set(job, failure);
		}
		const accepted = candidates.filter((job) => !results.has(job));
		if (accepted.length === candidates.length) return writes;
		candidates = accepted;
	}
	return new Map();
}

/** Splits writes into requests. A write that needs more than a full request is sent alone; one without a weight, with all others. */
function splitIntoRequests(combine: Combination, writes: Writes): Array<Map<Job, unknown>> {
	const requests: Array<Map<Job, unknown>> = [];
	let room = 0;
	for (const [job, write] of writes) {
		const weight = combine.weigh(job.prepared) ?? 0;
		const request = requests.at(-1);
		if (request && weight <= room) request.set(job, write);
		else {
			requests.push(new Map([[job, write]]));
			room = 1;
		}
		room -= weight;
	}
	return requests;
}

/** @returns the jobs of each half of the runs; none if a smaller request would be refused, too */
function halveRuns(jobs: readonly Job[], failure: NodeError | undefined): Job[][] {
	if (failure?.code !== 400 || failure.outcome !== 'notDone') return [];
	const runs = [...new Set(jobs.map(({ item }) => item.run))];
	if (runs.length === 1) return [];
	const firstRuns = new Set(runs.slice(0, runs.length / 2));
	return [
		jobs.filter(({ item }) => firstRuns.has(item.run)),
		jobs.filter(({ item }) => !firstRuns.has(item.run)),
	];
}

async function sendHalf(
	clients: Clients,
	combine: Combination,
	half: readonly Job[],
	results: Results,
): Promise<void> {
	try {
		const halfResults = await sendTogether(clients, combine, half);
		for (const [job, result] of halfResults) results.set(job, result);
	} catch (error) {
		for (const job of half) results.set(job, toJobFailure(error, job));
	}
}

function setAll(results: Results, jobs: readonly Job[], result: unknown): void {
	for (const job of jobs) results.set(job, result);
}

function createRunFailure({ item }: Job, refusal: NodeError): NodeError {
	const { code, status, description } = refusal;
	const message = `Nothing was written because of item ${item.index}: ${refusal.message}`;
	return new NodeError({ code, status, message, description });
}

/** The failure of jobs behind a request that failed. They are not sent, because their rows would not be in their order. */
function createFollowUpError({ code, status, message: cause }: NodeError): NodeError {
	const message = `Not sent, because the previous rows were not written: ${cause}`;
	const description = 'Nothing was written for this item.';
	return new NodeError({ code, status, message, description });
}
