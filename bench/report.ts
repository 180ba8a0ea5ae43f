// What benchmarks print. bench/all.ts reads the lines of `reportRatio` for the table in bench/results.md.
export const say = (text: string) => {
	console.log(text);
};

/** Prints a line of a table: a name and its cells. */
export const row = (name: string, ...cells: readonly string[]) => {
	say([name.padEnd(34), ...cells].join('  '));
};

/** Prints a figure that has no target. */
export const figure = (name: string, value: string) => {
	say(`${name.padEnd(64)} ${value}`);
};

const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);

export const median = (values: readonly number[]) =>
	sorted(values)[Math.floor(values.length / 2)] ?? NaN;

/** The mean of the middle half: finer than the median of whole milliseconds, and as little moved by what is rare. */
export function middleMean(values: readonly number[]): number {
	const cut = Math.floor(values.length / 4);
	const middle = sorted(values).slice(cut, values.length - cut);
	return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** Prints the median of figures and how far they are apart. */
export function report(name: string, figures: readonly number[], unit: string): void {
	const round = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
	const [least, most] = [Math.min(...figures), Math.max(...figures)];
	figure(name, `median ${round(median(figures))} ${unit}  (${round(least)} – ${round(most)})`);
}

/** Prints a ratio and its target. If it misses the target, the process exits with 1. */
export function reportRatio(
	name: string,
	value: number,
	target: { readonly atMost?: number; readonly atLeast?: number },
): void {
	const met = value <= (target.atMost ?? Infinity) && value >= (target.atLeast ?? -Infinity);
	const wanted =
		target.atMost === undefined
			? `at least ${String(target.atLeast)}`
			: `at most ${target.atMost}`;
	figure(name, `${value.toFixed(3)}  (${wanted}: ${met ? 'met' : 'MISSED'})`);
	if (!met) process.exitCode = 1;
}
