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
			{ name: 'JSON', value: 'json', description: 'One object names the operation and its parameters' },
		],
		default: 'fields',
		description: 'How the operation and its parameters are given',
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
		hint: 'For instance { "operation": "send", "to": "name@example.com", "subject": "Hello", "body": "…" }',
		placeholder: 'e.g. { "operation": "read", "spreadsheetId": "1Qm7x…", "range": "Sheet1!A1:D20" }',
		description:
			"The operation and its parameters in one object, options at the same level. To build it from the item's data, use an expression that gives an object.",
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
			'What an input object may do; everything else is refused before anything is sent. While nothing is chosen here, all operations are allowed: choose when the input object comes from outside, such as from a webhook or a model.',
		displayOptions: shownForJson,
	},
	{
		displayName: 'Allow File Paths',
		name: 'allowFilePaths',
		type: 'boolean',
		noDataExpression: true,
		default: false,
		description:
			'Whether an upload may read a file on the machine that runs n8n. Leave it off when the input object comes from outside.',
		displayOptions: shownForJson,
	},
];
