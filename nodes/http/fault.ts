import { Failure } from '../core/failure';

/**
 * The outcome of one try of a request.
 *
 * `notDone`: the service definitely did not carry it out and may do so later (rate limit, no connection);
 * `unknown`: it may have carried it out (5xx, connection lost, timeout); `final`: repeating would not help.
 */
export type FaultKind = 'notDone' | 'unknown' | 'final';

export class Fault extends Error {
	readonly kind: FaultKind;
	readonly failure: Failure;

	constructor(kind: FaultKind, failure: Failure) {
		super(failure.message);
		this.kind = kind;
		this.failure = failure;
	}
}

/** What a status outside 200–299 says about whether the request was carried out. */
export function kindOfStatus(status: number): FaultKind {
	if (status === 429) return 'notDone';
	return status >= 500 || status === 408 ? 'unknown' : 'final';
}

export function stoppedFault(kind: FaultKind): Fault {
	return new Fault(kind, stopped());
}

export function stopped(description?: string): Failure {
	return new Failure({ code: 499, status: 'CANCELLED', message: 'The execution was stopped', description });
}
