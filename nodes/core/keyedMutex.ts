/** Runs the work for each key in order, one after another. Different keys do not wait for each other. */
export class KeyedMutex {
	readonly #last = new Map<string, Promise<unknown>>();

	async run<T>(key: string, work: () => Promise<T>): Promise<T> {
		// A failure ends its own work only.
		const turn = (this.#last.get(key) ?? Promise.resolve()).then(work, work);
		this.#last.set(key, turn);
		try {
			return await turn;
		} finally {
			if (this.#last.get(key) === turn) this.#last.delete(key);
		}
	}
}
