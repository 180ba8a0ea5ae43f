import { type Field, listType, textType } from '../../fields/field';
import { includeInputFieldsOption, requestOptions } from '../../fields/commonOptions';
import * as sessionFields from '../session/fields';

/**
 * The fields of the execute call. Their defaults never change, because saved workflows rely on
 * them.
 */
export const executeFields = [
	{
		displayName: 'Start Step Name',
		name: 'startStepName',
		...sessionFields.trimmedTextType,
		required: true,
		placeholder: 'e.g. start',
		description:
			'Name of the step that the agent starts with. The team that operates the agent knows it.',
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
		mustBeFound: true,
		description: 'What the agent should do. Task or Input is required.',
	},
	{
		displayName: 'Input',
		name: 'input',
		...textType,
		typeOptions: { rows: 4 },
		placeholder: 'e.g. {{ $json.text }}',
		showWhen: { payloadMode: ['taskAndInput'] },
		mustBeFound: true,
		description: 'Data for the agent to work on',
	},
	{
		displayName: 'Payload (JSON)',
		name: 'payloadJson',
		type: 'json',
		typeOptions: { rows: 6 },
		default: '{}',
		showWhen: { payloadMode: ['json'] },
		mustBeFound: true,
		description:
			'A JSON object. To build it from data of earlier nodes, use one expression for the whole object.',
		builderHint:
			'Use one expression for the whole object. Do not put expressions inside JSON text.',
		hint: 'For example, the expression {{ { task: $json.task, input: $json.text } }}',
	},
	{
		displayName: 'Session ID',
		name: 'sessionId',
		...sessionFields.trimmedTextType,
		// Items would share a session.
		mustBeFound: true,
		placeholder: 'e.g. 6f0c1c1e-3b0a-4f7e-9a53-2f1d6c1f7a10',
		description:
			'The conversation that the agent continues. Without an ID, each item starts a new one. Items with the same ID are processed one after another.',
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
		...sessionFields.outputTextField,
		description:
			"Field that holds the text of a JSON response or message, in dot notation. This text becomes 'output' in the output item and is what a chat shows.",
	},
	...overrideOptions,
] as const satisfies readonly Field[];

const whenWaiting = { waitForMessages: [true] } as const;
const whenMatching = { ...whenWaiting, waitUntil: ['match'] } as const;

/**
 * The fields of the wait for messages. Their defaults never change, because saved workflows rely on
 * them.
 */
export const waitFields = [
	{
		displayName: 'Wait for Messages',
		name: 'waitForMessages',
		type: 'boolean',
		default: false,
		description:
			"Whether to wait for the agent's answer, which arrives as messages in the session. Otherwise 'output' is only what the service says when it starts the agent.",
	},
	{
		displayName: 'Wait Until',
		name: 'waitUntil',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'A Matching Message Arrives',
				value: 'match',
				description:
					'A message with a value that you define below, such as "done" in "status", or a text such as [DONE]',
			},
			{
				name: 'A Set Number of Messages Arrives',
				value: 'count',
				description: 'The number of messages set below, whatever they contain',
			},
			{
				name: 'No More Messages Arrive',
				value: 'silence',
				description: 'After the first message, no new one arrives for the time set below',
			},
			{
				name: 'The Service Closes the Channel',
				value: 'close',
				description:
					'The service sends a close frame. If the connection is only lost, the node reconnects.',
			},
		],
		default: 'silence',
		showWhen: whenWaiting,
		builderHint:
			'Use match if the messages say which one is the last, such as type = answer: it ends at once. silence waits some seconds after the last message. Do not use count unless the number of messages is known.',
		description:
			'When to stop waiting. Messages that arrived before the call was sent never end the wait.',
	},
	{
		displayName: 'Final Message Field',
		name: 'matchField',
		...sessionFields.trimmedTextType,
		placeholder: 'e.g. type',
		showWhen: whenMatching,
		description:
			'Field that tells the final message from the others, in dot notation. Leave empty to compare the whole text of text messages. The final text is then no part of the output.',
	},
	{
		displayName: 'Final Message Values',
		name: 'matchValue',
		builderHint: 'Text, not a regular expression. Separate several values with commas.',
		...listType,
		placeholder: 'e.g. answer, done',
		showWhen: whenMatching,
		description:
			'A message with one of these values in the field, or a text message equal to one, ends the wait. Separate several values with commas. Put a value that contains a comma in double quotes.',
	},
	{
		displayName: 'Message Count',
		name: 'messageCount',
		type: 'number',
		minimum: 1,
		default: 1,
		showWhen: { ...whenWaiting, waitUntil: ['count'] },
		description: 'How many messages to wait for',
	},
	{
		displayName: 'Seconds Without a Message',
		name: 'silenceSeconds',
		type: 'number',
		minimum: 0.1,
		decimals: 1,
		default: 5,
		showWhen: { ...whenWaiting, waitUntil: ['silence'] },
		description:
			'How long no new message may arrive before the wait ends. Until the first message arrives, only Wait Timeout applies.',
	},
	{
		displayName: 'Wait Timeout (Seconds)',
		name: 'waitTimeoutSeconds',
		type: 'number',
		minimum: 0.1,
		decimals: 1,
		default: 300,
		showWhen: whenWaiting,
		description: 'Max time to wait for messages, counted from the response to the call',
	},
] as const satisfies readonly Field[];

