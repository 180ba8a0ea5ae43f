import { setTimeout as timer } from 'node:timers/promises';

import type { Failure } from '../core/errors';
import { named } from '../fields/naming';
import { Fault, stoppedFault } from './retry';

export interface PaceClock {
	/** Milliseconds, from a clock that never jumps. */
	now(): number;
	/** Must not keep the process alive. Rejects when aborted. */
	sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const paceClock: PaceClock = {
	now: () => performance.now(),
	sleep: async (milliseconds, signal) => {
		await timer(milliseconds, undefined, { signal, ref: false });
	},
};

export interface PaceSettings {
	readonly clock: PaceClock;
	/** Period over which the service counts, in milliseconds. */
	readonly minute: number;
	/** Returns 0 <= x < 1. */
	readonly random: () => number;
}

export const paceSettings: PaceSettings = { clock: paceClock, minute: 60_000, random: Math.random };

/**
 * What a service accepted within its last minute, in units of its quota. Quotas differ between projects and
 * are not published: the documented one applies once a refusal confirms it, and never once the service has
 * accepted more.
 */
export class Quota {
	readonly #documentedUnits: number;
	/** Period over which the service counts, in milliseconds. */
	readonly #minute: number;
	readonly #sent: Array<{ readonly at: number; readonly units: number }> = [];
	#sentUnits = 0;
	/** Undefined while unknown; Infinity if more than the documented quota is allowed. */
	#limit: number | undefined;

	constructor(documentedUnits: number, minute: number) {
		this.#documentedUnits = documentedUnits;
		this.#minute = minute;
	}

	/** Records that a request is sent. */
	add(units: number, now: number): void {
		this.#sent.push({ at: now, units });
		this.#sentUnits += units;
	}

	succeeded(now: number): void {
		// A little more, because the service's minute does not start when ours does.
		if (this.#limit === undefined && this.#used(now) > this.#documentedUnits * 1.05) this.#limit = Infinity;
	}

	refused(now: number): void {
		if (this.#limit === undefined && this.#used(now) >= this.#documentedUnits)
			this.#limit = this.#documentedUnits;
	}

	/** Whether this request will show if the documented quota applies. */
	isTriedBy(units: number, now: number): boolean {
		return this.#limit === undefined && this.#used(now) + units > this.#documentedUnits;
	}

	/** Milliseconds until there is room for a request. */
	waitFor(units: number, now: number): number {
		if (this.#limit === undefined || this.#limit === Infinity) return 0;
		let used = this.#used(now);
		for (const { at, units: gone } of this.#sent) {
			if (used === 0 || used + units <= this.#limit) return Math.max(0, at - now);
			used -= gone;
			if (used === 0 || used + units <= this.#limit) return at + this.#minute - now;
		}
		return 0;
	}

	#used(now: number): number {
		const first = this.#sent.findIndex(({ at }) => now - at < this.#minute);
		const old = first === 0 ? [] : this.#sent.splice(0, first === -1 ? this.#sent.length : first);
		for (const { units } of old) this.#sentUnits -= units;
		return this.#sentUnits;
	}
}

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
