/** What is waited for, all of which can be ended at once. */
export class Waits {
	readonly #open = new Set<() => void>();
	#released = false;

	/** @param begin is given what ends the wait, which it may call at once, and returns what to do at its end */
	async until(begin: (end: () => void) => () => void): Promise<void> {
		// After the release there is nothing to wait for.
		if (this.#released) return;
		await new Promise<void>((resolve) => {
			let tidy: (() => void) | undefined = undefined;
			const end = () => {
				if (!this.#open.delete(end)) return;
				tidy?.();
				resolve();
			};
			this.#open.add(end);
			tidy = begin(end);
			if (!this.#open.has(end)) tidy();
		});
	}

	/** Ends all waits, and those that are still to come. */
	release(): void {
		this.#released = true;
		for (const end of this.#open) end();
	}
}
