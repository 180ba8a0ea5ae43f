import { type Field, textType } from '../../fields/field';
import { includeInputFieldsOption, requestOptions } from '../../fields/params';
import { outputTextField, trimmedTextType } from '../session/fields';

/** The fields of the execute call. Their defaults never change, because saved workflows rely on them. */
export const executeFields = [
	{
		displayName: 'Start Step Name',
		name: 'startStepName',
		...trimmedTextType,
		required: true,
		placeholder: 'e.g. start',
		description: 'Name of the step that the agent starts with',
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
				description: 'Two text fields, sent as {"task": …, "input": …}',
			},
			{ name: 'JSON', value: 'json', description: 'Any JSON object' },
		],
		default: 'taskAndInput',
		description: 'How to define the payload that the agent starts with',
	},
	{
		displayName: 'Task',
		name: 'task',
		...textType,
		typeOptions: { rows: 2 },
		placeholder: 'e.g. Summarize the text',
		showWhen: { payloadMode: ['taskAndInput'] },
		description: 'What the agent should do. Task or Input is required.',
	},
	{
		displayName: 'Input',
		name: 'input',
		...textType,
		typeOptions: { rows: 4 },
		placeholder: 'e.g. {{ $json.text }}',
		showWhen: { payloadMode: ['taskAndInput'] },
		description: 'Data for the agent to work on',
	},
	{
		displayName: 'Payload (JSON)',
		name: 'payloadJson',
		type: 'json',
		typeOptions: { rows: 6 },
		default: '{}',
		showWhen: { payloadMode: ['json'] },
		description:
			'A JSON object. To build it from data of earlier nodes, use one expression for the whole object.',
		builderHint:
			'Use one expression for the whole object. Do not put expressions inside JSON text.',
		hint: 'For example, the expression {{ { task: $json.task, input: $json.text } }}',
	},
	{
		displayName: 'Session ID',
		name: 'sessionId',
		...trimmedTextType,
		placeholder: 'e.g. 6f0c1c1e-3b0a-4f7e-9a53-2f1d6c1f7a10',
		description:
			'The conversation that the agent continues. In a chat, use the session ID of the chat. Leave empty to start a new session for each item. Items with the same ID are processed one after another.',
		builderHint:
			'Leave empty for a new session per item. For a conversation, use one ID for all turns, such as {{ $json.sessionId }} of a Chat Trigger. An Agent Session Trigger needs the same fixed ID in Session IDs.',
		hint: 'In a chat: drag sessionId of the Chat Trigger here. With an Agent Session Trigger: the ID that it listens to. Otherwise leave it empty.',
	},
] as const satisfies readonly Field[];

/** The values of one item that together replace those of the signature credential. */
const signatureOverride = {
	name: 'signatureOverride',
	displayName: 'Signature Override',
	key: 'values',
} as const;

export const overrideOptions = [
	{
		displayName: 'Signature',
		name: 'signature',
		...textType,
		typeOptions: { password: true },
		requiredInForm: true,
		optionGroup: signatureOverride,
		description:
			'Used instead of the signature in the credential, e.g. if an earlier node creates the signature',
	},
	{
		displayName: 'Timestamp (Milliseconds)',
		name: 'timestamp',
		type: 'number',
		default: 0,
		requiredInForm: true,
		optionGroup: signatureOverride,
		description: 'The time that was signed, in milliseconds since 1970',
	},
	{
		displayName: 'User ID',
		name: 'userId',
		...textType,
		requiredInForm: true,
		optionGroup: signatureOverride,
		description: 'The user for whom the signature was created',
	},
	{
		displayName: 'User Public Key',
		name: 'userPublicKey',
		...textType,
		requiredInForm: true,
		optionGroup: signatureOverride,
		description: 'The public key of the same user',
	},
] as const satisfies readonly Field[];

export const executeOptions = [
	// The default of Workspace is longer, because Google's quotas apply per minute.
	...requestOptions.map((option) =>
		option.name === 'maxRetryWaitSeconds' ? { ...option, default: 60 } : option,
	),
	{
		displayName: 'Enable Streaming',
		name: 'enableStreaming',
		type: 'boolean',
		default: true,
		description:
			"Whether to stream the agent's texts as they arrive, if the chat or webhook of the workflow uses the response mode Streaming",
	},
	includeInputFieldsOption,
	{
		displayName: 'Parallel Requests',
		name: 'parallelRequests',
		type: 'number',
		minimum: 1,
		maximum: 100,
		default: 10,
		description: 'How many items to process at once. The output keeps the order of the input.',
	},
	{
		...outputTextField,
		description:
			"Field that holds the text of a JSON response or message, in dot notation. This text becomes 'output' in the output item and is what a chat shows.",
	},
	...overrideOptions,
] as const satisfies readonly Field[];
