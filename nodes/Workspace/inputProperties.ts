import type { INodeProperties } from 'n8n-workflow';

import { operationChoices } from './allowedOperations';

export const inputProperties: INodeProperties[] = [
	{
		displayName: 'Authentication',
		name: 'authentication',
		type: 'options',
		options: [
			{ name: 'OAuth2', value: 'oAuth2' },
			{ name: 'Service Account', value: 'serviceAccount' },
		],
		default: 'oAuth2',
	},
	{
		displayName: 'Input Mode',
		name: 'inputMode',
		type: 'options',
		options: [
			{ name: 'Fields', value: 'fields', description: 'Choose the operation and fill in its fields' },
			{ name: 'JSON', value: 'json', description: 'One object defines the operation and its parameters' },
		],
		default: 'fields',
		description: 'How to define the operation and its parameters',
	},
];

const shownForJson = { show: { inputMode: ['json'] } };

export const jsonProperties: INodeProperties[] = [
	{
		displayName: 'Input Object',
		name: 'inputObject',
		type: 'json',
		default: '{}',
		typeOptions: { rows: 8 },
		hint: 'For example, { "operation": "send", "to": "name@example.com", "subject": "Hello", "body": "…" }',
		placeholder: 'e.g. { "operation": "read", "spreadsheetId": "1Qm7x…", "range": "Sheet1!A1:D20" }',
		description:
			"The operation, its parameters and its options in one flat object. To build it from the item's data, use an expression that returns an object.",
		displayOptions: shownForJson,
	},
	{
		displayName: 'Allowed Operations',
		name: 'allowedOperations',
		type: 'multiOptions',
		noDataExpression: true,
		options: operationChoices,
		default: [],
		description:
			'The operations that an input object may use. All others are rejected before anything is sent. If nothing is chosen, all operations are allowed. Choose operations if the input object comes from outside, such as from a webhook or a model.',
		displayOptions: shownForJson,
	},
	{
		displayName: 'Allow File Paths',
		name: 'allowFilePaths',
		type: 'boolean',
		noDataExpression: true,
		default: false,
		description:
			'Whether an upload may read files on the machine that n8n runs on. Leave it off if the input object comes from outside.',
		displayOptions: shownForJson,
	},
];
