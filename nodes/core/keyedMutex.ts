/** Runs the work for each key in order, one after another. Different keys do not wait for each other. */
export class KeyedMutex {
	readonly #lastByKey: Map<string, Promise<unknown>>;

	constructor(lastByKey = new Map<string, Promise<unknown>>()) {
		this.#lastByKey = lastByKey;
	}

	async run<T>(key: string, work: () => Promise<T>): Promise<T> {
		// The next work also begins after a failure.
		const turn = (this.#lastByKey.get(key) ?? Promise.resolve()).then(work, work);
		this.#lastByKey.set(key, turn);
		try {
			return await turn;
		} finally {
			if (this.#lastByKey.get(key) === turn) this.#lastByKey.delete(key);
		}
	}
}
