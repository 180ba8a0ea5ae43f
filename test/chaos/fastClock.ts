import type { Clock } from '../../nodes/core/clock';

interface Timer {
	readonly at: number;
	readonly call: () => void;
	handle: NodeJS.Timeout | undefined;
}

/** The system's clock, faster, so that 45 s pass in two; and it can jump. With a factor of 0 it stands between its jumps. */
export class FastClock implements Clock {
	readonly #factor: number;
	#jumped = 0;
	readonly #timers = new Set<Timer>();

	constructor(factor = 20) {
		this.#factor = factor;
	}

	getWallMilliseconds(): number {
		return Date.now() + this.#jumped;
	}

	getMonotonicMilliseconds(): number {
		return performance.now() * this.#factor + this.#jumped;
	}

	callAfter(milliseconds: number, call: () => void): () => void {
		const timer: Timer = {
			at: this.getMonotonicMilliseconds() + milliseconds,
			call,
			handle: undefined,
		};
		this.#timers.add(timer);
		this.#arm(timer);
		return () => {
			clearTimeout(timer.handle);
			this.#timers.delete(timer);
		};
	}

	/** Timers that have not fired. */
	get pending(): number {
		return this.#timers.size;
	}

	/** Moves the time forward at once. */
	jump(milliseconds: number): void {
		this.#jumped += milliseconds;
		for (const timer of this.#timers) this.#arm(timer);
	}

	#arm(timer: Timer): void {
		clearTimeout(timer.handle);
		const left = Math.max(0, timer.at - this.getMonotonicMilliseconds());
		if (left > 0 && this.#factor === 0) return;
		timer.handle = setTimeout(
			() => {
				this.#timers.delete(timer);
				timer.call();
			},
			left === 0 ? 0 : left / this.#factor,
		);
	}
}
