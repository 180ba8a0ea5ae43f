/** Lengths of the shortest text, in characters: with `npm run test:hostile`, also a far larger one. */
const lengths = process.env.HOSTILE ? [50_000, 5_000_000] : [100_000];
/** How many random inputs a long property has, or parts a long text; all of them with `npm run test:hostile`. */
export const roundsOf = (all: number): number => (process.env.HOSTILE ? all : all / 5);

/** The most that doubling a text may multiply the time by. It is 2 for linear growth and 4 for quadratic. */
const maxRatio = 2.7;
const attempts = 8;
/** Shorter times are not compared, because they depend on the machine's caches. */
const leastMilliseconds = 20;

/**
 * Doubles a text twice and looks at what that costs. Time that grows too fast does so both times; once, it may be the length
 * from which on the engine keeps texts in another place. It is the CPU time of the process, and the best of several attempts, so
 * that a busy machine makes no difference.
 */
export function expectLinear<T>(
	unit: string,
	inputOf: (text: string) => T,
	work: (input: T) => unknown,
	most = Infinity,
): void {
	for (const length of lengths) {
		const text = unit.repeat(Math.ceil(Math.min(most / 2, length) / unit.length));
		const inputs = [1, 2, 4].map((count) => inputOf(text.repeat(count)));
		// The first run does not count: V8 then joins a concatenated text and compiles code that is used often.
		for (const input of inputs) work(input);
		const ratios: number[] = [];
		while (ratios.length < attempts && ratios.every((ratio) => ratio >= maxRatio)) {
			const costs = inputs.map((input) => milliseconds(() => work(input)));
			ratios.push(smallestGrowth(costs));
		}
		if (ratios.every((ratio) => ratio >= maxRatio)) {
			const shown = ratios.map((ratio) => ratio.toFixed(1)).join(', ');
			throw new Error(
				`Twice ${text.length} characters of '${unit.slice(0, 20)}' cost ${shown} times as much`,
			);
		}
	}
}

function smallestGrowth([one = 0, two = 0, four = 0]: number[]): number {
	return four < leastMilliseconds ? 2 : Math.min(two / one, four / two);
}

function milliseconds(work: () => unknown): number {
	const before = process.cpuUsage();
	work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}
