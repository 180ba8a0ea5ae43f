/** Timers that are all cleared when the service closes. */
export class Timers {
	private readonly pending = new Set<NodeJS.Timeout>();

	after(milliseconds: number, call: () => void): void {
		const timer = setTimeout(() => {
			this.pending.delete(timer);
			call();
		}, milliseconds);
		this.pending.add(timer);
	}

	clear(): void {
		for (const timer of this.pending) clearTimeout(timer);
		this.pending.clear();
	}
}
