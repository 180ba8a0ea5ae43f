import { setImmediate as turn } from 'node:timers/promises';

import type { Clock } from '../../nodes/core/clock';

interface Sleeper {
	readonly until: number;
	readonly wake: () => void;
}

/** Time that passes only when nothing else is left to do. */
export class VirtualClock implements Clock {
	private time = 0;
	private sleepers: Sleeper[] = [];

	now(): number {
		return this.time;
	}

	getMonotonicMilliseconds(): number {
		return this.time;
	}

	getWallMilliseconds(): number {
		return this.time;
	}

	callAfter(milliseconds: number, call: () => void): () => void {
		const sleeper = { until: this.time + Math.max(0, milliseconds), wake: call };
		this.sleepers.push(sleeper);
		return () => {
			this.sleepers = this.sleepers.filter((one) => one !== sleeper);
		};
	}

	sleep(milliseconds: number): Promise<void> {
		return new Promise((resolve) => {
			this.sleepers.push({ until: this.time + Math.max(0, milliseconds), wake: resolve });
		});
	}

	/** Lets time pass until the promise has settled. */
	async run<T>(promise: Promise<T>): Promise<T> {
		const state = { settled: false };
		const end = () => {
			state.settled = true;
		};
		promise.then(end, end);
		await turn();
		while (!state.settled) {
			if (!this.next(Infinity))
				throw new Error('Nobody sleeps, and nothing happens any more');
			await turn();
		}
		return await promise;
	}

	async advance(milliseconds: number): Promise<void> {
		const until = this.time + milliseconds;
		await turn();
		while (this.next(until)) await turn();
		this.time = until;
	}

	/** Wakes the sleepers whose time comes first. @returns false if that time is after `latest` */
	private next(latest: number): boolean {
		const until = Math.min(...this.sleepers.map((sleeper) => sleeper.until));
		if (until > latest || until === Infinity) return false;
		this.time = Math.max(this.time, until);
		const due = this.sleepers.filter((sleeper) => sleeper.until <= this.time);
		this.sleepers = this.sleepers.filter((sleeper) => sleeper.until > this.time);
		for (const { wake } of due) wake();
		return true;
	}
}
