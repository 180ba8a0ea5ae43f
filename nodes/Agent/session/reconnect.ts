import { getOrAdd } from '../../core/boundedMap';
import type { Clock } from '../../core/clock';
import { getGlobalSingleton } from '../../core/runtime';
import { drawJitterMilliseconds } from '../../http/loop';
import * as closeReasons from './closeReason';

/** A channel that was open for this long ends the outage. Earlier failures no longer count. */
const stableChannelMilliseconds = 30_000;
/**
 * A channel that brought a frame and was open for this long ends the backoff. After a shorter time,
 * the frame may be only a greeting.
 */
const backoffResetMilliseconds = 5000;
/**
 * The long backoff starts with seconds, because a service that is being deployed refuses
 * connections only for seconds.
 */
const longBackoffBaseMilliseconds = 10_000;
/** The longest delay of the long backoff, and the longest that a server may ask for. */
const maxDelayMilliseconds = 15 * 60_000;
/**
 * The shortest delay for `freshCredentials`. Attempts share credentials for a second, so the next
 * one does not get the refused ones again.
 */
const rereadDelayMilliseconds = 1000;

const outageAlertMilliseconds = 5 * 60_000;

/**
 * When to make the next attempt. Agent Execute and the trigger's test fail instead of waiting for
 * the long backoff.
 */
export type RetryDecision =
	/**
	 * A random delay, up to a limit that doubles with each attempt (exponential backoff with
	 * jitter).
	 */
	| 'backoff'
	/** One attempt, after 1 to 2 s, with credentials that are read again. */
	| 'freshCredentials'
	/** 5 to 10 s, then twice as long with each attempt, up to 15 minutes. */
	| 'longBackoff';

/** Faults of the network that last until somebody mends them. */
const lastingFaults: readonly string[] = ['blocked', 'certificate'];
const longBackoffCloseCodes = [1002, 1003, 1007, 1008, 1010];

/**
 * Decides how to reconnect. Unknown close codes mean `backoff`, and so does 1000, because servers
 * and load balancers use it for any close.
 * @param hasReadFreshCredentials whether an attempt of this outage has followed a refusal with
 * fresh credentials
 */
export function decideRetry(
	closeReason: closeReasons.CloseReason,
	hasReadFreshCredentials: boolean,
): RetryDecision {
	const { kind } = closeReason;
	if (kind === 'credentials') return closeReason.needsUser ? 'longBackoff' : 'backoff';
	if (kind === 'invalidUpgrade') return 'longBackoff';
	if (kind === 'network')
		return lastingFaults.includes(closeReason.error.category) ? 'longBackoff' : 'backoff';
	if (kind === 'closeFrame' && longBackoffCloseCodes.includes(closeReason.code))
		return 'longBackoff';
	const statusCode = findHttpStatus(closeReason);
	if (statusCode === undefined || closeReasons.isTemporaryStatus(statusCode)) return 'backoff';
	return hasReadFreshCredentials ? 'longBackoff' : 'freshCredentials';
}

/**
 * Finds the HTTP status of a response or a close code. Many services send 4401 for the status 401,
 * and so on, though no standard says so.
 */
function findHttpStatus(closeReason: closeReasons.CloseReason): number | undefined {
	if (closeReason.kind === 'response') return closeReason.response.statusCode;
	const isStatusCode = closeReason.kind === 'closeFrame' && closeReason.code >= 4400;
	return isStatusCode ? closeReason.code - 4000 : undefined;
}

export interface NextAttempt {
	readonly decision: RetryDecision;
	readonly delayMilliseconds: number;
	/**
	 * Whether the attempt follows the first failure of an outage. Only this failure is logged as a
	 * warning.
	 */
	readonly isFirstOfOutage: boolean;
	/**
	 * `refused`: an attempt of the long backoff failed, or the credentials are wrong. `outage`: the
	 * outage has lasted 5 minutes.
	 */
	readonly alert: 'refused' | 'outage' | undefined;
}

/** What has happened since the outage began. */
class OutageHistory {
	/**
	 * When the first failure came, in monotonic milliseconds. Undefined means that there was no
	 * failure yet.
	 */
	startedAt: number | undefined;
	/** The kinds of alerts that have been raised. Each kind is raised once per outage. */
	readonly raisedAlerts = new Set<string>();
	/**
	 * The number of delays of the backoff since it last began. It sets the limit of the next delay.
	 */
	backoffDelayCount = 0;
	/**
	 * The same for the long backoff. 0 means that it has not begun. Once begun, it applies to all
	 * attempts until the outage ends.
	 */
	longBackoffDelayCount = 0;
	/**
	 * Whether an attempt has followed a refusal with fresh credentials. The next refusal then
	 * begins the long backoff.
	 */
	hasReadFreshCredentials = false;
	/** How many channels in a row ended with a frame that was too large. */
	tooLargeCount = 0;
}

/**
 * From this many on, the long backoff applies, because a server that repeats unread messages
 * repeats such a frame.
 */
const maxTooLargeCount = 3;

/** Decides from the history of a session when the next attempt starts and what causes an alert. */
export class ReconnectPlanner {
	readonly #maxBackoffMilliseconds: number;
	readonly #clock: Clock;
	readonly #random: () => number;
	#outage = new OutageHistory();
	#openedAt: number | undefined;
	#hasReceivedFrame = false;

