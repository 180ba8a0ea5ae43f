import { processSlot } from '../../items/processSlot';
import type { Clock } from '../session/clock';
import type { Leftover } from './batch';
import type { Arrival } from './items';

/** n8n starts a node whose settings were changed again within seconds of its stop. */
export const keptSeconds = 60;

interface Kept {
	readonly leftover: Leftover<Arrival>;
	readonly cancel: () => void;
}

/** What the queue of one node has left at its stop, for the next start of the node in this process. */
export class Leftovers {
	readonly #key: string;
	readonly #clock: Clock;

	constructor(key: string, clock: Clock) {
		this.#key = key;
		this.#clock = clock;
	}

	/** @param lost told when the node was not started again in time */
	keep(leftover: Leftover<Arrival>, lost: () => void): void {
		const cancel = this.#clock.after(keptSeconds * 1000, () => {
			if (kept().get(this.#key) === mine) kept().delete(this.#key);
			lost();
		});
		const mine = { leftover, cancel };
		kept().set(this.#key, mine);
	}

	take(): Leftover<Arrival> | undefined {
		const found = kept().get(this.#key);
		kept().delete(this.#key);
		found?.cancel();
		return found?.leftover;
	}
}

/** By node. */
const kept = () => processSlot('sessionTriggerLeftovers', () => new Map<string, Kept>());
