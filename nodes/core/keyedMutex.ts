/** Runs the work of each lane in order, one after another. Lanes do not wait for each other. */
export class Turns {
	readonly #last = new Map<string, Promise<unknown>>();

	/** @param lane empty for a lane of its own */
	take<T>(lane: string, work: () => Promise<T>): Promise<T> {
		if (lane === '') return work();
		const before = this.#last.get(lane) ?? Promise.resolve();
		const turn = before.then(work, work);
		this.#last.set(lane, turn);
		return turn;
	}
}
