import { processSlot } from '../../core/processSlot';
import type { Clock } from '../session/clock';
import type { Leftover } from './batch';
import type { Arrival } from './items';

/** After a change of settings, n8n starts the node again within seconds. */
export const keptSeconds = 60;

interface Kept {
	readonly leftover: Leftover<Arrival>;
	readonly cancel: () => void;
}

/** Messages that a node's queue still held when it stopped, for the next start of the node in this process. */
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
