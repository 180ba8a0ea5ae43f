import type { SessionMessage } from '../session/messages';
import { type Arrival, messageArrival } from './items';

/** Numbers the messages of each session from 1 on: first those that are adopted, then those of its channel. */
export class Numbering {
	readonly #adopted = new Map<string, number>();

	adopted(arrival: Arrival): Arrival {
		if (!('message' in arrival)) return arrival;
		const sequence = this.#adoptedOf(arrival.sessionId) + 1;
		this.#adopted.set(arrival.sessionId, sequence);
		return messageArrival({ ...arrival.message, sequence });
	}

	/** @param message counted from 1 by its channel */
	arrived(message: SessionMessage): Arrival {
		const before = this.#adoptedOf(message.sessionId);
		return messageArrival(before === 0 ? message : { ...message, sequence: before + message.sequence });
	}

	#adoptedOf(sessionId: string): number {
		return this.#adopted.get(sessionId) ?? 0;
	}
}
