import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { credentialTest } from '../credentialTests';
import { properties } from './properties';

export class AgentExecute implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Agent Execute',
		name: 'agentExecute',
		icon: { light: 'file:agentExecute.svg', dark: 'file:agentExecute.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["startStepName"] }}',
		description: 'Starts an agent and returns its answer',
		defaults: { name: 'Agent Execute' },
		usableAsTool: true,
		builderHint: {
			searchHint:
				"Starts an agent on the user's own agent service and returns its answer, one call per item. Turn on 'Wait for Messages' if the answer arrives over the session channel. To run a language model inside n8n, use n8n's AI Agent instead.",
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-agent-workspace.agentSessionTrigger',
					relationHint:
						'Starts a workflow for each message that the agent sends in a session with a fixed ID',
				},
				{
					nodeType: 'n8n-nodes-agent-workspace.workspace',
					relationHint:
						"Emails the agent's answer, or stores it in a document or spreadsheet",
				},
				{
					nodeType: '@n8n/n8n-nodes-langchain.chatTrigger',
					relationHint: 'Lets people chat with the agent',
				},
			],
		},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: 'agentApi',
				displayName: 'Agent API',
				required: true,
				testedBy: 'agentApiTest',
			},
			{
				name: 'agentSignatureApi',
				displayName: 'Agent Signature API',
				required: true,
				testedBy: 'agentSignatureApiTest',
			},
		],
		properties,
	};

	methods = { credentialTest };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { runAgents } = await import('./run');
		return [await runAgents(this)];
	}
}
