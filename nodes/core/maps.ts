/**
 * A map with a limited number of entries. A new entry beyond the limit drops the entry that was set
 * the longest time ago.
 */
export class BoundedMap<K, V> extends Map<K, V> {
	readonly #maxEntries: number;

	constructor(maxEntries = 1000) {
		super();
		this.#maxEntries = maxEntries;
	}

	override set(key: K, value: V): this {
		this.delete(key);
		const [oldest] = this.keys();
		if (this.size >= this.#maxEntries) this.delete(oldest as K);
		return super.set(key, value);
	}
}

/**
 * Returns the value of a key, which is built if the map has none. In a BoundedMap, the key then
 * counts as set just now.
 */
export function getOrAdd<K, V>(map: Map<K, V>, key: K, buildValue: () => V): V {
	// A value may be undefined.
	const value = map.has(key) ? (map.get(key) as V) : buildValue();
	map.set(key, value);
	return value;
}

/**
 * The longest text that is a key where many keys come from outside. V8 finds texts of 16,384
 * characters or more by their length only, so that many would be compared with one another.
 */
export const maxKeyLength = 10_000;
