import type { Failure } from '../core/failure';
import { named } from '../fields/naming';
import { Fault, stoppedFault } from './fault';
import { HeldTooLong, type Entry, type Pace } from './pace';
import type { PaceClock } from './paceSettings';

export interface PacedRequest extends Entry {
	/** Called when the service's quota delays the request. */
	readonly onWait?: (milliseconds: number) => void;
	/** If false, a refusal is passed to the caller, which must look at the service before it sends again. */
	readonly again?: boolean;
}

/**
 * Sends a request as soon as the pace allows. A request refused because of a quota was definitely not carried
 * out: it waits with all others and is sent again, any number of times, within its time limit.
 * @throws Fault
 */
export async function paced<T>(
	pace: Pace,
	clock: PaceClock,
	{ onWait, again = true, ...entry }: PacedRequest,
	request: () => Promise<T>,
): Promise<T> {
	let firstRefusal: number | undefined;
	let notBefore = -Infinity;
	for (;;) {
		await sleptUntil(notBefore, clock, entry);
		const startedAt = await entered(pace, clock, entry);
		try {
			const value = await request();
			pace.succeeded();
			return value;
		} catch (error) {
			if (!isQuotaRefusal(error)) throw toError(error);
			const now = clock.now();
			firstRefusal ??= now;
			pace.refused(startedAt, error.failure);
			if (!again) throw toError(error);
			notBefore = now + (error.failure.retryAfterMilliseconds ?? 0);
			const until = Math.max(pace.pausedUntil, notBefore);
			if (until > firstRefusal + entry.maxWaitMilliseconds)
				throw waitedOut(error.failure, pace, now - firstRefusal, entry);
			onWait?.(until - now);
		} finally {
			pace.leave();
		}
	}
}

/**
 * Waits as long as the service asked for this request.
 * @throws Fault if the execution is stopped meanwhile
 */
async function sleptUntil(time: number, clock: PaceClock, { signal }: Entry): Promise<void> {
	const wait = time - clock.now();
	if (wait <= 0) return;
	await clock.sleep(wait, signal).catch(() => {
		throw stoppedFault('notDone');
	});
}

/** @returns the time at which the request is sent */
async function entered(pace: Pace, clock: PaceClock, entry: Entry): Promise<number> {
	try {
		await pace.enter(entry);
	} catch (error) {
		if (!(error instanceof HeldTooLong) || pace.lastRefusalSaid === undefined) throw stoppedFault('notDone');
		throw waitedOut(pace.lastRefusalSaid, pace, 0, entry);
	}
	return clock.now();
}

/** Whether an error is a refusal because of a quota, so that nothing was done. */
function isQuotaRefusal(error: unknown): error is Fault {
	// For a 403, only the kind tells that it is a rate limit.
	return error instanceof Fault && error.kind === 'notDone' && [403, 429].includes(error.failure.code);
}

function toError(error: unknown): Error {
	return error instanceof Error ? error : new Error(String(error));
}

function waitedOut(failure: Failure, pace: Pace, waited: number, { maxWaitMilliseconds }: Entry): Fault {
	const seconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
	const asked = failure.retryAfterMilliseconds;
	const wait = asked === undefined ? 'The next try would be in' : 'Google asks n8n to wait';
	const next = seconds(asked ?? pace.pauseMilliseconds);
	const description = [
		`${wait} ${next} seconds, but ${named('maxRetryWaitSeconds')} allows ${maxWaitMilliseconds / 1000}`,
		waited > 0 ? `, of which ${seconds(waited)} have passed.` : '.',
		failure.description ? ` ${failure.description}` : '',
	].join('');
	return new Fault('final', failure.with({ description }));
}
