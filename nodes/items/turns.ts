/** Work of one lane runs in order, one after another; other lanes do not wait for it. */
export class Turns {
	readonly #last = new Map<string, Promise<unknown>>();

	/** @param lane empty: one of its own */
	take<T>(lane: string, work: () => Promise<T>): Promise<T> {
		if (lane === '') return work();
		const before = this.#last.get(lane) ?? Promise.resolve();
		const turn = before.then(work, work);
		this.#last.set(lane, turn);
		return turn;
	}
}
