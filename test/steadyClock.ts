import { type Clock, systemClock } from '../nodes/core/clock';

interface Timer {
	readonly at: number;
	readonly order: number;
	readonly call: () => void;
}

/** Real milliseconds that pass at most between two looks at the clock while somebody waits. */
const longestStep = 10;
/** Real milliseconds between two looks. */
const interval = 5;

/**
 * The system's clock for a node and its sockets in one process: a process that gets no CPU for a while stands still for
 * its timers, too, as it does for its sockets. So a time is a number of turns of the event loop, in each of which what has
 * arrived is read, and it does not matter how busy the machine is.
 */
export class SteadyClock implements Clock {
	readonly #factor: number;
	readonly #timers = new Set<Timer>();
	#now = 0;
	#order = 0;
	#jumped = 0;
	#lookedAt = performance.now();
	#nextLook:
		{ readonly at: number; timeout?: NodeJS.Timeout; immediate?: NodeJS.Immediate } | undefined;

	/** @param factor how many times as fast as the system's clock. With 0 it stands between its jumps */
	constructor(factor = 1) {
		this.#factor = factor;
	}

	getWallMilliseconds(): number {
		return Date.now() + this.#jumped;
	}

	getMonotonicMilliseconds(): number {
		this.#look();
		return this.#now;
	}

	callAfter(milliseconds: number, call: () => void): () => void {
		this.#look();
		const timer: Timer = { at: this.#now + milliseconds, order: this.#order++, call };
		this.#timers.add(timer);
		this.#planLook();
		return () => {
			this.#timers.delete(timer);
			if (this.#timers.size === 0) this.stop();
		};
	}

	/** Timers that have not fired. */
	get pending(): number {
		return this.#timers.size;
	}

	/** Moves the time forward at once. */
	jump(milliseconds: number): void {
		this.#jumped += milliseconds;
		this.#now += milliseconds;
		this.#planLook();
	}

	/** No timer fires any more. */
	stop(): void {
		clearTimeout(this.#nextLook?.timeout);
		clearImmediate(this.#nextLook?.immediate);
		this.#nextLook = undefined;
	}

	#look(): void {
		const seen = performance.now();
		const passed = seen - this.#lookedAt;
		this.#lookedAt = seen;
		const isWaitedFor = this.#timers.size > 0;
		this.#now += (isWaitedFor ? Math.min(passed, longestStep) : passed) * this.#factor;
	}

	/** Unless a look is planned that comes in time for the next timer. */
	#planLook(): void {
		if (this.#timers.size === 0) return;
		const nextAt = Math.min(...[...this.#timers].map(({ at }) => at));
		const left = Math.max(0, nextAt - this.#now);
		if (left > 0 && this.#factor === 0) return;
		const wait = left === 0 ? 0 : Math.min(interval, left / this.#factor);
		const at = performance.now() + wait;
		if (this.#nextLook && this.#nextLook.at <= at) return;
		this.stop();
		// Before the immediate, what has arrived is read, as the product's own clock has it.
		const timeout = setTimeout(() => {
			this.#nextLook = { at, immediate: setImmediate(this.#callDue) };
		}, wait);
		this.#nextLook = { at, timeout };
	}

	readonly #callDue = () => {
		this.#nextLook = undefined;
		this.#look();
		const due = [...this.#timers]
			.filter(({ at }) => at <= this.#now)
			.sort((a, b) => a.at - b.at || a.order - b.order);
		for (const timer of due) if (this.#timers.delete(timer)) timer.call();
		this.#planLook();
	};
}

/** Gives the product a steady clock for the tests of a file. */
export function useSteadyClock(): SteadyClock {
	const clock = new SteadyClock();
	const real = { ...systemClock };
	beforeAll(() => {
		// Earlier tests in this process may have planned something by the system's clock.
		clock.jump(real.getMonotonicMilliseconds());
		Object.assign(systemClock, {
			getMonotonicMilliseconds: () => clock.getMonotonicMilliseconds(),
			callAfter: clock.callAfter.bind(clock),
		});
	});
	afterAll(() => {
		clock.stop();
		Object.assign(systemClock, real);
	});
	return clock;
}
