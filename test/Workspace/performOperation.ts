import { isNodeError } from '../../nodes/core/errors';
import type { Clients, Field, Operation, InferParameters } from '../../nodes/Workspace/operation';
import type { AnyParameters } from '../../nodes/fields/params';
import { performJobs } from '../../nodes/Workspace/runner/runWorkspace';
import type { RunnerItem } from '../../nodes/Workspace/runner/job';

export interface TestMember {
	readonly params: AnyParameters;
	readonly item: RunnerItem;
}

/** Performs an operation for items that are processed together. @returns a result or a NodeError for each, as the runner gets them */
export async function performTogether(
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
		prepared: operation.prepare ? operation.prepare(params, item) : params,
		limits: { maxRetryWaitSeconds: 0, timeoutSeconds: 1 },
		item,
		combineKey,
		place: undefined,
		changedId: undefined,
	}));
	return await performJobs(jobs, () => Promise.resolve(clients));
}

/** Performs an operation for one item. @throws NodeError */
export async function performOperation<
	const F extends readonly Field[],
	const O extends readonly Field[],
	R,
>(
	operation: Operation<F, O, R>,
	{ params, item }: { readonly params: InferParameters<F, O>; readonly item: RunnerItem },
	clients: Clients,
): Promise<R> {
	// The runner's types allow operations with any fields; the result is of the type that this one's `send` returns.
	const members = [{ params: params as AnyParameters, item }];
	const [outcome] = await performTogether(operation, members, clients);
	if (isNodeError(outcome)) throw outcome;
	return outcome as R;
}
