import type { Clock } from '../../core/clock';

/** Executions count as lost after this many times the longest execution so far, but not before `minLostMilliseconds`. */
const lostFactor = 10;
const minLostMilliseconds = 30_000;
/** The same as long as no execution has ended, so that nobody knows how long they take. */
const firstLostMilliseconds = 15 * 60_000;

interface WaitActions {
	/** Whether messages wait for the end of an execution. */
	isBlocked(): boolean;
	/** Called if messages wait, and no execution has ended for far longer than executions take. */
	reportLost(count: number): void;
}

/**
 * Waits for the ends of executions. n8n never reports the end of an execution whose job is gone, as after Redis has lost its data. So if
 * messages wait while nothing ends, the executions count as ended. Their messages are not started again.
 */
export class ExecutionWaits {
	readonly #actions: WaitActions;
	readonly #clock: Clock;
	/** Whether a lost execution gives its place to the next one. If not, it is only reported, so that the order is kept. */
	readonly #freesPlaces: boolean;
	/** The functions that end the waits. */
	readonly #ends = new Set<() => void>();
	#longestMilliseconds: number | undefined;
	#cancelCheck = () => {};
	#isStopped = false;

	constructor(actions: WaitActions, clock: Clock, freesPlaces: boolean) {
		this.#actions = actions;
		this.#clock = clock;
		this.#freesPlaces = freesPlaces;
	}

	/** Waits until the execution has ended or counts as ended. @param executionEnded never rejects */
	async waitForEnd(executionEnded: Promise<unknown>, maxMilliseconds: number): Promise<void> {
		if (this.#isStopped) return;
		const begunAt = this.#clock.getMonotonicMilliseconds();
		await new Promise<void>((resolve) => {
			const end = () => {
				cancelLimit();
				this.#ends.delete(end);
				this.#scheduleCheck();
				resolve();
			};
			const cancelLimit = this.#clock.callAfter(maxMilliseconds, end);
			this.#ends.add(end);
			this.#scheduleCheck();
			void executionEnded.then(() => {
				if (this.#ends.has(end)) this.#recordDuration(begunAt);
				end();
			});
		});
	}

	/** Ends all waits, now and later. */
	stop(): void {
		this.#isStopped = true;
		for (const end of this.#ends) end();
	}

	#recordDuration(begunAt: number): void {
		const milliseconds = this.#clock.getMonotonicMilliseconds() - begunAt;
		this.#longestMilliseconds = Math.max(this.#longestMilliseconds ?? 0, milliseconds);
	}

	/** Starts the timer again, because an execution has begun or ended. */
	#scheduleCheck(): void {
		this.#cancelCheck();
		if (this.#ends.size === 0) return;
		const longest = this.#longestMilliseconds;
		const patience =
			longest === undefined
				? firstLostMilliseconds
				: Math.max(minLostMilliseconds, lostFactor * longest);
		this.#cancelCheck = this.#clock.callAfter(patience, () => {
			this.#checkForLost();
		});
	}

	#checkForLost(): void {
		if (!this.#actions.isBlocked()) {
			this.#scheduleCheck();
			return;
		}
		this.#actions.reportLost(this.#ends.size);
		if (this.#freesPlaces) for (const end of this.#ends) end();
	}
}
