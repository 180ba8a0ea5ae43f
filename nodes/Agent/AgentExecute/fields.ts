import type { INodeProperties } from 'n8n-workflow';

/** Parameters and options of the execute call; defaults are part of the public interface and never change. */
export const executeFields: INodeProperties[] = [
	{
		displayName: 'Session ID',
		name: 'sessionId',
		type: 'string',
		default: '',
		placeholder: 'e.g. 6f0c1c1e-3b0a-4f7e-9a53-2f1d6c1f7a10',
		description: 'The session in which the agent runs. Leave empty for a new one per item.',
		hint: 'Leave empty unless an Agent Session Trigger listens: then enter the same ID in both nodes.',
	},
	{
		displayName: 'Start Step Name',
		name: 'startStepName',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. start',
		description: 'Name of the step where the agent starts',
	},
	{
		displayName: 'Payload',
		name: 'payloadMode',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Task and Input',
				value: 'taskAndInput',
				description: 'Two texts, sent as {"task": …, "input": …}',
			},
			{ name: 'JSON', value: 'json', description: 'Any JSON object' },
		],
		default: 'taskAndInput',
		description: 'How to give the payload that the agent starts with',
	},
	{
		displayName: 'Task',
		name: 'task',
		type: 'string',
		typeOptions: { rows: 2 },
		default: '',
		placeholder: 'e.g. Summarise the text',
		displayOptions: { show: { payloadMode: ['taskAndInput'] } },
		description: 'What the agent is to do',
	},
	{
		displayName: 'Input',
		name: 'input',
		type: 'string',
		typeOptions: { rows: 4 },
		default: '',
		placeholder: 'e.g. {{ $json.text }}',
		displayOptions: { show: { payloadMode: ['taskAndInput'] } },
		description: 'What the agent is to do it with',
	},
	{
		displayName: 'Payload (JSON)',
		name: 'payloadJson',
		type: 'json',
		typeOptions: { rows: 6 },
		default: '{}',
		displayOptions: { show: { payloadMode: ['json'] } },
		description: 'A JSON object. To build it from earlier data, use one expression for the whole object.',
		hint: 'e.g. ={{ { task: $json.task, input: $json.text } }}',
	},
];

/** Said with each of the options that take the place of the credential's values. */
const notMixed = 'An item for which this is empty is refused if it brings another such value of its own';

export const executeOptions: INodeProperties[] = [
	{
		displayName: 'Include Response Headers',
		name: 'includeHeaders',
		type: 'boolean',
		default: false,
		description: 'Whether to add the headers of the response to the output',
	},
	{
		displayName: 'Max Retry Wait (Seconds)',
		name: 'maxRetryWaitSeconds',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 60,
		description:
			'How long to wait between tries in total. If the service asks for more, the item fails at once and says for how long.',
	},
	{
		displayName: 'Max Tries',
		name: 'maxTries',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 5,
		description:
			'How often to try a call that was surely not accepted: connection refused, name not found, 429, or 503 with Retry-After. A call that the service may have seen is never repeated.',
	},
	{
		displayName: 'Parallel Requests',
		name: 'parallelRequests',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 10,
		description: 'How many items to work on at once. The output keeps the order of the input.',
	},
	{
		displayName: 'Signature',
		name: 'signature',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		description: `Used instead of the signature in the credential, e.g. when an earlier node signs. ${notMixed}.`,
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeoutSeconds',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 300,
		description: 'How long the service may take to answer the execute call',
	},
	{
		displayName: 'Timestamp (Milliseconds)',
		name: 'timestamp',
		type: 'number',
		default: 0,
		description: `Used instead of the time of the call: milliseconds since 1970, as signed. 0 means not set. ${notMixed}.`,
	},
	{
		displayName: 'User ID',
		name: 'userId',
		type: 'string',
		default: '',
		description: `Used instead of the user ID in the credential, for workflows that serve several users. ${notMixed}.`,
	},
	{
		displayName: 'User Public Key',
		name: 'userPublicKey',
		type: 'string',
		default: '',
		description: `Used instead of the public key in the credential. ${notMixed}.`,
	},
];
