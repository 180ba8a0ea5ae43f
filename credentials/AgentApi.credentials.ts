import type { IAuthenticateGeneric, Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

import { allowedDomainsFields, buildNotice, buildTextField } from './fields';

export class AgentApi implements ICredentialType {
	name = 'agentApi';
	displayName = 'Agent API';
	icon: Icon = { light: 'file:agent.svg', dark: 'file:agent.dark.svg' };
	documentationUrl =
		'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace/blob/main/docs/agent-execute.md#credentials';

	properties: INodeProperties[] = [
		buildNotice(
			'sourceNotice',
			'The team that operates your agent issues these values. Saving the credential only checks that the service responds. It does not start an agent.',
		),
		buildTextField('Deployment URL', 'deploymentUrl', {
			required: true,
			placeholder: 'e.g. https://agent.example.com',
			description: "Address of the agent's deployment. The node appends '/execute'.",
		}),
		buildTextField('WebSocket URL', 'webSocketUrl', {
			required: true,
			placeholder: 'e.g. wss://agent.example.com:3010',
			description: "Address of the session channel. The node appends '/ws'.",
		}),
		buildTextField('API Key', 'apiKey', {
			typeOptions: { password: true },
			required: true,
			description: 'API key issued by the team that operates the agent',
		}),
		{
			displayName: 'WebSocket Timestamp Unit',
			name: 'timestampUnit',
			type: 'options',
			options: [
				{ name: 'Milliseconds', value: 'milliseconds' },
				{ name: 'Seconds', value: 'seconds' },
			],
			default: 'seconds',
			description:
				'Unit of the timestamp in the WebSocket URL. Requests to /execute always use milliseconds.',
		},
		{
			displayName: 'Ignore SSL Issues (Insecure)',
			name: 'allowUnauthorizedCerts',
			type: 'boolean',
			default: false,
			description: "Whether to connect even if the server's certificate cannot be verified",
		},
		...allowedDomainsFields,
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { 'x-api-key': '={{$credentials.apiKey}}' } },
	};
}
