/**
 * What a service has taken within its last minute, in units of its quota. Quotas differ between projects and nobody tells them: the
 * documented one counts once a refusal has shown that it holds, and not at all once the service has taken more.
 */
export class Quota {
	readonly #documentedUnits: number;
	/** Milliseconds over which the service counts. */
	readonly #minute: number;
	readonly #sent: Array<{ readonly at: number; readonly units: number }> = [];
	#sentUnits = 0;
	/** Undefined while it is not known; Infinity for more than is documented. */
	#limit: number | undefined;

	constructor(documentedUnits: number, minute: number) {
		this.#documentedUnits = documentedUnits;
		this.#minute = minute;
	}

	/** A request goes out. */
	add(units: number, now: number): void {
		this.#sent.push({ at: now, units });
		this.#sentUnits += units;
	}

	succeeded(now: number): void {
		// A little more, because the service's minute does not begin when ours does.
		if (this.#limit === undefined && this.#used(now) > this.#documentedUnits * 1.05) this.#limit = Infinity;
	}

	refused(now: number): void {
		if (this.#limit === undefined && this.#used(now) >= this.#documentedUnits)
			this.#limit = this.#documentedUnits;
	}

	/** Whether the request is the one that shows whether the documented quota holds. */
	isTriedBy(units: number, now: number): boolean {
		return this.#limit === undefined && this.#used(now) + units > this.#documentedUnits;
	}

	/** Milliseconds until there is room for a request. */
	waitFor(units: number, now: number): number {
		if (this.#limit === undefined || this.#limit === Infinity) return 0;
		let used = this.#used(now);
		for (const { at, units: gone } of this.#sent) {
			if (used === 0 || used + units <= this.#limit) return Math.max(0, at - now);
			used -= gone;
			if (used === 0 || used + units <= this.#limit) return at + this.#minute - now;
		}
		return 0;
	}

	#used(now: number): number {
		const first = this.#sent.findIndex(({ at }) => now - at < this.#minute);
		const old = first === 0 ? [] : this.#sent.splice(0, first === -1 ? this.#sent.length : first);
		for (const { units } of old) this.#sentUnits -= units;
		return this.#sentUnits;
	}
}
