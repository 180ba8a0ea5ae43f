import { isNodeError, NodeError } from '../../core/errors';
import { createStoppedError } from '../../http/attempt';
import type { Clients, Operation } from '../operation';
import { notStarted, type Job, type RunState } from './job';
import { toJobFailure } from './failure';

type Combine = NonNullable<Operation['combine']>;

interface PlannedJob {
	readonly job: Job;
	readonly write: unknown;
}

/** Jobs that one request may hold together, in their order. */
type PlannedRequest = [PlannedJob, ...PlannedJob[]];

/** Plans jobs together and sends them. Each gets a result, whether the plan or a request fails. */
export async function planAndSend(
	clients: Clients,
	combine: Combine,
	jobs: readonly Job[],
): Promise<void> {
	let earlierFailure: NodeError | undefined;
	const plannedJobs = await planJobs(clients, combine, jobs);
	for (const request of splitIntoRequests(combine, plannedJobs)) {
		if (earlierFailure) failRequest(request, createFollowUpError(earlierFailure));
		else earlierFailure = await sendRequest(clients, combine, request);
	}
}

/**
 * Plans jobs. A refused job gets its NodeError as its result. Without Continue On Fail, nothing of
 * its run is sent. The rest is then planned again, because what is not sent must not change the
 * plan of the rest.
 * @returns the jobs that are sent
 */
async function planJobs(
	clients: Clients,
	combine: Combine,
	jobs: readonly Job[],
): Promise<PlannedJob[]> {
	if (jobs.length === 0) return [];
	// A plan that fails refuses all jobs.
	const outcomes: readonly unknown[] = await combine
		.plan(clients, jobs)
		.catch((error: unknown) => jobs.map((job) => toJobFailure(error, job)));
	const runResults = new Map<RunState, unknown>();
	for (const [index, job] of jobs.entries()) {
		const result = findRunResult(job, outcomes[index]);
		if (result) runResults.set(job.item.run, result);
	}
	for (const [index, job] of jobs.entries()) {
		const outcome = outcomes[index];
		job.result = isNodeError(outcome) ? outcome : runResults.get(job.item.run);
	}
	const accepted = jobs.filter((job) => job.result === undefined);
	if (accepted.length < jobs.length) return await planJobs(clients, combine, accepted);
	return jobs.map((job, index) => ({ job, write: outcomes[index] }));
}

/**
 * If Google refuses the request, the items of a single run may be the reason. Finds this run by
 * halving: plans and sends each half of the runs by itself. So only the run with the wrong items
 * fails.
 * @returns the failure of the request
 */
async function sendRequest(
	clients: Clients,
	combine: Combine,
	request: PlannedRequest,
): Promise<NodeError | undefined> {
	try {
		const writes = request.map(({ write }) => write);
		const sent = await combine.send(clients, writes);
		for (const [index, { job }] of request.entries()) job.result = sent[index];
		return undefined;
	} catch (error) {
		const failure = toJobFailure(error, request[0].job);
		const halves = halveRuns(request, failure);
		if (halves.length === 0) failRequest(request, failure);
		for (const half of halves) await planAndSend(clients, combine, half);
		return failure;
	}
}

function failRequest(request: PlannedRequest, failure: NodeError) {
	for (const { job } of request) job.result = failure;
}

/** @returns the result of all other jobs of the job's run; undefined if they are sent */
function findRunResult({ item }: Job, outcome: unknown) {
	if (item.signal?.aborted) return createStoppedError('Nothing was changed.');
	// The node stops with the failure of the refused item.
	return isNodeError(outcome) && !item.continueOnFail ? notStarted : undefined;
}

/** Splits jobs into requests. A write that needs more than a full request is sent alone. */
function splitIntoRequests(combine: Combine, plannedJobs: readonly PlannedJob[]): PlannedRequest[] {
	const requests: PlannedRequest[] = [];
	let room = 0;
	for (const plannedJob of plannedJobs) {
		// Without a weight, the run stays whole: its writes are one request.
		const weight = combine.weigh(plannedJob.job.prepared) ?? 0;
		const request = requests.at(-1);
		if (request && weight <= room) request.push(plannedJob);
		else {
			requests.push([plannedJob]);
			room = 1;
		}
		room -= weight;
	}
	return requests;
}

/** @returns the jobs of each half of the runs; none if a smaller request would be refused, too */
function halveRuns(request: PlannedRequest, failure: NodeError): Job[][] {
	if (failure.code !== 400 || failure.outcome !== 'notDone') return [];
	const jobs = request.map(({ job }) => job);
	const runs = [...new Set(jobs.map(({ item }) => item.run))];
	if (runs.length === 1) return [];
	const firstRuns = new Set(runs.slice(0, runs.length / 2));
	return [
		jobs.filter(({ item }) => firstRuns.has(item.run)),
		jobs.filter(({ item }) => !firstRuns.has(item.run)),
	];
}

/**
 * The failure of jobs behind a request that failed. They are not sent, because their rows would not
 * be in their order.
 */
function createFollowUpError({ code, status, outcome, message: cause }: NodeError): NodeError {
	const verb = outcome === 'notDone' ? 'were not' : 'may not have been';
	const message = `Not sent, because the previous rows ${verb} written: ${cause}`;
	const description = 'Nothing was written for this item.';
	return new NodeError({ code, status, message, description });
}
