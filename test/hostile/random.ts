/** Numbers that a seed decides (mulberry32), so that a run that fails can be repeated. */
export class Random {
	#state: number;

	constructor(seed: number) {
		this.#state = seed >>> 0;
	}

	/** From 0 up to, not including, 1. */
	next(): number {
		this.#state = (this.#state + 0x6d2b79f5) >>> 0;
		let mixed = this.#state;
		mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	/** A whole number, both ends included; small ones are as likely as large ones by their length. */
	size(least: number, most: number): number {
		return Math.round(least * (most / least) ** this.next());
	}

	/** A whole number, both ends included. */
	within(least: number, most: number): number {
		return least + Math.floor(this.next() * (most - least + 1));
	}

	/** Of values of which there is at least one. */
	pick<const T>(values: readonly T[]): T {
		return values[this.within(0, values.length - 1)] as T;
	}

	bytes(count: number): Buffer {
		const bytes = Buffer.alloc(count);
		for (let at = 0; at < count; at++) bytes[at] = this.next() * 256;
		return bytes;
	}

	/** Of the pieces, in any order. */
	text(length: number, pieces: readonly [string, ...string[]]): string {
		let text = '';
		while (text.length < length) text += this.pick(pieces);
		return text;
	}
}

/** Each maker in turn, so that a short run has all of them, too. The same number is always the same text. */
export function made<T>(makers: ReadonlyArray<(random: Random) => T>, seed: number, at: number): T {
	const maker = makers[at % makers.length];
	if (!maker) throw new Error('No makers');
	return maker(new Random(seed * 1_000_003 + at));
}
