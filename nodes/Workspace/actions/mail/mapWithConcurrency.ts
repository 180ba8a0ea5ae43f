/** The concurrency for reading texts and files of emails. It is low, because a single email may fill the memory of a small machine. */
export const contentConcurrency = 2;

/**
 * Does the work for several values at once. After the first failure, no further work begins, and the work in progress is awaited.
 * @param concurrency the number of values in progress at the beginning. It doubles whenever that many values have succeeded, up to `maxConcurrency`
 * @param options `handleResult` receives the results in the order of the values, up to the first value that failed, even if this function throws
 * @throws what the work threw first
 */
export async function mapWithConcurrency<T, R>(
	values: readonly T[],
	concurrency: number,
	work: (value: T, index: number) => Promise<R>,
	options: { maxConcurrency?: number; handleResult?: (result: R) => void } = {},
): Promise<R[]> {
	const { maxConcurrency = concurrency, handleResult } = options;
	const resultsByIndex: R[] = [];
	const failures: Array<{ readonly index: number; readonly cause: unknown }> = [];
	// All loops take their entries from this iterator, so each entry is processed once.
	const remainingEntries = values.entries();
	let loopCount = concurrency;
	let successesSinceGrowth = 0;
	const runLoop = async (): Promise<void> => {
		const addedLoops: Array<Promise<void>> = [];
		for (const [index, value] of remainingEntries) {
			try {
				resultsByIndex[index] = await work(value, index);
			} catch (cause) {
				failures.push({ index, cause });
			}
			if (failures.length > 0) break;
			successesSinceGrowth++;
			if (successesSinceGrowth < loopCount) continue;
			successesSinceGrowth = 0;
			const addedCount = Math.min(loopCount, maxConcurrency - loopCount);
			loopCount += addedCount;
			addedLoops.push(...Array.from({ length: addedCount }, runLoop));
		}
		await Promise.all(addedLoops);
	};
	await Promise.all(Array.from({ length: concurrency }, runLoop));
	const firstFailedIndex = Math.min(values.length, ...failures.map(({ index }) => index));
	const results = resultsByIndex.slice(0, firstFailedIndex);
	for (const result of results) handleResult?.(result);
	if (failures[0]) throw failures[0].cause;
	return results;
}
