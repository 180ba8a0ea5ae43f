import { BoundedMap } from '../../core/boundedMap';
import type { Clock } from '../../core/clock';

/** Half of what Google lets a user read and write in the long run, so that the other half is left for other work. */
const paceMilliseconds = 2000;
/** So many groups may follow each other at once. */
const freeGroups = 5;

/** The pace of groups at a spreadsheet that many runs want. Those that wait longer for its lock go together. */
export class LockPace {
	readonly #clock: Clock;
	/** The time up to which a spreadsheet's share of the quota is used, by its lock. */
	readonly #usedUntil = new BoundedMap<string, number>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** @returns the milliseconds to wait: none for a few runs, however soon they come after others */
	take(lock: string, isCrowded: boolean): number {
		const now = this.#clock.getMonotonicMilliseconds();
		const used = Math.max(this.#usedUntil.get(lock) ?? 0, now);
		const free = freeGroups * paceMilliseconds;
		const wait = isCrowded ? Math.max(0, used - now - free) : 0;
		this.#usedUntil.set(lock, Math.min(used, now + wait + free) + paceMilliseconds);
		return wait;
	}
}
