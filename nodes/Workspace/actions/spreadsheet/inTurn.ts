/** The last task of each queue. */
const queues = new Map<string, Promise<unknown>>();

/** Runs tasks with the same key one after another, in this process. */
export async function inTurn<T>(key: string, act: () => Promise<T>): Promise<T> {
	const before = queues.get(key) ?? Promise.resolve();
	const done = before.then(act, act);
	// A failure only ends its own task.
	const settled = done.catch(() => undefined);
	queues.set(key, settled);
	try {
		return await done;
	} finally {
		if (queues.get(key) === settled) queues.delete(key);
	}
}
