const alertMilliseconds = 5 * 60_000;

/** Decides when an outage is worth a failed execution: once per outage and kind. Times are monotonic milliseconds. */
export class Outage {
	#since: number | undefined;
	#told = new Set<string>();
	#warned = false;

	/** No channel since then, unless it is known already. */
	begins(at: number): void {
		this.#since ??= at;
	}

	/** A message came: the service is there, even if the channel does not stay. */
	pauses(): void {
		this.#since = undefined;
	}

	/** A channel was stable: the next outage is a new one. */
	ends(): void {
		this.#since = undefined;
		this.#told.clear();
		this.#warned = false;
	}

	/** @returns the kind of alert that is due and was not given yet */
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
