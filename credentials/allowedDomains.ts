import type { INodeProperties } from 'n8n-workflow';

/**
 * Each credential declares these, because n8n otherwise adds the field with "all" and its HTTP Request node could send the secret anywhere.
 * @param secret name of the secret in the texts, such as "key"
 */
export function allowedDomainsFields(secret: string): INodeProperties[] {
	return [
		{
			displayName: 'Allowed HTTP Request Domains',
			name: 'allowedHttpRequestDomains',
			type: 'options',
			options: [
				{
					name: 'All',
					value: 'all',
					description: `The HTTP Request node may send the ${secret} to any host`,
				},
				{ name: 'Specific Domains', value: 'domains', description: 'Only the domains listed below' },
				{ name: 'None', value: 'none', description: 'The HTTP Request node may not use this credential' },
			],
			default: 'none',
			description: `Where n8n's HTTP Request node may send this ${secret}. This does not affect the nodes of this package.`,
		},
		{
			displayName: 'Allowed Domains',
			name: 'allowedDomains',
			type: 'string',
			default: '',
			placeholder: 'e.g. agent.example.com, *.example.org',
			description: 'Comma-separated list of domains',
			displayOptions: { show: { allowedHttpRequestDomains: ['domains'] } },
		},
	];
}
