import type { Delivered, Leftover, Queued } from './batch';

/** Batches that n8n refused while stopping. They stay ahead of the messages that were not delivered. */
export class Refused<T extends Queued> {
	readonly #batches: Array<{ readonly place: number; readonly batch: readonly Delivered<T>[] }> = [];
	#places = 0;

	get isEmpty(): boolean {
		return this.#batches.length === 0;
	}

	/** Of a batch among the others, as they are delivered: the first may be refused after the second. */
	nextPlace(): number {
		return this.#places++;
	}

	add(place: number, batch: readonly Delivered<T>[]): void {
		this.#batches.push({ place, batch });
	}

	before({ entries, dropped }: Leftover<T>): Leftover<T> {
		const refused = this.#batches.sort((a, b) => a.place - b.place).flatMap(({ batch }) => batch);
		const droppedBefore = new Map(dropped);
		for (const { entry, dropped: count = 0 } of refused) {
			if (count > 0) droppedBefore.set(entry.sessionId, (droppedBefore.get(entry.sessionId) ?? 0) + count);
		}
		return { entries: [...refused.map(({ entry }) => entry), ...entries], dropped: droppedBefore };
	}
}
