import { processSlot } from '../../core/processSlot';
import type { Clock } from '../session/clock';

/** n8n stops one trigger after another and exits after 30 s in all. */
const budgetMilliseconds = 10_000;
const periodMilliseconds = 60_000;

export interface Spent {
	/** Of the clock that does not jump. */
	since: number;
	milliseconds: number;
}

/** How long the stops of a minute may wait for executions, all of them together. */
export class StopBudget {
	readonly #clock: Clock;
	readonly #spent: Spent;

	constructor(clock: Clock, spent: Spent) {
		this.#clock = clock;
		this.#spent = spent;
	}

	/** In milliseconds. */
	left(): number {
		const now = this.#clock.monotonicMilliseconds();
		if (now - this.#spent.since > periodMilliseconds) {
			this.#spent.since = now;
			this.#spent.milliseconds = 0;
		}
		return Math.max(0, budgetMilliseconds - this.#spent.milliseconds);
	}

	spend(milliseconds: number): void {
		this.#spent.milliseconds += milliseconds;
	}
}

export const spentInProcess = () =>
	processSlot<Spent>('sessionTriggerStops', () => ({ since: -Infinity, milliseconds: 0 }));
