import { asFailure } from '../../items/errorItem';
import { Failure, isFailure, refusal } from '../../items/failure';

import type { Job } from './job';
import type { Clients } from '../operation';

export type Performed = { readonly result: unknown } | { readonly failure: Failure };

/** Performs jobs that are sent together; one outcome per job, in their order. Never throws. */
export async function perform(
	jobs: readonly Job[],
	clientsFor: (job: Job) => Promise<Clients>,
): Promise<Performed[]> {
	const [first] = jobs;
	if (!first) return [];
	try {
		const clients = await clientsFor(first);
		const performed = await performWith(clients, first, jobs);
		return await Promise.all(performed.map((outcome, at) => settled(clients, jobs[at] ?? first, outcome)));
	} catch (error) {
		return jobs.map(({ item }) => ({ failure: item.told(failureOf(error)) }));
	}
}

async function performWith(clients: Clients, first: Job, jobs: readonly Job[]): Promise<Performed[]> {
	const { operation, params, item, combineKey } = first;
	try {
		if (!operation.combine || combineKey === undefined) {
			return [{ result: await operation.execute(clients, params, item) }];
		}
		const results = await operation.combine.execute(clients, jobs);
		return results.map((result) => (isFailure(result) ? { failure: result } : { result }));
	} catch (error) {
		return jobs.map(() => ({ failure: failureOf(error) }));
	}
}

/** The real outcome of an ambiguous failure, if the operation can find out. */
async function settled(clients: Clients, job: Job, outcome: Performed): Promise<Performed> {
	if (!('failure' in outcome)) return outcome;
	const { operation, params, item } = job;
	const { failure } = outcome;
	if (!failure.ambiguous || !operation.recover || item.signal?.aborted)
		return { failure: item.told(failure) };
	try {
		const result = await operation.recover(clients, params, failure, item);
		return result === undefined ? { failure: item.told(failure) } : { result };
	} catch (error) {
		const later = failureOf(error);
		const isTold = later.ambiguous || later.settled || item.hasMade;
		const told = isTold ? later : stillUnknown(failure, later);
		return { failure: item.told(told) };
	}
}

/** Checking the outcome of the request failed too: the request may still have been carried out. */
function stillUnknown({ code, status, message, description }: Failure, lookup: Failure): Failure {
	const unknown = `The request may still have been carried out. Checking this also failed (${lookup.message}). Check the result in Google before you run this again.`;
	return new Failure({
		code,
		status,
		message,
		description: [description, unknown].filter(Boolean).join(' '),
		ambiguous: true,
	});
}

/** The generated clients check their own parameters before they send anything, with errors of no type. */
function failureOf(error: unknown): Failure {
	const byClient =
		error instanceof Error && /^(Missing required parameters|Invalid value)/.test(error.message);
	return byClient ? refusal(error.message) : asFailure(error);
}
