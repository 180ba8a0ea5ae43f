import type { Failure } from '../core/failure';
import { paceSettings, type PaceSettings } from './paceSettings';
import { Quota } from './quota';

export interface Entry {
	/** How much of the quota the request uses. */
	readonly units: number;
	/** How long refusals may delay it, in milliseconds. */
	readonly maxWaitMilliseconds: number;
	readonly signal: AbortSignal | undefined;
}

interface Waiting extends Entry {
	readonly enteredAt: number;
	readonly admit: () => void;
	readonly giveUp: (error: Error) => void;
}

/** The service refuses everything for longer than the request may wait. The request was not sent. */
export class HeldTooLong extends Error {}

/** Gmail answers "Too many concurrent requests for user" below its quota; 4 to 6 at once are known to work. */
const firstWidth = 5;
const largestWidth = 20;
/**
 * The first wait after a refusal that names no time, as a fraction of the minute. It doubles with each
 * further one in a row.
 */
const firstWait = 1 / 60;

/**
 * The pace of one credential's requests to one service, for the whole process: how many at once, and when to
 * pause. It starts with a few, doubles while the service accepts them, and halves after a refusal. After a
 * refusal, all requests wait, then a single one probes for all.
 *
 * Quotas differ between projects and are not known, so requests are not slowed down in advance. But at the
 * documented quota, one request goes ahead alone: if it is refused, that quota applies and is not exceeded
 * from then on.
 */
export class Pace {
	private readonly settings: PaceSettings;
	private readonly quota: Quota;
	private width = firstWidth;
	private running = 0;
	private readonly queue: Waiting[] = [];
	private coolUntil = 0;
	/**
	 * Refusals without a success in between. Those of requests that were in progress together count as one.
	 */
	private refusals = 0;
	private lastRefusal = -Infinity;
	private refusedSince: number | undefined;
	/** Requests accepted since the width changed. */
	private taken = 0;
	private halved = false;
	private wakesAt = Infinity;
	lastRefusalSaid: Failure | undefined;

	/** @param documentedUnits units per minute that the service's documentation allows */
	constructor(documentedUnits: number, settings: PaceSettings = paceSettings) {
		this.settings = settings;
		this.quota = new Quota(documentedUnits, settings.minute);
	}

	/** Time until which nothing is sent, on the pace's clock. */
	get pausedUntil(): number {
		return this.coolUntil;
	}

	get pauseMilliseconds(): number {
		return Math.max(0, this.coolUntil - this.settings.clock.now());
	}

	/**
	 * Resolves when the request may be sent. Every caller that enters must leave.
	 * @throws HeldTooLong, or the signal's reason
	 */
	async enter(entry: Entry): Promise<void> {
		const { signal } = entry;
		signal?.throwIfAborted();
		await new Promise<void>((resolve, reject) => {
			const stop = () => {
				this.queue.splice(this.queue.indexOf(waiting), 1);
				waiting.giveUp(new Error('aborted'));
			};
			const waiting: Waiting = {
				...entry,
				enteredAt: this.settings.clock.now(),
				admit: () => {
					signal?.removeEventListener('abort', stop);
					resolve();
				},
				giveUp: (error) => {
					signal?.removeEventListener('abort', stop);
					reject(error);
				},
			};
			signal?.addEventListener('abort', stop, { once: true });
			this.queue.push(waiting);
			this.giveUp();
			this.admit();
		});
	}

	leave(): void {
		this.running--;
		this.admit();
	}

	succeeded(): void {
		this.quota.succeeded(this.settings.clock.now());
		if (this.refusedSince === undefined && this.width < largestWidth) {
			this.taken++;
			if (this.taken >= this.width) {
				this.width = Math.min(largestWidth, this.halved ? this.width + 1 : this.width * 2);
				this.taken = 0;
			}
		}
		this.refusals = 0;
		this.refusedSince = undefined;
		this.admit();
	}

	/**
	 * @param startedAt when the refused request was sent
	 * @param said the service's answer
	 */
	refused(startedAt: number, said: Failure): void {
		const asked = said.retryAfterMilliseconds;
		this.lastRefusalSaid = said;
		const { clock, minute, random } = this.settings;
		const now = clock.now();
		this.refusedSince ??= now;
		if (startedAt > this.lastRefusal) {
			const window = Math.min(minute, minute * firstWait * 2 ** this.refusals);
			this.coolUntil = now + window * (0.5 + random() / 2);
			this.refusals++;
			this.lastRefusal = now;
			this.width = Math.max(1, Math.floor(this.width / 2));
			this.halved = true;
			this.taken = 0;
			this.quota.refused(now);
		}
		// A time more than a minute away is not about the shared quota, so it applies to the refused request
		// only.
		if (asked !== undefined && asked <= minute) this.coolUntil = Math.max(this.coolUntil, now + asked);
		this.giveUp();
		this.wakeAt(this.coolUntil);
	}

	/** A request that may not wait until the next one is sent fails immediately. */
	private giveUp(): void {
		const since = this.refusedSince ?? Infinity;
		const held = this.queue.filter(
			({ enteredAt, maxWaitMilliseconds }) =>
				Math.max(enteredAt, since) + maxWaitMilliseconds < this.coolUntil,
		);
		for (const waiting of held) {
			this.queue.splice(this.queue.indexOf(waiting), 1);
			waiting.giveUp(new HeldTooLong());
		}
	}

	private admit(): void {
		const now = this.settings.clock.now();
		for (let [next] = this.queue; next; [next] = this.queue) {
			const wait = this.waitFor(next.units, now);
			if (wait > 0) {
				this.wakeAt(now + wait);
				return;
			}
			if (this.running >= this.atOnce(next.units, now)) return;
			this.queue.shift();
			this.running++;
			this.quota.add(next.units, now);
			next.admit();
		}
	}

	private atOnce(units: number, now: number): number {
		if (this.refusedSince !== undefined) return 1;
		return this.quota.isTriedBy(units, now) ? 1 : this.width;
	}

	/** Milliseconds until another request may be sent. */
	private waitFor(units: number, now: number): number {
		return now < this.coolUntil ? this.coolUntil - now : this.quota.waitFor(units, now);
	}

	private wakeAt(time: number): void {
		if (time >= this.wakesAt) return;
		this.wakesAt = time;
		const { clock } = this.settings;
		const wake = () => {
			if (this.wakesAt === time) this.wakesAt = Infinity;
			this.admit();
		};
		void clock.sleep(Math.max(1, time - clock.now())).then(wake, wake);
	}
}
