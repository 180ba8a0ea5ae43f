import { type Field, listType } from '../../fields/field';
import * as sessionFields from '../session/fields';

/** The fields of the wait for messages. Their defaults never change, because saved workflows rely on them. */
export const waitFields = [
	{
		displayName: 'Wait for Messages',
		name: 'waitForMessages',
		type: 'boolean',
		default: false,
		description:
			"Whether to collect the agent's messages in the session until the condition below is met",
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
		showWhen: { waitForMessages: [true] },
		builderHint:
			'Use match if the messages say which one is the last, such as type = answer: it ends at once. silence waits some seconds after the last message. Do not use count unless the number of messages is known.',
		description:
			'When to stop waiting. Messages that arrived before the call was sent never end the wait.',
	},
	{
		displayName: 'Final Message Field',
		name: 'matchField',
		...sessionFields.trimmedTextType,
		placeholder: 'e.g. data.type',
		showWhen: { waitForMessages: [true], waitUntil: ['match'] },
		description:
			'Field that tells the final message from the others, in dot notation. Leave empty to compare the whole text of text messages.',
	},
	{
		displayName: 'Final Message Values',
		name: 'matchValue',
		builderHint: 'Text, not a regular expression. Separate several values with commas.',
		...listType,
		placeholder: 'e.g. answer, done',
		showWhen: { waitForMessages: [true], waitUntil: ['match'] },
		description:
			'A message with one of these values in the field, or a text message equal to one, ends the wait. Separate several values with commas. For values that contain a comma, use an expression that returns a list.',
	},
	{
		displayName: 'Message Count',
		name: 'messageCount',
		type: 'number',
		minimum: 1,
		default: 1,
		showWhen: { waitForMessages: [true], waitUntil: ['count'] },
		description: 'How many messages to wait for',
	},
	{
		displayName: 'Seconds Without a Message',
		name: 'silenceSeconds',
		type: 'number',
		minimum: 0.1,
		decimals: 1,
		default: 5,
		showWhen: { waitForMessages: [true], waitUntil: ['silence'] },
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
		showWhen: { waitForMessages: [true] },
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
	showWhen: { waitForMessages: [true] },
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
		placeholder: 'e.g. data.type',
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
			'What to do if the wait does not end in time, or if there are more messages (10,000) or larger ones (16 MiB each, 64 MiB together) than the node collects',
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
	showWhen: { waitForMessages: [true] },
} as const;

export const waitOptions = options.map((option) => ({
	...option,
	collection,
	showWhen: { waitForMessages: [true] },
}));
