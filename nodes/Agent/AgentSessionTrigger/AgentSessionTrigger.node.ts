import type {
	INodeType,
	INodeTypeDescription,
	ITriggerFunctions,
	ITriggerResponse,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { credentialTest } from '../credentialTests';
import { properties } from './properties';

export class AgentSessionTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Agent Session Trigger',
		name: 'agentSessionTrigger',
		icon: { light: 'file:agentSessionTrigger.svg', dark: 'file:agentSessionTrigger.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["sessionIds"] }}',
		description: 'Starts the workflow when an agent sends a message to its session',
		defaults: { name: 'Agent Session Trigger' },
		builderHint: {
			searchHint:
				"Listens on the session channel (WebSocket) of an agent service and starts the workflow for each message. Needs session IDs that are known in advance. To get the answer in the same workflow, use Agent Execute with 'Wait for Messages'.",
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-agent-workspace.agentExecute',
					relationHint: 'Starts the agent in the session that this trigger listens to',
				},
			],
		},
		eventTriggerDescription: 'Waiting up to 60 seconds for a message in the session',
		activationMessage: 'The workflow now listens to its sessions and keeps the channels open.',
		triggerPanel: {
			header: 'Receive a message from the session',
			executionsHelp: {
				inactive:
					'Click <b>Execute step</b>. Within 60 seconds, start an agent with the same session ID, for example with the Agent Execute node in another workflow. When it works, publish the workflow so that it runs for every message.',
				active: 'Click <b>Execute step</b> to test with the next message that arrives in the session within 60 seconds. The published workflow also listens, and the service may send a message to only one of the two.',
			},
			activationHint: 'Publish the workflow to run it for every message in the session.',
		},
		inputs: [],
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

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		const { listen } = await import('./listener');
		return await listen(this);
	}
}
