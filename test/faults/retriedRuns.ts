import type { INode, INodeExecutionData, NodeApiError } from 'n8n-workflow';

/** How a node's run ended after the last of its tries. */
export type Ended = { readonly items: INodeExecutionData[] } | { readonly error: NodeApiError };

/**
 * A node with Retry On Fail, as n8n 2.41 runs it: the whole node again in the same execution and run, when it throws or when its first
 * item is an error.
 */
export async function withRetryOnFail(
	maxTries: number,
	run: (node: Partial<INode>) => Promise<INodeExecutionData[]>,
	node: Partial<INode>,
): Promise<Ended> {
	for (let tries = 1; ; tries++) {
		const ended: Ended = await run({ ...node, retryOnFail: true, maxTries }).then(
			(items) => ({ items }),
			(error: unknown) => ({ error: error as NodeApiError }),
		);
		const failed = 'error' in ended || Boolean(ended.items[0]?.json['error']);
		if (!failed || tries >= maxTries) return ended;
	}
}
