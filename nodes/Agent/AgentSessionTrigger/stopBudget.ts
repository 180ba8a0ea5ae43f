import type { Clock } from '../session/clock';

/** n8n stops one trigger after the other, and gives itself 30 s to end with all of them. */
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

const slot = Symbol.for('n8n-nodes-agent-workspace.sessionTriggerStops');

/** In a global slot: n8n may load the package again, while triggers of the first load are still active. */
export function spentInProcess(): Spent {
	const holder = globalThis as { [slot]?: Spent };
	return (holder[slot] ??= { since: -Infinity, milliseconds: 0 });
}