	/**
	 * @param maxDelaySeconds the limit for a delay of the backoff, unless the service requires more
	 */
	constructor(maxDelaySeconds: number, clock: Clock, random: () => number) {
		this.#maxBackoffMilliseconds = maxDelaySeconds * 1000;
		this.#clock = clock;
		this.#random = random;
	}

	recordOpen(): void {
		this.#openedAt = this.#clock.getMonotonicMilliseconds();
		this.#hasReceivedFrame = false;
	}

	recordFrame(): void {
		this.#hasReceivedFrame = true;
	}

	planNextAttempt(closeReason: closeReasons.CloseReason): NextAttempt {
		const now = this.#clock.getMonotonicMilliseconds();
		this.#forgetEndedOutage(now);
		const outage = this.#outage;
		const isFirstOfOutage = outage.startedAt === undefined;
		outage.startedAt ??= now;
		outage.tooLargeCount = closeReasons.isTooLarge(closeReason) ? outage.tooLargeCount + 1 : 0;
		const decision =
			outage.tooLargeCount >= maxTooLargeCount
				? 'longBackoff'
				: decideRetry(closeReason, outage.hasReadFreshCredentials);
		if (decision === 'freshCredentials') outage.hasReadFreshCredentials = true;
		// A server that asks for a longer delay than 15 minutes gets 15 minutes.
		const requested = Math.min(
			closeReasons.findRetryAfter(closeReason) ?? 0,
			maxDelayMilliseconds,
		);
		const delayMilliseconds = this.#drawDelay(decision, requested);
		const needsUser = closeReason.kind === 'credentials' && closeReason.needsUser;
		const isRefused = needsUser || outage.longBackoffDelayCount > 1;
		return {
			decision,
			delayMilliseconds,
			isFirstOfOutage,
			alert: this.#takeDueAlert(now, isRefused),
		};
	}

	#forgetEndedOutage(now: number): void {
		const openMilliseconds = now - (this.#openedAt ?? now);
		this.#openedAt = undefined;
		if (openMilliseconds >= stableChannelMilliseconds) this.#outage = new OutageHistory();
		else if (this.#hasReceivedFrame && openMilliseconds >= backoffResetMilliseconds)
			this.#outage.backoffDelayCount = 0;
	}

	/**
	 * Draws a random delay that is at least as long as the server asked for. A longer one that it
	 * asked for takes the place of a long backoff.
	 */
	#drawDelay(decision: RetryDecision, requestedMilliseconds: number): number {
		const outage = this.#outage;
		if (outage.longBackoffDelayCount > 0 || decision === 'longBackoff')
			return Math.max(requestedMilliseconds, this.#drawLongBackoffDelay());
		// A random time is added, so that clients with the same Retry-After do not come back at the
		// same moment.
		if (decision === 'freshCredentials')
			return requestedMilliseconds + rereadDelayMilliseconds + this.#drawJitter(0);
		return requestedMilliseconds + this.#drawJitter(outage.backoffDelayCount++);
	}

	#drawJitter(delayCount: number): number {
		return drawJitterMilliseconds(delayCount, this.#maxBackoffMilliseconds, this.#random);
	}

	#drawLongBackoffDelay(): number {
		const delayCount = this.#outage.longBackoffDelayCount++;
		const doubledMilliseconds = longBackoffBaseMilliseconds * 2 ** delayCount;
		const windowMilliseconds = Math.min(maxDelayMilliseconds, doubledMilliseconds);
		// The delay is at least half of the window, so that a deployment of a few seconds is over
		// after the first delay.
		return Math.floor((windowMilliseconds / 2) * (1 + this.#random()));
	}

	/**
	 * Marks the alert that is due as raised.
	 * @returns its kind; undefined if no alert is due, or it was raised in this outage
	 */
	#takeDueAlert(now: number, isRefused: boolean): NextAttempt['alert'] {
		const { startedAt = now, raisedAlerts } = this.#outage;
		const outageKind = now - startedAt >= outageAlertMilliseconds ? 'outage' : undefined;
		const kind = isRefused ? 'refused' : outageKind;
		if (kind === undefined || raisedAlerts.has(kind)) return undefined;
		raisedAlerts.add(kind);
		return kind;
	}
}

/** How many attempts may start at once after a time without attempts. */
const burstSize = 5;
/** The time between attempts after such a burst. */
const attemptIntervalMilliseconds = 100;

/** Limits the rate of attempts and keeps their order. */
export class ConnectRateLimiter {
	/** When the next attempt may start, in monotonic milliseconds. */
	#nextAt = -Infinity;

	/** Takes the next place. @returns how many milliseconds the attempt must wait for it */
	takePlace(clock: Clock): number {
		const now = clock.getMonotonicMilliseconds();
		// After a time without attempts, the places of a burst lie in the past, and their attempts
		// start at once.
		const startAt = Math.max(this.#nextAt, now - (burstSize - 1) * attemptIntervalMilliseconds);
		this.#nextAt = startAt + attemptIntervalMilliseconds;
		return Math.max(0, startAt - now);
	}
}

/**
 * Gets the limiter that all nodes of this process with the same service share.
 * @param key the ID of the credential with the address
 */
export function getConnectRateLimiter(key: string): ConnectRateLimiter {
	const limiters = getGlobalSingleton(
		'connectRateLimiters',
		() => new Map<string, ConnectRateLimiter>(),
	);
	return getOrAdd(limiters, key, () => new ConnectRateLimiter());
}
