/**
 * The concurrency for files and long texts. It is low, because a single one may fill the memory of
 * a small machine.
 */
export const contentConcurrency = 2;
/**
 * The concurrency for emails with their texts: Gmail keeps files and long texts outside of an
 * email, so most are small.
 */
export const mailConcurrency = 5;
/**
 * The concurrency for requests with small responses. The gate of the credential decides how many of
 * them go at once.
 */
export const smallConcurrency = 20;

/**
 * Does the work for several values at once. After the first failure, no further work begins, and
 * the work in progress is awaited.
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

/**
 * All loops take their entries from one generator, so each entry is processed once. It ends for all
 * of them when one loop throws.
 */
function* iterate<T>(values: readonly T[]) {
	yield* values.entries();
}
