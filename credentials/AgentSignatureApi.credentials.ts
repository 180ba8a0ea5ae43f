import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

import { buildNotice, buildTextField } from './fields';

export class AgentSignatureApi implements ICredentialType {
	name = 'agentSignatureApi';
	displayName = 'Agent Signature API';
	icon: Icon = { light: 'file:agent.svg', dark: 'file:agent.dark.svg' };
	documentationUrl =
		'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace/blob/main/docs/agent-execute.md#credentials';

	properties: INodeProperties[] = [
		buildNotice(
			'sourceNotice',
			'Identifies the user that the agent runs for. Saving only checks the format; the first run shows whether the service accepts the signature.',
		),
		buildTextField('User ID', 'userId', {
			resolvableField: true,
			required: true,
			placeholder: 'e.g. 0x5aeda56215b167893e80b4fe645ba6d5bab767de',
			description: 'Hexadecimal ID of the user',
		}),
		buildTextField('User Public Key', 'userPublicKey', {
			resolvableField: true,
			required: true,
			description: 'Hexadecimal public key of the user, as issued by the operating team',
		}),
		buildTextField('Signature', 'signature', {
			resolvableField: true,
			typeOptions: { password: true },
			required: true,
			description: 'Hexadecimal signature, as issued by the operating team',
		}),
		{
			displayName: 'Timestamp',
			name: 'timestampMode',
			type: 'options',
			options: [
				{ name: 'Current', value: 'current', description: 'The time of each call' },
				{
					name: 'Issued',
					value: 'issued',
					description: 'The timestamp that was issued with the signature',
				},
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
		buildTextField('Allowed Hosts', 'allowedHosts', {
			placeholder: 'e.g. agent.example.com, 127.0.0.1',
			description:
				'Comma-separated list of hosts that the signature may be sent to, over an encrypted connection with a valid certificate. To allow an unencrypted connection, write http:// before the host. If empty, any host is allowed, and anyone with access to this credential can send the signature to their own server.',
		}),
		{
			// Keeps n8n from adding this field with the default "all", with which its HTTP Request
			// node may send the signature anywhere.
			displayName: 'Allowed HTTP Request Domains',
			name: 'allowedHttpRequestDomains',
			type: 'hidden',
			default: 'none',
		},
	];
}
