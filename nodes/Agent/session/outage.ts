const alertMilliseconds = 5 * 60_000;

/** Decides when an outage causes a failed execution: once per outage and kind. Times are monotonic milliseconds. */
export class Outage {
	#since: number | undefined;
	#told = new Set<string>();
	#warned = false;

	/** No good channel since then, unless it is known already. */
	begins(at: number): void {
		this.#since ??= at;
	}

	/** A channel was stable: the next outage is a new one. */
	ends(): void {
		this.#since = undefined;
		this.#told.clear();
		this.#warned = false;
	}

	/**
	 * @param refused whether only the slow lane tries on, and its first attempt has failed, too
	 * @returns the kind of alert that is due and was not given yet
	 */
	alertAt(now: number, refused: boolean): 'refused' | 'outage' | undefined {
		const long = this.#since !== undefined && now - this.#since >= alertMilliseconds;
		const kind = refused ? 'refused' : long ? 'outage' : undefined;
		if (kind === undefined || this.#told.has(kind)) return undefined;
		this.#told.add(kind);
		return kind;
	}

	/** @returns true for the first failure of an outage: it is a warning, the repeats are details */
	isFirst(): boolean {
		const first = !this.#warned;
		this.#warned = true;
		return first;
	}
}
