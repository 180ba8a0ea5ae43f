import { setImmediate as turn } from 'node:timers/promises';

import type { Clock } from '../../../nodes/core/clock';

interface Timer {
	readonly at: number;
	readonly order: number;
	readonly call: () => void;
}

/** Time that moves only when it is told to. */
export class FakeClock implements Clock {
	#now = 0;
	#order = 0;
	readonly #timers = new Set<Timer>();
	/** What the wall clock shows at 0. */
	readonly startedAt: number;

	constructor(startedAt = Date.UTC(2026, 0, 1)) {
		this.startedAt = startedAt;
	}

	getWallMilliseconds(): number {
		return this.startedAt + this.#now;
	}

	getMonotonicMilliseconds(): number {
		return this.#now;
	}

	callAfter(milliseconds: number, call: () => void): () => void {
		const timer = { at: this.#now + Math.max(0, milliseconds), order: this.#order++, call };
		this.#timers.add(timer);
		return () => {
			this.#timers.delete(timer);
		};
	}

	/** Timers that have not fired yet. */
	get pending(): number {
		return this.#timers.size;
	}

	/** Fires due timers in order, and lets what they start continue in between. */
	async advance(milliseconds: number): Promise<void> {
		const end = this.#now + milliseconds;
		await settled();
		for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
			this.#now = Math.max(this.#now, next.at);
			this.#timers.delete(next);
			next.call();
			await settled();
		}
		this.#now = end;
	}

	/** Lets time pass as if the process stood still: no timer fires before the end. */
	stall(milliseconds: number): void {
		this.#now += milliseconds;
	}

	#next(end: number): Timer | undefined {
		const due = [...this.#timers].filter(({ at }) => at <= end);
		return due.sort((a, b) => a.at - b.at || a.order - b.order)[0];
	}
}

/** Lets promises that are due settle. */
export async function settled(): Promise<void> {
	await turn();
}
