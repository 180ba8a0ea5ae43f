import { pause } from '../channel/waiting.ts';

const everyMilliseconds = 20;

/** Adds up the seconds in which nobody listens, by name of the listener. */
export class GapWatch<Name extends string> {
	readonly #listeners: Readonly<Record<Name, () => number | Promise<number>>>;
	readonly #seconds = new Map<string, number>();
	readonly #watching: Promise<void>;
	#isOver = false;

	/** @param listeners how many listen now, by name */
	constructor(listeners: Readonly<Record<Name, () => number | Promise<number>>>) {
		this.#listeners = listeners;
		this.#watching = this.#watch();
	}

	async end(): Promise<Record<Name, number>> {
		this.#isOver = true;
		await this.#watching;
		const names = Object.keys(this.#listeners) as Name[];
		return Object.fromEntries(names.map((name) => [name, this.#seconds.get(name) ?? 0])) as Record<
			Name,
			number
		>;
	}

	async #watch(): Promise<void> {
		let last = performance.now();
		while (!this.#isOver) {
			await pause(everyMilliseconds);
			const now = performance.now();
			for (const [name, count] of Object.entries<() => number | Promise<number>>(this.#listeners)) {
				if ((await count()) > 0) continue;
				this.#seconds.set(name, (this.#seconds.get(name) ?? 0) + (now - last) / 1000);
			}
			last = now;
		}
	}
}
