/** A map that forgets the entry that was set the longest time ago when it holds too many. */
export class BoundedMap<K, V> extends Map<K, V> {
	readonly #most: number;

	constructor(most: number) {
		super();
		this.#most = most;
	}

	override set(key: K, value: V): this {
		this.delete(key);
		super.set(key, value);
		for (const oldest of this.keys()) {
			if (this.size <= this.#most) break;
			this.delete(oldest);
		}
		return this;
	}
}
