import pLimit from 'p-limit';

/**
 * Results in the order of the values. After the first failure nothing more is begun, and what has begun is waited for, so that
 * no request is left behind.
 */
export async function inParallel<T, R>(
	values: readonly T[],
	atOnce: number,
	work: (value: T, index: number) => Promise<R>,
): Promise<R[]> {
	const limit = pLimit({ concurrency: atOnce, rejectOnClear: true });
	const tasks = values.map((value, index) => limit(() => work(value, index)));
	try {
		return await Promise.all(tasks);
	} finally {
		limit.clearQueue();
		await Promise.allSettled(tasks);
	}
}
