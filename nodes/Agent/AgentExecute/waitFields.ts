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
		displayName: 'Match Field',
		name: 'matchField',
		...sessionFields.trimmedTextType,
		placeholder: 'e.g. data.type',
		showWhen: { waitForMessages: [true], waitUntil: ['match'] },
		description:
			'Field of a JSON message to compare, in dot notation. Leave empty to compare the whole text of text messages.',
	},
	{
		displayName: 'Match Value',
		name: 'matchValue',
		builderHint: 'Text, not a regular expression. Separate several values with commas.',
		...listType,
		placeholder: 'e.g. answer, done',
		showWhen: { waitForMessages: [true], waitUntil: ['match'] },
		description:
			'Value of the field, or text of the message, that ends the wait. Separate several values with commas. Any one of them ends the wait. For values that contain a comma, use an expression that returns a list.',
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
		displayName: 'Silence (Seconds)',
		name: 'silenceSeconds',
		type: 'number',
		minimum: 0.1,
		decimals: 1,
		default: 5,
		showWhen: { waitForMessages: [true], waitUntil: ['silence'] },
		description:
			'Seconds without a new message before the wait ends. Until the first message arrives, only Wait Timeout applies.',
	},
] as const satisfies readonly Field[];

const options = [
	...sessionFields.channelOptions,
	sessionFields.messageFormatField,
	{
		...sessionFields.deduplicationField,
		description:
			'Field that holds the ID of a JSON message, in dot notation. A message whose ID came before in the session, in this or an earlier turn, does not count. Do not use an ID that the pieces of one answer share.',
	},
	{
		displayName: 'Failure Field',
		name: 'failureField',
		...sessionFields.trimmedTextType,
		default: 'type',
		placeholder: 'e.g. data.type',
		description:
			"Field of a JSON message that reports a failure of the agent, in dot notation. Used only if 'Failure Value' is set.",
	},
	{
		displayName: 'Failure Value',
		name: 'failureValue',
		...listType,
		placeholder: 'e.g. error, failed',
		description:
			'A message with this value in the failure field ends the wait, and the item fails. Separate several values with commas.',
	},
	sessionFields.filterField,
	{
		...sessionFields.filterValueField,
		description:
			'Only messages with this value in the filter field, or text messages equal to it, count and appear in the output. Separate several values with commas. Leave empty to accept all messages.',
	},
	{
		displayName: 'Max Messages',
		name: 'maxMessages',
		type: 'number',
		minimum: 1,
		default: 10_000,
		description:
			"Max number of messages to collect. If more arrive, the item fails, or the wait ends, as 'On Wait Timeout' says.",
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
			'What to do if the wait does not end in time, or more messages arrive than the node collects',
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
	{
		displayName: 'Settle Time (Milliseconds)',
		name: 'settleMilliseconds',
		type: 'number',
		minimum: 0,
		maximum: 2000,
		default: 250,
		description:
			'How long the channel must be quiet before the call is sent (at most 2 seconds in all), if it opens before the call. Greetings and repeated messages that arrive until then do not count as the answer. Set to 0 to wait only for the response to a ping.',
	},
	{
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
		description: "How the texts of several messages become 'output' and are shown in a chat",
	},
	{
		displayName: 'Wait Timeout (Seconds)',
		name: 'waitTimeoutSeconds',
		type: 'number',
		minimum: 0.1,
		decimals: 1,
		default: 300,
		description: 'Max time to wait for messages, counted from the response to the call',
	},
] as const satisfies readonly Field[];

export const waitOptions = options.map((option) => ({
	...option,
	showWhen: { waitForMessages: [true] },
}));
