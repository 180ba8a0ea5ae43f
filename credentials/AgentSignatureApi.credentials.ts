import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

export class AgentSignatureApi implements ICredentialType {
	name = 'agentSignatureApi';
	displayName = 'Agent Signature API';
	icon: Icon = { light: 'file:agent.svg', dark: 'file:agent.dark.svg' };
	documentationUrl =
		'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace/blob/main/docs/agent-execute.md#credentials';

	properties: INodeProperties[] = [
		{
			displayName:
				'Whom the agent runs for. Saving only checks the format; the first run shows whether the service accepts the signature.',
			name: 'sourceNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'User ID',
			name: 'userId',
			resolvableField: true,
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. 0x5aeda56215b167893e80b4fe645ba6d5bab767de',
			description: 'Hexadecimal ID of the user',
		},
		{
			displayName: 'User Public Key',
			name: 'userPublicKey',
			resolvableField: true,
			type: 'string',
			required: true,
			default: '',
			description: 'Hexadecimal public key of the user, as issued by the operating team',
		},
		{
			displayName: 'Signature',
			name: 'signature',
			resolvableField: true,
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: 'Hexadecimal signature, as issued by the operating team',
		},
		{
			displayName: 'Timestamp',
			name: 'timestampMode',
			type: 'options',
			options: [
				{ name: 'Current', value: 'current', description: 'The time of each call' },
				{ name: 'Issued', value: 'issued', description: 'The timestamp that was issued with the signature' },
			],
			default: 'current',
			description: 'Which timestamp to send with the signature',
		},
		{
			displayName: 'Issued Timestamp',
			name: 'issuedTimestamp',
			resolvableField: true,
			type: 'number',
			default: 0,
			placeholder: 'e.g. 1795253731904',
			description: 'Milliseconds since 1970 (13 digits), as issued with the signature',
			displayOptions: { show: { timestampMode: ['issued'] } },
		},
		{
			displayName: 'Allowed Hosts',
			name: 'allowedHosts',
			type: 'string',
			default: '',
			placeholder: 'e.g. agent.example.com, *.example.org',
			description:
				'Comma-separated list of hosts that the nodes may send the signature to, over an encrypted connection with a valid certificate. Write http:// before a host to allow it without. If empty, they send it to any host: anyone with access to this credential can then point it at their own server.',
		},
		{
			displayName: 'Allowed HTTP Request Domains',
			name: 'allowedHttpRequestDomains',
			type: 'hidden',
			default: 'none',
		},
	];
}
