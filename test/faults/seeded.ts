/** Numbers that a seed gives again: mulberry32, as in the public domain. */
export class Seeded {
	private state: number;

	constructor(seed: number) {
		this.state = seed;
	}

	/** 0 <= x < 1 */
	next(): number {
		this.state = (this.state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	/** A whole number from `from` to `to`. */
	within(from: number, to: number): number {
		return from + Math.floor(this.next() * (to - from + 1));
	}

	one<T>(all: readonly T[]): T {
		// There is one at every whole number below the length.
		return all[this.within(0, all.length - 1)] as T;
	}
}
