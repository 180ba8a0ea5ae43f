import type { Execution, NodeItem, WorkflowDefinition } from '../../dev/n8n/n8nApi.ts';
import { connectInRow, type node } from '../../dev/n8n/nodes.ts';

export const agentType = 'n8n-nodes-agent-workspace.agentExecute';
export const triggerType = 'n8n-nodes-agent-workspace.agentSessionTrigger';
export const workspaceType = 'n8n-nodes-agent-workspace.workspace';

/** A workflow whose nodes follow one another. */
export function inRow(name: string, ...nodes: Array<ReturnType<typeof node>>): WorkflowDefinition {
	return { name, nodes, connections: connectInRow(...nodes.map((one) => one.name)) };
}

/** What a node has given in its last run. */
export function outputOf({ resultData }: Execution, node: string, output = 0): NodeItem[] {
	return resultData.runData[node]?.at(-1)?.data?.main?.[output] ?? [];
}
