import { setTimeout as timer } from 'node:timers/promises';

import type { Failure } from '../items/failure';

export interface PaceClock {
	/** Milliseconds of a clock that never jumps. */
	now(): number;
	/** Never keeps the process alive; rejects when aborted. */
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
	/** Over which the service counts; milliseconds. */
	readonly minute: number;
	/** Gives 0 <= x < 1. */
	readonly random: () => number;
}

export const paceSettings: PaceSettings = { clock: paceClock, minute: 60_000, random: Math.random };

export interface Entry {
	/** What the request costs of the quota. */
	readonly units: number;
	/** How long refusals may hold it up, milliseconds. */
	readonly maxWaitMilliseconds: number;
	readonly signal: AbortSignal | undefined;
}

interface Waiting extends Entry {
	readonly enteredAt: number;
	readonly admit: () => void;
	readonly giveUp: (error: Error) => void;
}

/** The service refuses everything, and will for longer than the request may wait. It was not sent. */
export class HeldTooLong extends Error {}

/** Gmail answers "Too many concurrent requests for user" below its quota; 4 to 6 at once are known to work. */
const firstWidth = 5;
const largestWidth = 20;
/** Of the first wait after a refusal that names none, as a part of the minute; doubled by each further one in a row. */
const firstWait = 1 / 60;

/**
 * How fast one credential may ask one service, for all of a process: how many requests at once, and when none at all. It begins with a
 * few, doubles while the service takes them, and halves when it refuses. After a refusal all wait, then one asks for all.
 *
 * Quotas differ between projects and nobody tells them, so that requests are not slowed down beforehand. But where the documented
 * quota ends, one request goes ahead alone: if it is refused, that quota holds, and from then on it is not exceeded any more.
 */
export class Pace {
	private readonly settings: PaceSettings;
	private readonly documentedUnits: number;
	private width = firstWidth;
	private running = 0;
	private readonly queue: Waiting[] = [];
	/** What was sent within the last minute, and its units in all. */
	private readonly sent: Array<{ readonly at: number; readonly units: number }> = [];
	private sentUnits = 0;
	/** Undefined while the service has not shown whether the documented quota holds; Infinity where it has taken more. */
	private quota: number | undefined;
	private coolUntil = 0;
	/** Refusals without a success between them; those of requests that were out together count as one. */
	private refusals = 0;
	private lastRefusal = -Infinity;
	private refusedSince: number | undefined;
	/** Requests that were taken since the width changed. */
	private taken = 0;
	private halved = false;
	private wakesAt = Infinity;
	lastRefusalSaid: Failure | undefined;

	/** @param documentedUnits what the service's documentation allows within a minute */
	constructor(documentedUnits: number, settings: PaceSettings = paceSettings) {
		this.documentedUnits = documentedUnits;
		this.settings = settings;
	}

	/** Until when nothing is sent, as the clock counts. */
	get pausedUntil(): number {
		return this.coolUntil;
	}

	get pauseMilliseconds(): number {
		return Math.max(0, this.coolUntil - this.settings.clock.now());
	}

	/**
	 * Resolves when the request may go out. Whoever entered leaves.
	 * @throws HeldTooLong, and the signal's reason
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
		const used = this.usedUnits(this.settings.clock.now());
		// A little more, because the service's minute does not begin when ours does.
		if (this.quota === undefined && used > this.documentedUnits * 1.05) this.quota = Infinity;
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
	 * @param startedAt when the refused request went out
	 * @param said what the service answered
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
			const used = this.usedUnits(now);
			if (this.quota === undefined && used >= this.documentedUnits) this.quota = this.documentedUnits;
		}
		// A time further away than a minute is no matter of the quota that all share: it holds for the refused request alone.
		if (asked !== undefined && asked <= minute) this.coolUntil = Math.max(this.coolUntil, now + asked);
		this.giveUp();
		this.wakeAt(this.coolUntil);
	}

	/** Who may not wait until the next request goes out does not wait at all. */
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
			this.sent.push({ at: now, units: next.units });
			this.sentUnits += next.units;
			next.admit();
		}
	}

	private atOnce(units: number, now: number): number {
		if (this.refusedSince !== undefined) return 1;
		const atTheEdge = this.quota === undefined && this.usedUnits(now) + units > this.documentedUnits;
		return atTheEdge ? 1 : this.width;
	}

	/** Milliseconds until there is room again. */
	private waitFor(units: number, now: number): number {
		if (now < this.coolUntil) return this.coolUntil - now;
		if (this.quota === undefined || this.quota === Infinity) return 0;
		let used = this.usedUnits(now);
		for (const { at, units: gone } of this.sent) {
			if (used === 0 || used + units <= this.quota) return Math.max(0, at - now);
			used -= gone;
			if (used === 0 || used + units <= this.quota) return at + this.settings.minute - now;
		}
		return 0;
	}

	private usedUnits(now: number): number {
		const { minute } = this.settings;
		const first = this.sent.findIndex(({ at }) => now - at < minute);
		const old = first === 0 ? [] : this.sent.splice(0, first === -1 ? this.sent.length : first);
		for (const { units } of old) this.sentUnits -= units;
		return this.sentUnits;
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
