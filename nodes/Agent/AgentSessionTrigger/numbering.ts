import type { SessionFrame } from '../session/messages';
import { type Arrival, frameArrival } from './items';

/** Numbers the messages of each session from 1 on: first those that are adopted, then those of its channel. */
export class Numbering {
	readonly #adopted = new Map<string, number>();

	adopted(arrival: Arrival): Arrival {
		if (!('frame' in arrival)) return arrival;
		const sequence = this.#adoptedOf(arrival.sessionId) + 1;
		this.#adopted.set(arrival.sessionId, sequence);
		return frameArrival({ ...arrival.frame, sequence });
	}

	/** @param frame counted from 1 by its channel */
	arrived(frame: SessionFrame): Arrival {
		const before = this.#adoptedOf(frame.sessionId);
		return frameArrival(before === 0 ? frame : { ...frame, sequence: before + frame.sequence });
	}

	#adoptedOf(sessionId: string): number {
		return this.#adopted.get(sessionId) ?? 0;
	}
}
