/** What waits for its delivery: first in, first out. */
export class Backlog<T extends { readonly byteLength: number }> {
	#entries: Array<{ readonly entry: T; readonly arrivedAt: number }> = [];
	/** Index of the oldest entry: removing at the front of an array costs its whole length. */
	#head = 0;
	#bytes = 0;

	get length(): number {
		return this.#entries.length - this.#head;
	}

	get bytes(): number {
		return this.#bytes;
	}

	/** Undefined when there is none. */
	get oldestArrivedAt(): number | undefined {
		return this.#entries[this.#head]?.arrivedAt;
	}

	push(entry: T, arrivedAt: number): void {
		this.#entries.push({ entry, arrivedAt });
		this.#bytes += entry.byteLength;
	}

	shift(): T | undefined {
		const oldest = this.#entries[this.#head];
		if (oldest === undefined) return undefined;
		this.#head++;
		this.#bytes -= oldest.entry.byteLength;
		if (this.#head * 2 > this.#entries.length) {
			this.#entries = this.#entries.slice(this.#head);
			this.#head = 0;
		}
		return oldest.entry;
	}

	/** @returns what was in it */
	clear(): T[] {
		const entries = this.#entries.slice(this.#head).map(({ entry }) => entry);
		this.#entries = [];
		this.#head = 0;
		this.#bytes = 0;
		return entries;
	}
}
