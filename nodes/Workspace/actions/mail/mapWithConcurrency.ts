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
	work: (value: T) => Promise<R>,
): Promise<R[]> {
	const results: R[] = [];
	const remainingEntries = iterate(values);
	const runLoop = async () => {
		for (const [index, value] of remainingEntries) results[index] = await work(value);
	};
	const loops = Array.from({ length: concurrency }, runLoop);
	try {
		await Promise.all(loops);
	} finally {
		await Promise.allSettled(loops);
	}
	return results;
}

/** All loops take their entries from one generator, so each entry is processed once. It ends for all of them when one loop throws. */
function* iterate<T>(values: readonly T[]) {
	yield* values.entries();
}
