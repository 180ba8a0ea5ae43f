import { Seeded } from '../faults/seeded';

/** What a seed decides, so that a run that fails can be repeated. */
export class Random extends Seeded {
	/** A whole number, both ends included; small ones are as likely as large ones by their length. */
	size(least: number, most: number): number {
		return Math.round(least * (most / least) ** this.next());
	}

	pick<T>(values: readonly [T, ...T[]]): T {
		return this.one(values);
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
