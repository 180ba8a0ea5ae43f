import { getOrAdd } from '../../core/maps';
import type { Clock } from '../../core/clock';
import { getGlobalSingleton } from '../../core/globalSingleton';
import { drawJitterMilliseconds } from '../../http/loop';
import { type CloseReason, findRetryAfter, isTemporaryStatus, isTooLarge } from './closeReason';

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
	/**
	 * One attempt, after 1 to 2 s, with credentials that are read again. After the next refusal of
	 * the outage, `longBackoff`.
	 */
	| 'freshCredentials'
	/** 5 to 10 s, then twice as long with each attempt, up to 15 minutes. */
	| 'longBackoff';

const longBackoffCloseCodes = [1002, 1003, 1007, 1008, 1010];

/**
 * Decides how to reconnect. Unknown close codes mean `backoff`, and so does 1000, because servers
 * and load balancers use it for any close.
 */
export function decideRetry(closeReason: CloseReason): RetryDecision {
	const { kind } = closeReason;
	if (kind === 'credentials') return closeReason.needsUser ? 'longBackoff' : 'backoff';
	if (kind === 'network') {
		const { category } = closeReason.error;
		if (category === 'blocked') return 'longBackoff';
		// While a proxy starts, it may have another certificate for seconds.
		return category === 'certificate' ? 'freshCredentials' : 'backoff';
	}
	if (kind === 'closeFrame' && longBackoffCloseCodes.includes(closeReason.code))
		return 'longBackoff';
	if (kind === 'response' && !isTemporaryStatus(closeReason.response.statusCode))
		return 'freshCredentials';
	return 'backoff';
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
	 * Whether to alert the user: the service refuses the channel (an attempt of the long backoff
	 * failed, or the credentials are wrong), or the outage has lasted 5 minutes. True once in an
	 * outage for each of the two.
	 */
	readonly mustAlert: boolean;
}

/**
 * From this many in a row on, the long backoff applies, because a server that repeats unread
 * messages repeats such a frame.
 */
const maxTooLargeCount = 3;

/** Builds what is known about an outage that begins at this time, in monotonic milliseconds. */
const beginOutage = (startedAt: number) => ({
	startedAt,
	/** Each kind of alert is raised once per outage. */
	raisedAlerts: new Set<'refused' | 'outage'>(),
	/**
	 * The number of delays of the backoff since it last began. It sets the limit of the next delay.
	 */
	backoffDelayCount: 0,
	/**
	 * The number of delays of the long backoff. 0 means that it has not begun. Once begun, it
	 * applies to all attempts until the outage ends.
	 */
	longBackoffDelayCount: 0,
	/** Whether an attempt has followed a refusal with fresh credentials. */
	hasReadFreshCredentials: false,
	/** How many channels in a row ended with a frame that was too large. */
	tooLargeCount: 0,
});

type Outage = ReturnType<typeof beginOutage>;

export type ReconnectPlanner = ReturnType<typeof createReconnectPlanner>;

/**
 * Decides from the history of a session when the next attempt starts and what causes an alert.
 * @param maxDelaySeconds the limit for a delay of the backoff, unless the service requires more
 */
export function createReconnectPlanner(
	maxDelaySeconds: number,
	clock: Clock,
	random: () => number,
) {
	/** Undefined until the first failure. */
	let currentOutage: Outage | undefined;
	let openedAt: number | undefined;
	let hasReceivedFrame = false;

	function recordOpen(): void {
		openedAt = clock.getMonotonicMilliseconds();
		hasReceivedFrame = false;
	}

	function recordFrame(): void {
		hasReceivedFrame = true;
	}

	function planNextAttempt(closeReason: CloseReason): NextAttempt {
		const now = clock.getMonotonicMilliseconds();
		if (openedAt !== undefined) forgetEarlierFailures(now - openedAt);
		openedAt = undefined;
		const isFirstOfOutage = currentOutage === undefined;
		const outage = (currentOutage ??= beginOutage(now));
		const decision = decideInOutage(closeReason, outage);
		const delayMilliseconds = drawDelay(closeReason, decision, outage);
		const mustAlert = takeDueAlert(closeReason, now, outage);
		return { decision, delayMilliseconds, isFirstOfOutage, mustAlert };
	}

	/** Forgets the outage or its backoff, if a channel that was open for this long has ended it. */
	function forgetEarlierFailures(openMilliseconds: number): void {
		if (openMilliseconds >= stableChannelMilliseconds) currentOutage = undefined;
		else if (currentOutage && hasReceivedFrame && openMilliseconds >= backoffResetMilliseconds)
			currentOutage.backoffDelayCount = 0;
	}

	/** Draws a random delay that is at least as long as the server asked for, and counts it. */
	function drawDelay(closeReason: CloseReason, decision: RetryDecision, outage: Outage): number {
		const requested = Math.min(findRetryAfter(closeReason) ?? 0, maxDelayMilliseconds);
		if (outage.longBackoffDelayCount > 0 || decision === 'longBackoff')
			return Math.max(requested, drawLongDelay(outage.longBackoffDelayCount++));
		const drawJitter = (delayCount: number) =>
			drawJitterMilliseconds(delayCount, maxDelaySeconds * 1000, random);
		// A random time is added, so that clients with the same Retry-After do not come back at the
		// same moment.
		if (decision === 'freshCredentials')
			return requested + rereadDelayMilliseconds + drawJitter(0);
		return requested + drawJitter(outage.backoffDelayCount++);
	}

	/**
	 * Draws a delay between half of the limit and the limit, so that a deployment of a few seconds
	 * is over after the first one.
	 */
	function drawLongDelay(delayCount: number): number {
		const doubled = longBackoffBaseMilliseconds * 2 ** delayCount;
		const limit = Math.min(maxDelayMilliseconds, doubled);
		return Math.floor((limit / 2) * (1 + random()));
	}

	return { recordOpen, recordFrame, planNextAttempt };
}

/**
 * Decides as `decideRetry` does, unless the earlier failures of the outage call for the long
 * backoff. Records the failure in the outage.
 */
function decideInOutage(closeReason: CloseReason, outage: Outage): RetryDecision {
	outage.tooLargeCount = isTooLarge(closeReason) ? outage.tooLargeCount + 1 : 0;
	if (outage.tooLargeCount >= maxTooLargeCount) return 'longBackoff';
	const decision = decideRetry(closeReason);
	if (decision !== 'freshCredentials') return decision;
	if (outage.hasReadFreshCredentials) return 'longBackoff';
	outage.hasReadFreshCredentials = true;
	return decision;
}

/** Marks the alert that is due as raised. @returns whether one is raised just now */
function takeDueAlert(closeReason: CloseReason, now: number, outage: Outage): boolean {
	const needsUser = closeReason.kind === 'credentials' && closeReason.needsUser;
	// The first delay of the long backoff may have been drawn just now. A second one means that the
	// attempt after the first has failed.
	const isRefused = needsUser || outage.longBackoffDelayCount > 1;
	const isLong = now - outage.startedAt >= outageAlertMilliseconds;
	if (!isRefused && !isLong) return false;
	const kind = isRefused ? 'refused' : 'outage';
	if (outage.raisedAlerts.has(kind)) return false;
	outage.raisedAlerts.add(kind);
	return true;
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
