import { asFailure } from '../../core/errorItem';
import { type Failure, isFailure, refusal } from '../../core/failure';

import type { Job } from './job';
import type { Clients, Operation } from '../operation';

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
	if (!failure.ambiguous) return { failure: item.told(failure) };
	const unsettled = { failure: item.told(unknown(failure, operation)) };
	if (!operation.recover || item.signal?.aborted) return unsettled;
	try {
		const result = await operation.recover(clients, params, failure, item);
		return result === undefined ? unsettled : { result };
	} catch (error) {
		const later = failureOf(error);
		const isTold = later.ambiguous || later.settled || item.hasMade;
		const told = isTold ? later : unknown(failure, operation, later);
		return { failure: item.told(told) };
	}
}

/**
 * Without this a user takes an error for work that was not done. In the message, because an error item has no description.
 * @param lookup why looking for what became of it failed too
 */
function unknown(failure: Failure, { idempotent }: Operation, lookup?: Failure): Failure {
	const { message, description } = failure;
	// Most operations say it in words of their own.
	const isSaid = /\bmay (still )?(have been|exist)\b/.test(message);
	const seen = lookup && `Checking this also failed (${lookup.message}).`;
	const what = idempotent
		? 'It is safe to run this again.'
		: 'Check the result in Google before you run this again.';
	return failure.with({
		message: isSaid ? message : `The request may have been carried out: ${message}`,
		description: [description, seen, isSaid ? undefined : what].filter(Boolean).join(' '),
		ambiguous: true,
	});
}

/** The generated clients check their own parameters before they send anything, with errors of no type. */
function failureOf(error: unknown): Failure {
	const byClient =
		error instanceof Error && /^(Missing required parameters|Invalid value)/.test(error.message);
	return byClient ? refusal(error.message) : asFailure(error);
}
