import pLimit from 'p-limit';

/** For parts of one email: one may fill the memory of a small machine. */
export const fewAtOnce = 2;

/**
 * How many tasks run at once: `first` at the beginning, doubled each time that many succeeded, up to `most`.
 */
export interface Width {
	readonly first: number;
	readonly most: number;
}

/**
 * Returns the results in the order of the values. After the first failure, nothing new is started, and
 * running tasks are waited for, so that no request is left behind.
 */
export async function inParallel<T, R>(
	values: readonly T[],
	atOnce: number,
	work: (value: T, index: number) => Promise<R>,
): Promise<R[]> {
	const { results, failure } = await untilFailure(values, { first: atOnce, most: atOnce }, work);
	if (failure) throw failure.cause;
	return results;
}

interface UntilFailure<R> {
	/** Results of the values before the one that failed. */
	readonly results: R[];
	/** The first failure. */
	readonly failure: { readonly cause: unknown } | undefined;
}

/** Like `inParallel`, but returns the results before the first failure. */
export async function untilFailure<T, R>(
	values: readonly T[],
	{ first, most }: Width,
	work: (value: T, index: number) => Promise<R>,
): Promise<UntilFailure<R>> {
	const limit = pLimit({ concurrency: first, rejectOnClear: true });
	let wentWell = 0;
	let failure: UntilFailure<R>['failure'];
	// A task that is cleared rejects.
	const tasks = values.map((value, index) =>
		limit(async () => {
			try {
				const result = await work(value, index);
				if (++wentWell === limit.concurrency) {
					wentWell = 0;
					limit.concurrency = Math.min(most, limit.concurrency * 2);
				}
				return { result };
			} catch (cause) {
				// Here, because the limit begins the next task before it passes a failure on.
				failure ??= { cause };
				limit.clearQueue();
				return undefined;
			}
		}).catch(() => undefined),
	);
	const done = await Promise.all(tasks);
	const end = done.indexOf(undefined);
	const whole = end === -1 ? done : done.slice(0, end);
	return { results: whole.flatMap((one) => (one ? [one.result] : [])), failure };
}
