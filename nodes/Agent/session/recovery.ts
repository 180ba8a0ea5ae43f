import type { Clock } from './clock';
import { retryAfterOf } from './errors';
import type { Ending } from './closeReason';
import { Outage } from './outage';
import {
	afterEnding,
	afterLife,
	type Next,
	type ReconnectPolicy,
	stableMilliseconds,
	untroubled,
} from './reconnect';

export interface Recovering extends Pick<Next, 'verdict' | 'delayMilliseconds'> {
	/** Whether the next attempt is one of the slow lane. */
	readonly slowLane: boolean;
	/** Whether it is the first failure of an outage. */
	readonly isFirst: boolean;
	/** The problem that causes a failed execution now. */
	readonly alert: 'refused' | 'outage' | undefined;
}

/** The history of a session: decides when the next attempt starts and what causes an alert. */
export class Recovery {
	readonly #policy: ReconnectPolicy;
	readonly #clock: Clock;
	readonly #random: () => number;
	readonly #outage = new Outage();
	#memory = untroubled;
	#openedAt: number | undefined;
	#broughtMessage = false;
	#cancelStableTimer = () => {};

	constructor(policy: ReconnectPolicy, clock: Clock, random: () => number) {
		this.#policy = policy;
		this.#clock = clock;
		this.#random = random;
		this.#outage.begins(clock.monotonicMilliseconds());
	}

	opened(): void {
		this.#openedAt = this.#clock.monotonicMilliseconds();
		this.#broughtMessage = false;
		this.#cancelStableTimer = this.#clock.after(stableMilliseconds, () => {
			this.#memory = untroubled;
			this.#outage.ends();
		});
	}

	received(): void {
		this.#broughtMessage = true;
	}

	ended(ending: Ending): Recovering {
		const now = this.#clock.monotonicMilliseconds();
		this.stop();
		if (this.#openedAt !== undefined) {
			this.#memory = afterLife(this.#memory, now - this.#openedAt, this.#broughtMessage);
			this.#openedAt = undefined;
		}
		this.#outage.begins(now);
		const retryAfter = retryAfterOf(ending, this.#clock.wallMilliseconds());
		const next = afterEnding(this.#memory, ending, retryAfter, this.#policy, this.#random);
		this.#memory = next.memory;
		const { slowWaits } = next.memory;
		const isMistake = ending.kind === 'credentials' && ending.isMistake;
		return {
			verdict: next.verdict,
			delayMilliseconds: next.delayMilliseconds,
			slowLane: slowWaits > 0,
			isFirst: this.#outage.isFirst(),
			alert: this.#outage.alertAt(now, slowWaits > 1 || isMistake),
		};
	}

	/** Leaves no timer. */
	stop(): void {
		this.#cancelStableTimer();
	}
}
