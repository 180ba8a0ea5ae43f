import { isNodeError } from '../../nodes/core/errors';
import type { Clients, Field, Member, Operation, ParamsOf } from '../../nodes/Workspace/operation';
import type { Params } from '../../nodes/fields/params';
import { perform } from '../../nodes/Workspace/runner/runItems';
import type { JobItem } from '../../nodes/Workspace/runner/job';

export interface TestMember extends Member<Params> {
	readonly item: JobItem;
}

/** What the runner gets from an operation for items that go out in one go: a result or a NodeError for each. */
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

/** The result for one item. @throws NodeError */
export async function resultOf<const F extends readonly Field[], const O extends readonly Field[], R>(
	operation: Operation<F, O, R>,
	{ params, item }: { readonly params: ParamsOf<F, O>; readonly item: JobItem },
	clients: Clients,
): Promise<R> {
	// As for the runner, which knows operations of any fields; the result is what this one's `execute` gives.
	const members = [{ params: params as Params, item }];
	const [outcome] = await outcomesOf(operation, members, clients);
	if (isNodeError(outcome)) throw outcome;
	return outcome as R;
}
