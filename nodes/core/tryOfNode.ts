import type { IExecuteFunctions, INode } from 'n8n-workflow';

import type { TryOfNode } from './finishedItems';

/** The identity of the current try of a node, which the memory of finished items needs. */
export function tryOfNode(context: IExecuteFunctions): TryOfNode {
	const node = context.getNode();
	return {
		executionId: context.getExecutionId(),
		nodeId: node.id,
		runIndex: context.getWorkflowDataProxy(0).$runIndex as number,
		retryOnFail: node.retryOnFail === true,
		maxTries: node.maxTries,
		isTool: isTool(node),
	};
}

/** Whether a model calls the node, as a tool of an AI agent or an MCP server. */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}
