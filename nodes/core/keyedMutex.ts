import { getGlobalSingleton } from './globalSingleton';

/**
 * Lets the work for each key begin only when the earlier work for it has ended. Different keys do
 * not wait for each other.
 */
export class KeyedMutex {
	readonly #lastWorkByKey: Map<string, Promise<unknown>>;

	constructor(lastWorkByKey = new Map<string, Promise<unknown>>()) {
		this.#lastWorkByKey = lastWorkByKey;
	}

	async doInTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
		// Work begins even if the work before it failed.
		const currentWork = (this.#lastWorkByKey.get(key) ?? Promise.resolve()).then(work, work);
		this.#lastWorkByKey.set(key, currentWork);
		try {
			return await currentWork;
		} finally {
			if (this.#lastWorkByKey.get(key) === currentWork) this.#lastWorkByKey.delete(key);
		}
	}
}

/** Returns the process-wide mutex with this name. Its state is the last work by key. */
export function getGlobalMutex(name: string): KeyedMutex {
	return new KeyedMutex(getGlobalSingleton(name, () => new Map<string, Promise<unknown>>()));
}
