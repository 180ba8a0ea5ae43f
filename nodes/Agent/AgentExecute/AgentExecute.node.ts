import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { credentialTest } from './credentialTests';
import { executeFields, executeOptions } from './fields';
import { runItems } from './run';
import { waitFields, waitOptions } from './waitFields';

const byLabel = (one: INodeProperties, other: INodeProperties) =>
	one.displayName < other.displayName ? -1 : 1;

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
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{ name: 'agentApi', displayName: 'Agent API', required: true, testedBy: 'agentApiTest' },
			{
				name: 'agentSignatureApi',
				displayName: 'Agent Signature API',
				required: true,
				testedBy: 'agentSignatureApiTest',
			},
		],
		properties: [
			...executeFields,
			...waitFields,
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				placeholder: 'Add option',
				default: {},
				options: [...executeOptions, ...waitOptions].sort(byLabel),
			},
		],
	};

	methods = { credentialTest };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await runItems(this)];
	}
}
