import pLimit from 'p-limit';

/** The concurrency for files and long texts. It is low, because a single one may fill the memory of a small machine. */
export const contentConcurrency = 2;
/** The concurrency for emails with their texts: Gmail keeps files and long texts outside of an email, so most are small. */
export const mailConcurrency = 5;
/** The concurrency for requests with small responses. The gate of the credential decides how many of them go at once. */
export const smallConcurrency = 20;

/**
 * Does the work for several values at once. After the first failure, no further work begins.
 * @returns the results in the order of the values
 * @throws what the work threw first
 */
export async function mapWithConcurrency<T, R>(
	values: readonly T[],
	concurrency: number,
	work: (value: T) => Promise<R>,
): Promise<R[]> {
	const limit = pLimit(concurrency);
	const workOrStop = async (value: T) =>
		await work(value).catch((error: unknown) => {
			limit.clearQueue();
			throw error;
		});
	return await Promise.all(values.map(async (value) => await limit(workOrStop, value)));
}
