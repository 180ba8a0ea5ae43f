/** Sizes at which a text is doubled, in characters: with `npm run test:hostile`, far larger ones. */
const sizes = process.env.HOSTILE ? [100_000, 10_000_000] : [200_000];
/** How many random inputs a long property has, or parts a long text; all of them with `npm run test:hostile`. */
export const roundsOf = (all: number): number => (process.env.HOSTILE ? all : all / 5);

/** The most that doubling a text may multiply the time by. It is 2 for linear growth and 4 for quadratic. */
const maxRatio = 3;
const attempts = 8;
/** Shorter times are not compared, because they depend on the machine's caches. */
const leastMilliseconds = 20;

/**
 * Doubles a text and looks at what that costs. It is the CPU time of the process, and the best of several attempts, so that a
 * busy machine makes no difference.
 */
export function expectLinear<T>(
	unit: string,
	inputOf: (text: string) => T,
	work: (input: T) => unknown,
	most = Infinity,
): void {
	for (const size of sizes) {
		const text = unit.repeat(Math.ceil(Math.min(most, size) / unit.length));
		const [one, two] = [inputOf(text), inputOf(text + text)];
		// The first run does not count: V8 then joins a concatenated text and compiles code that is used often.
		work(one);
		work(two);
		const ratios: number[] = [];
		while (ratios.length < attempts && ratios.every((ratio) => ratio >= maxRatio)) {
			const cost = milliseconds(() => work(two));
			ratios.push(cost < leastMilliseconds ? 2 : cost / milliseconds(() => work(one)));
		}
		if (ratios.every((ratio) => ratio >= maxRatio)) {
			const shown = ratios.map((ratio) => ratio.toFixed(1)).join(', ');
			throw new Error(
				`Twice ${text.length} characters of '${unit.slice(0, 20)}' cost ${shown} times as much`,
			);
		}
	}
}

function milliseconds(work: () => unknown): number {
	const before = process.cpuUsage();
	work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}
