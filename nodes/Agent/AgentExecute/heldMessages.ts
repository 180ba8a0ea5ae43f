import type { Clock } from '../session/clock';
import { heldBytes, type SessionMessage } from '../session/messages';

/**
 * For the answer to the ping that goes out when a channel opens: what the server repeats of what was before has
 * come before it.
 */
export const quietMilliseconds = 250;

interface Held {
	readonly message: SessionMessage;
	/** Came before the call was sent. */
	readonly isEarly: boolean;
}

/** What came since a channel is open, until all that the server repeats has come. */
export class HeldMessages {
	readonly #clock: Clock;
	readonly #limits: { readonly messages: number; readonly bytes: number };
	readonly #caughtUp: () => void;
	#held: Held[] | undefined;
	#bytes = 0;
	#cancel = () => {};

	/** @param caughtUp called when the server has had the time to repeat, or when a limit is exceeded */
	constructor(
		clock: Clock,
		limits: { readonly messages: number; readonly bytes: number },
		caughtUp: () => void,
	) {
		this.#clock = clock;
		this.#limits = limits;
		this.#caughtUp = caughtUp;
	}

	get isHolding(): boolean {
		return this.#held !== undefined;
	}

	begin(): void {
		this.#held = [];
		this.#cancel = this.#clock.after(quietMilliseconds, this.#caughtUp);
	}

	add(held: Held): void {
		if (!this.#held) return;
		this.#held.push(held);
		this.#bytes += heldBytes(held.message);
		if (this.#held.length > this.#limits.messages || this.#bytes > this.#limits.bytes) this.#caughtUp();
	}

	/** Ends the holding. @returns undefined if nothing was being held */
	release(): readonly Held[] | undefined {
		const held = this.#held;
		this.#held = undefined;
		this.#bytes = 0;
		this.#cancel();
		return held;
	}

	/** Leaves no timer. */
	stop(): void {
		this.#cancel();
	}
}
