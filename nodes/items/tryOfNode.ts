import type { IExecuteFunctions } from 'n8n-workflow';

import type { TryOfNode } from './finishedItems';

/** The identity of the present try of a node, as the memory of finished items needs it. */
export function tryOfNode(context: IExecuteFunctions): TryOfNode {
	const node = context.getNode();
	return {
		executionId: context.getExecutionId(),
		nodeId: node.id,
		runIndex: context.getWorkflowDataProxy(0).$runIndex as number,
		retryOnFail: node.retryOnFail === true,
		maxTries: node.maxTries,
		isTool: node.type.endsWith('Tool'),
	};
}
