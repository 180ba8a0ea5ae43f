/** Few parts of an email are read at once, because a single part may fill the memory of a small machine. */
export const maxPartsAtOnce = 2;

/**
 * Does the work for several values at once. After the first failure, no further work begins, and the work in progress is awaited.
 * @param concurrency the number of values in progress at the beginning; it doubles whenever that many values have succeeded
 * @param handleResult receives the results in the order of the values, up to the first value that failed
 * @throws the first failure
 */
export async function runInParallel<T, R>(
	values: readonly T[],
	concurrency: number,
	work: (value: T, index: number) => Promise<R>,
	maxConcurrency = concurrency,
	handleResult: (result: R) => void = () => undefined,
): Promise<R[]> {
	const resultsByIndex: R[] = [];
	const failures: Array<{ readonly index: number; readonly cause: unknown }> = [];
	const entries = values.entries();
	let workerCount = concurrency;
	let successCount = 0;
	const processEntries = async (): Promise<void> => {
		const addedWorkers: Array<Promise<void>> = [];
		for (const [index, value] of entries) {
			try {
				resultsByIndex[index] = await work(value, index);
			} catch (cause) {
				failures.push({ index, cause });
			}
			if (failures.length > 0) break;
			if (++successCount < workerCount) continue;
			const addedCount = Math.min(workerCount, maxConcurrency - workerCount);
			addedWorkers.push(...Array.from({ length: addedCount }, processEntries));
			workerCount += addedCount;
			successCount = 0;
		}
		await Promise.all(addedWorkers);
	};
	await Promise.all(Array.from({ length: concurrency }, processEntries));
	const results = resultsByIndex.slice(0, Math.min(...failures.map(({ index }) => index)));
	for (const result of results) handleResult(result);
	if (failures[0]) throw failures[0].cause;
	return results;
}
