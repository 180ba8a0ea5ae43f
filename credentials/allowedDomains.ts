import type { INodeProperties } from 'n8n-workflow';

/**
 * Declared by each credential, because n8n otherwise adds the field with "all": its HTTP Request node could then send the secret anywhere.
 * @param secret what is kept back, as in "the key"
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
				{ name: 'Specific Domains', value: 'domains', description: 'Only to the hosts listed below' },
				{ name: 'None', value: 'none', description: 'The HTTP Request node may not use this credential' },
			],
			default: 'none',
			description: `Where n8n's HTTP Request node may send this ${secret}. The nodes of this package are not affected.`,
		},
		{
			displayName: 'Allowed Domains',
			name: 'allowedDomains',
			type: 'string',
			default: '',
			placeholder: 'e.g. agent.example.com, *.example.org',
			description: 'Hosts separated by commas',
			displayOptions: { show: { allowedHttpRequestDomains: ['domains'] } },
		},
	];
}
