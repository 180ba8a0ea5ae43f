/** How many parts of an email are read at once: a single one may fill the memory of a small machine. */
export const maxPartsAtOnce = 2;

/**
 * Works on values in parallel. After the first failure it starts nothing new and waits for running tasks.
 * @param most limits how many tasks run at once: the number doubles whenever that many tasks have succeeded
 * @param take receives the results in the order of the values, up to the first value that failed
 * @throws the first failure
 */
export async function runInParallel<T, R>(
	values: readonly T[],
	atOnce: number,
	work: (value: T, index: number) => Promise<R>,
	most = atOnce,
	take: (result: R) => void = () => undefined,
): Promise<R[]> {
	const done: R[] = [];
	const failures: Array<{ readonly index: number; readonly cause: unknown }> = [];
	const waiting = values.entries();
	let width = atOnce;
	let succeeded = 0;
	const worker = async (): Promise<void> => {
		const more: Array<Promise<void>> = [];
		for (const [index, value] of waiting) {
			try {
				done[index] = await work(value, index);
			} catch (cause) {
				failures.push({ index, cause });
			}
			if (failures.length > 0) break;
			if (++succeeded < width) continue;
			const added = Math.min(width, most - width);
			more.push(...Array.from({ length: added }, worker));
			width += added;
			succeeded = 0;
		}
		await Promise.all(more);
	};
	await Promise.all(Array.from({ length: atOnce }, worker));
	const results = done.slice(0, Math.min(...failures.map(({ index }) => index)));
	for (const result of results) take(result);
	if (failures[0]) throw failures[0].cause;
	return results;
}
