import { BoundedMap, type Clock } from '../../core/runtime';

/** Google lets a user read and write once a second in the long run: more turns than that soon use up a minute's quota. */
const turnMilliseconds = 1000;
/** So many turns may follow each other at once. */
const freeTurns = 3;

/** The pace of turns at a spreadsheet that several runs want. Those who wait longer for one go together in it. */
export class TurnPace {
	readonly #clock: Clock;
	/** The time up to which the turns at a spreadsheet have used its quota. */
	readonly #usedUntil = new BoundedMap<string, number>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** @returns the milliseconds that a turn has to wait for: none if its run found nobody before it, however soon it comes after another */
	takeTurn(at: string, hadToWait: boolean): number {
		const now = this.#clock.getMonotonicMilliseconds();
		const used = Math.max(this.#usedUntil.get(at) ?? 0, now);
		const free = freeTurns * turnMilliseconds;
		const wait = hadToWait ? Math.max(0, used - now - free) : 0;
		this.#usedUntil.set(at, Math.min(used, now + wait + free) + turnMilliseconds);
		return wait;
	}
}
