import { type Clock, systemClock } from '../../core/clock';
import { getGlobalSingleton } from '../../core/runtime';
import { drawJitterMilliseconds } from '../../http/retry';
import * as closeReasons from './closeReason';

/** A channel that was open for this long ends the outage, and earlier failures no longer count. */
const stableChannelMilliseconds = 30_000;
/** A channel that brought a message ends the backoff after this time. Before, the message may be a mere greeting or an error. */
const backoffResetMilliseconds = 5000;
const baseMilliseconds = 1000;
/** The long backoff starts with seconds, because a deployment refuses connections for seconds, but a wrong key for days. */
const longBackoffBaseMilliseconds = 10_000;
/** The longest delay of the long backoff, and the longest that a server may ask for. */
const maxDelayMilliseconds = 15 * 60_000;
/** The delay before the single attempt with credentials read again. */
const rereadDelayMilliseconds = 1000;

interface ReconnectPolicy {
	readonly reconnectMaxDelaySeconds: number;
	readonly finalCloseCodes: readonly number[];
}

const outageAlertMilliseconds = 5 * 60_000;

export interface NextAttempt {
	readonly decision: closeReasons.RetryDecision;
	readonly delayMilliseconds: number;
	/** Whether the attempt follows the first failure of an outage. */
	readonly isFirst: boolean;
	/** `refused`: the first attempt of the long backoff failed, or credentials are wrong; `outage`: after 5 minutes. Once each per outage. */
	readonly alert: 'refused' | 'outage' | undefined;
}

/** What is known of an outage. A stable channel ends it. */
class OutageHistory {
	/** When its first failure came; undefined before. */
	startedAt: number | undefined;
	/** The kinds of alerts that have been raised. */
	readonly raisedAlerts = new Set<string>();
	/** Number of waits of the backoff since it last began. */
	backoffWaits = 0;
	/** Number of waits of the long backoff; 0 means that it does not apply. */
	longBackoffWaits = 0;
	/** The key of the refusal that was retried once. */
	retriedRefusal: string | undefined;
	/** How many channels in a row were closed by a message that is too large or malformed. */
	faultyFrames = 0;
}

/** Decides from the history of a session when the next attempt starts and what causes an alert. */
export class ReconnectPlanner {
	readonly #policy: ReconnectPolicy;
	readonly #clock: Clock;
	readonly #random: () => number;
	#outage = new OutageHistory();
	#openedAt: number | undefined;
	#hasReceivedMessage = false;

	constructor(policy: ReconnectPolicy, clock: Clock, random: () => number) {
		this.#policy = policy;
		this.#clock = clock;
		this.#random = random;
	}

	recordOpen(): void {
		this.#openedAt = this.#clock.getMonotonicMilliseconds();
		this.#hasReceivedMessage = false;
	}

	recordMessage(): void {
		this.#hasReceivedMessage = true;
	}

	/** Plans the next attempt after a channel closed or did not open. */
	planNextAttempt(closeReason: closeReasons.CloseReason): NextAttempt {
		const now = this.#clock.getMonotonicMilliseconds();
		this.#forgetEndedOutage(now);
		const outage = this.#outage;
		const isFirst = outage.startedAt === undefined;
		outage.startedAt ??= now;
		outage.faultyFrames = closeReasons.isClosedByFaultyFrame(closeReason) ? outage.faultyFrames + 1 : 0;
		const decision = closeReasons.decideRetry(closeReason, outage, this.#policy.finalCloseCodes);
		if (decision !== 'retry') outage.retriedRefusal = closeReasons.getRefusalKey(closeReason);
		const delayMilliseconds = this.#computeDelay(decision, closeReason);
		const isMistake = closeReason.kind === 'credentials' && closeReason.isMistake;
		const alert = this.#takeDueAlert(now, outage.longBackoffWaits > 1 || isMistake);
		return { decision, delayMilliseconds, isFirst, alert };
	}

	/** A stable channel has ended the outage. One that brought a message has ended the backoff before that, but not the long backoff. */
	#forgetEndedOutage(now: number): void {
		const openMilliseconds = now - (this.#openedAt ?? now);
		this.#openedAt = undefined;
		if (openMilliseconds >= stableChannelMilliseconds) this.#outage = new OutageHistory();
		else if (this.#hasReceivedMessage && openMilliseconds >= backoffResetMilliseconds)
			this.#outage.backoffWaits = 0;
	}

	/** Waits at least as long as the server asked for, up to 15 minutes. */
	#computeDelay(decision: closeReasons.RetryDecision, closeReason: closeReasons.CloseReason): number {
		const retryAfter = closeReasons.parseCloseRetryAfter(closeReason, this.#clock.getWallMilliseconds()) ?? 0;
		const asked = Math.min(retryAfter, maxDelayMilliseconds);
		const outage = this.#outage;
		if (outage.longBackoffWaits > 0 || decision === 'final') {
			const doubled = longBackoffBaseMilliseconds * 2 ** outage.longBackoffWaits++;
			const window = Math.min(maxDelayMilliseconds, doubled);
			// Waits at least half of the window, so that a deployment of a few seconds is over after the first wait.
			return Math.max(asked, Math.floor((window / 2) * (1 + this.#random())));
		}
		// The jitter is added, so that clients that got the same Retry-After do not come back at the same moment.
		if (decision === 'retryOnce') {
			return asked + rereadDelayMilliseconds + Math.floor(this.#random() * baseMilliseconds);
		}
		const bounds = { baseMilliseconds, capMilliseconds: this.#policy.reconnectMaxDelaySeconds * 1000 };
		return asked + drawJitterMilliseconds(outage.backoffWaits++, bounds, this.#random);
	}

	/** @returns the kind of alert that is due; each kind once per outage */
	#takeDueAlert(now: number, isRefused: boolean): NextAttempt['alert'] {
		const { startedAt: since = now, raisedAlerts: alerted } = this.#outage;
		const kind = isRefused ? 'refused' : now - since >= outageAlertMilliseconds ? 'outage' : undefined;
		if (kind === undefined || alerted.has(kind)) return undefined;
		alerted.add(kind);
		return kind;
	}
}

/** How many attempts may start at once after a time without any. */
const burstSize = 5;
/** The time between attempts after that. */
const attemptIntervalMilliseconds = 100;

/** Limits the rate of attempts and keeps their order. */
export class ConnectRateLimiter {
	readonly #clock: Clock;
	/** The time of the next attempt if none comes for a while. */
	#nextAt = -Infinity;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** Calls back at once or later. @returns a function that cancels a waiting call and gives its place to the next one */
	schedule(call: () => void): () => void {
		const now = this.#clock.getMonotonicMilliseconds();
		const startAt = Math.max(this.#nextAt, now - (burstSize - 1) * attemptIntervalMilliseconds);
		this.#nextAt = startAt + attemptIntervalMilliseconds;
		let isWaiting = true;
		const cancel = this.#clock.callAfter(Math.max(0, startAt - now), () => {
			isWaiting = false;
			call();
		});
		return () => {
			if (isWaiting) this.#nextAt -= attemptIntervalMilliseconds;
			isWaiting = false;
			cancel();
		};
	}
}

/** All nodes of this process that connect to the same service share a limiter. @param key ID of the credential with its address */
export function getConnectRateLimiter(key: string): ConnectRateLimiter {
	const limiters = getGlobalSingleton('connectRateLimiters', () => new Map<string, ConnectRateLimiter>());
	const rateLimiter = limiters.get(key) ?? new ConnectRateLimiter(systemClock);
	limiters.set(key, rateLimiter);
	return rateLimiter;
}
