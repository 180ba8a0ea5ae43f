import { isNodeError } from '../../nodes/core/errors';
import type { Clients, Field, Member, Operation, ParamsOf } from '../../nodes/Workspace/operation';
import type { Params } from '../../nodes/fields/params';
import { perform } from '../../nodes/Workspace/runner/runItems';
import type { JobItem } from '../../nodes/Workspace/runner/job';

export interface TestMember extends Member<Params> {
	readonly item: JobItem;
}

/** Performs an operation for items that are processed together. @returns a result or a NodeError for each, as the runner gets them */
export async function outcomesOf(
	operation: Operation,
	members: readonly TestMember[],
	clients: Clients,
	combineKey?: string,
): Promise<unknown[]> {
	const jobs = members.map(({ params, item }) => ({
		index: item.index,
		resource: 'mail' as const,
		operation,
		params,
		limits: { maxTries: 1, maxRetryWaitSeconds: 0, timeoutSeconds: 1 },
		item,
		combineKey,
		serialKey: undefined,
	}));
	return await perform(jobs, () => Promise.resolve(clients));
}

/** Performs an operation for one item. @throws NodeError */
export async function resultOf<const F extends readonly Field[], const O extends readonly Field[], R>(
	operation: Operation<F, O, R>,
	{ params, item }: { readonly params: ParamsOf<F, O>; readonly item: JobItem },
	clients: Clients,
): Promise<R> {
	// The runner's types allow operations with any fields; the result is of the type that this one's `execute` returns.
	const members = [{ params: params as Params, item }];
	const [outcome] = await outcomesOf(operation, members, clients);
	if (isNodeError(outcome)) throw outcome;
	return outcome as R;
}
