/**
 * What a service accepted within its last minute, in units of its quota. Quotas differ between projects and
 * are not published: the documented one applies once a refusal confirms it, and never once the service has
 * accepted more.
 */
export class Quota {
	readonly #documentedUnits: number;
	/** Period over which the service counts, in milliseconds. */
	readonly #minute: number;
	readonly #sent: Array<{ readonly at: number; readonly units: number }> = [];
	#sentUnits = 0;
	/** Undefined while unknown; Infinity if more than the documented quota is allowed. */
	#limit: number | undefined;

	constructor(documentedUnits: number, minute: number) {
		this.#documentedUnits = documentedUnits;
		this.#minute = minute;
	}

	/** Records that a request is sent. */
	add(units: number, now: number): void {
		this.#sent.push({ at: now, units });
		this.#sentUnits += units;
	}

	succeeded(now: number): void {
		// A little more, because the service's minute does not start when ours does.
		if (this.#limit === undefined && this.#used(now) > this.#documentedUnits * 1.05) this.#limit = Infinity;
	}

	refused(now: number): void {
		if (this.#limit === undefined && this.#used(now) >= this.#documentedUnits)
			this.#limit = this.#documentedUnits;
	}

	/** Whether this request will show if the documented quota applies. */
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