/** An option of the answer's text, and not of the wait, so that it stands beside Text Field. */
export const textPiecesOption = {
	displayName: 'Text Pieces',
	name: 'textPieces',
	type: 'options',
	options: [
		{
			name: 'Join All Texts',
			value: 'joined',
			description:
				"For agents that send their answer in pieces: 'output' is all texts without a separator. A final text that repeats the pieces is not added again.",
		},
		{
			name: 'Use the Last Text',
			value: 'last',
			description: "'output' is the last text. In a chat, each text is a paragraph.",
		},
	],
	default: 'last',
	showWhen: whenWaiting,
	description: "How the texts of several messages become 'output' and are shown in a chat",
} as const satisfies Field;

const options = [
	...sessionFields.channelOptions,
	{
		...sessionFields.deduplicationField,
		description:
			'Field that holds the ID of a JSON message, in dot notation. A message whose ID came before in the session, in this or an earlier turn, does not count. Do not use an ID that the pieces of one answer share.',
	},
	{
		displayName: 'Failure Message Field',
		name: 'failureField',
		...sessionFields.trimmedTextType,
		default: 'type',
		placeholder: 'e.g. type',
		description:
			"Field of a JSON message that reports a failure of the agent, in dot notation. Used only if 'Failure Message Values' is set.",
	},
	{
		displayName: 'Failure Message Values',
		name: 'failureValue',
		...listType,
		placeholder: 'e.g. error, failed',
		description:
			'A message with one of these values in the field ends the wait, and the item fails. Separate several values with commas.',
	},
	sessionFields.filterField,
	{
		...sessionFields.filterValueField,
		description:
			'Only messages with one of these values in the field, or text messages equal to one, count and appear in the output. Separate several values with commas. Leave empty to accept all messages.',
	},
	{
		displayName: 'On Wait Timeout',
		name: 'onWaitTimeout',
		type: 'options',
		options: [
			{
				name: 'Output Messages Received So Far',
				value: 'output',
				description: 'The item succeeds with these messages',
			},
			{ name: 'Stop With an Error', value: 'error', description: 'The item fails' },
		],
		default: 'error',
		description:
			'What to do if the wait does not end in time, or if there are more or larger messages than the node collects',
	},
	{
		displayName: 'Open Channel',
		name: 'openChannel',
		type: 'options',
		options: [
			{
				name: 'After the Call',
				value: 'after',
				description:
					"For services that create the session with the call. Early messages may be lost. For a service that repeats earlier messages, also set 'Deduplication Field'.",
			},
			{
				name: 'Before the Call',
				value: 'before',
				description:
					'No early message is lost. If the channel cannot be opened, nothing is sent.',
			},
		],
		default: 'before',
		description: 'When to open the session channel',
	},
] as const satisfies readonly Field[];

/** The form has these options in a collection of their own. */
const collection = {
	name: 'waitOptions',
	displayName: 'Wait Options',
	showWhen: whenWaiting,
} as const;

export const waitOptions = options.map((option) => ({
	...option,
	collection,
	showWhen: whenWaiting,
}));
