import type { IAuthenticateGeneric, Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

import { allowedDomainsFields } from './allowedDomains';

export class AgentApi implements ICredentialType {
	name = 'agentApi';
	displayName = 'Agent API';
	icon: Icon = { light: 'file:agent.svg', dark: 'file:agent.dark.svg' };
	documentationUrl =
		'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace/blob/main/docs/agent-execute.md';

	properties: INodeProperties[] = [
		{
			displayName:
				'All values come from the team that operates your agent. The agent nodes need two credentials: this one says where the agent is and with which key, <b>Agent Signature API</b> on whose behalf.',
			name: 'sourceNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName:
				'The test asks the service for a sign of life and never starts an agent. Whether the key is allowed to run an agent, and whether the WebSocket address is right, only a real call shows.',
			name: 'testNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'Deployment URL',
			name: 'deploymentUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://agent.example.com',
			description: "Address of the agent's deployment. The node adds '/execute' to it.",
		},
		{
			displayName: 'WebSocket URL',
			name: 'webSocketUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. wss://agent.example.com:3010',
			description: "Address of the session channel. The node adds '/ws' to it.",
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: 'As issued by the operating team',
		},
		{
			displayName: 'Timestamp Unit of the Channel',
			name: 'timestampUnit',
			type: 'options',
			options: [
				{ name: 'Milliseconds', value: 'milliseconds' },
				{ name: 'Seconds', value: 'seconds' },
			],
			default: 'seconds',
			description:
				'Unit of the timestamp in the WebSocket address. The execute call always sends milliseconds.',
		},
		// eslint-disable-next-line @n8n/community-nodes/credential-password-field -- a switch, not a secret
		{
			displayName: 'Ignore SSL Issues (Insecure)',
			name: 'allowUnauthorizedCerts',
			type: 'boolean',
			default: false,
			description: 'Whether to connect even if the certificate of the server cannot be verified',
		},
		...allowedDomainsFields('key'),
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { 'x-api-key': '={{$credentials.apiKey}}' } },
	};
}
