/** The concurrency for reading texts and files of emails. It is low, because a single email may fill the memory of a small machine. */
export const contentConcurrency = 2;

/**
 * Does the work for several values at once. After the first failure, no further work begins, and the work in progress is awaited.
 * @returns the results in the order of the values
 * @throws what the work threw first
 */
export async function mapWithConcurrency<T, R>(
	values: readonly T[],
	concurrency: number,
	work: (value: T, index: number) => Promise<R>,
): Promise<R[]> {
	const results: R[] = [];
	const failures: unknown[] = [];
	// All loops take their entries from this iterator, so each entry is processed once.
	const remainingEntries = values.entries();
	const runLoop = async (): Promise<void> => {
		for (const [index, value] of remainingEntries) {
			try {
				results[index] = await work(value, index);
			} catch (error) {
				failures.push(error);
			}
			if (failures.length > 0) break;
		}
	};
	await Promise.all(Array.from({ length: concurrency }, runLoop));
	if (failures.length > 0) throw failures[0];
	return results;
}
