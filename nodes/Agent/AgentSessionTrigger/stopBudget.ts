import { type Clock, waitAtMost } from '../../core/clock';
import { getGlobalSingleton } from '../../core/runtime';

/**
 * The time limit for all stops in a period together. n8n stops one trigger after another, and exits
 * after 30 s.
 */
const stopBudgetMilliseconds = 10_000;
const stopPeriodMilliseconds = 60_000;

/**
 * Triggers that stop within one minute share its first 10 s for waiting. The minute starts with the
 * first wait.
 */
export class StopBudget {
	/** Monotonic milliseconds. */
	#periodStartedAt = -Infinity;

	/**
	 * Waits until a promise settles, but not longer than the given time and the rest of the budget.
	 * @param promise never rejects
	 */
	async wait(clock: Clock, milliseconds: number, promise: Promise<unknown>): Promise<void> {
		const now = clock.getMonotonicMilliseconds();
		if (now - this.#periodStartedAt > stopPeriodMilliseconds) this.#periodStartedAt = now;
		const remaining = Math.max(0, this.#periodStartedAt + stopBudgetMilliseconds - now);
		await waitAtMost(clock, Math.min(milliseconds, remaining), promise);
	}
}

export const getStopBudget = () =>
	getGlobalSingleton('agentSessionTriggerStopBudget', () => new StopBudget());
