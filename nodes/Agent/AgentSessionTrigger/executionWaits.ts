import type { Clock } from '../../core/clock';

/** How many of the last executions tell how long an execution of this workflow usually takes. */
const rememberedDurations = 10;
/** An execution counts as lost after this many times the longest of these durations, but not before `minLostMilliseconds`. */
const lostFactor = 10;
const minLostMilliseconds = 30_000;

interface ExecutionWait {
	readonly begunAt: number;
	readonly end: () => void;
}

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
	readonly #waits = new Set<ExecutionWait>();
	readonly #durations: number[] = [];
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
		await new Promise<void>((resolve) => {
			const wait: ExecutionWait = {
				begunAt: this.#clock.getMonotonicMilliseconds(),
				end: () => {
					cancelLimit();
					this.#waits.delete(wait);
					this.#scheduleCheck();
					resolve();
				},
			};
			const cancelLimit = this.#clock.callAfter(maxMilliseconds, wait.end);
			this.#waits.add(wait);
			this.#scheduleCheck();
			void executionEnded.then(() => {
				if (this.#waits.has(wait)) this.#recordDuration(wait);
				wait.end();
			});
		});
	}

	/** Ends all waits, now and later. */
	stop(): void {
		this.#isStopped = true;
		for (const { end } of this.#waits) end();
	}

	#recordDuration({ begunAt }: ExecutionWait): void {
		this.#durations.push(this.#clock.getMonotonicMilliseconds() - begunAt);
		if (this.#durations.length > rememberedDurations) this.#durations.shift();
	}

	/** Starts the timer again, because an execution has begun or ended. */
	#scheduleCheck(): void {
		this.#cancelCheck();
		if (this.#waits.size === 0 || this.#durations.length === 0) return;
		const patience = Math.max(minLostMilliseconds, lostFactor * Math.max(...this.#durations));
		this.#cancelCheck = this.#clock.callAfter(patience, () => {
			this.#checkForLost();
		});
	}

	#checkForLost(): void {
		if (!this.#actions.isBlocked()) {
			this.#scheduleCheck();
			return;
		}
		this.#actions.reportLost(this.#waits.size);
		if (!this.#freesPlaces) return;
		for (const { end } of this.#waits) end();
	}
}
