import { isNodeError, NodeError } from '../../core/errors';
import { createStoppedError } from '../../http/attempt';
import type { Clients, Operation } from '../operation';
import type { Job, RunState } from './job';
import { toJobFailure } from './failure';

/** The result of a job that was not sent, because another item of its run was refused. */
export const notStarted = Symbol('not started');

/** What became of each job: a result of the operation, a NodeError, or `notStarted`. */
export type Results = Map<Job, unknown>;

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
): Promise<Results> {
	const sender = new PlanSender(clients, combine);
	await sender.send(jobs);
	return sender.results;
}

class PlanSender {
	readonly results: Results = new Map();
	readonly #clients: Clients;
	readonly #combine: Combine;

	constructor(clients: Clients, combine: Combine) {
		this.#clients = clients;
		this.#combine = combine;
	}

	async send(jobs: readonly Job[]) {
		let earlierFailure: NodeError | undefined;
		for (const request of splitIntoRequests(this.#combine, await this.#planAccepted(jobs))) {
			if (earlierFailure) this.#setAll(request, createFollowUpError(earlierFailure));
			else earlierFailure = await this.#sendRequest(request);
		}
	}

	/**
	 * Plans jobs. A refused job gets its NodeError as its result. Without Continue On Fail, nothing
	 * of its run is sent. The rest is then planned again, because what is not sent must not change
	 * the plan of the rest.
	 * @returns the jobs that are sent
	 */
	async #planAccepted(jobs: readonly Job[]): Promise<PlannedJob[]> {
		if (jobs.length === 0) return [];
		const { results } = this;
		const outcomes = await this.#plan(jobs);
		const runResults = new Map<RunState, unknown>();
		for (const [index, job] of jobs.entries()) {
			const result = findRunResult(job, outcomes[index]);
			if (result) runResults.set(job.item.run, result);
		}
		for (const [index, job] of jobs.entries()) {
			const outcome = outcomes[index];
			const result = isNodeError(outcome) ? outcome : runResults.get(job.item.run);
			if (result) results.set(job, result);
		}
		const accepted = jobs.filter((job) => !results.has(job));
		if (accepted.length < jobs.length) return await this.#planAccepted(accepted);
		return jobs.map((job, index) => ({ job, write: outcomes[index] }));
	}

	/** A plan that fails refuses all jobs. */
	async #plan(jobs: readonly Job[]): Promise<readonly unknown[]> {
		try {
			return await this.#combine.plan(this.#clients, jobs);
		} catch (error) {
			return jobs.map((job) => toJobFailure(error, job));
		}
	}

	/**
	 * If Google refuses the request, the items of a single run may be the reason. Finds this run by
	 * halving: plans and sends each half of the runs by itself. So only the run with the wrong
	 * items fails.
	 * @returns the failure of the request
	 */
	async #sendRequest(request: PlannedRequest): Promise<NodeError | undefined> {
		try {
			const writes = request.map(({ write }) => write);
			const sent = await this.#combine.send(this.#clients, writes);
			for (const [index, { job }] of request.entries()) this.results.set(job, sent[index]);
			return undefined;
		} catch (error) {
			const failure = toJobFailure(error, request[0].job);
			const halves = halveRuns(request, failure);
			if (halves.length === 0) this.#setAll(request, failure);
			for (const half of halves) await this.send(half);
			return failure;
		}
	}

	#setAll(request: PlannedRequest, failure: NodeError) {
		for (const { job } of request) this.results.set(job, failure);
	}
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
