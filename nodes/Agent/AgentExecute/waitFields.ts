import type { Field } from '../../fields/field';
import { channelOptions } from '../session/fields';

const waits = { waitForMessages: [true] };

/** Parameters of the wait for the session's messages; defaults are part of the public interface and never change. */
export const waitFields = [
	{
		displayName: 'Wait for Messages',
		name: 'waitForMessages',
		type: 'boolean',
		default: false,
		description: "Whether to collect the agent's messages in the session until the condition below is met",
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
				description: 'The service sends a close frame. If the connection is only lost, the node reconnects.',
			},
		],
		default: 'silence',
		showWhen: waits,
		description: 'When to stop waiting. Messages that arrived before the call was sent never end the wait.',
	},
	{
		displayName: 'Match Field',
		name: 'matchField',
		type: 'string',
		default: '',
		placeholder: 'e.g. data.type',
		showWhen: { waitForMessages: [true], waitUntil: ['match'] },
		description:
			'Field of a JSON message to compare, in dot notation. Leave empty to compare the whole text of text messages.',
	},
	{
		displayName: 'Match Value',
		name: 'matchValue',
		type: 'string',
		holds: 'list',
		default: '',
		placeholder: 'e.g. answer, done',
		showWhen: { waitForMessages: [true], waitUntil: ['match'] },
		description:
			'Value of the field, or text of the message, that ends the wait. Separate several values with commas. Any one of them ends the wait.',
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

export const waitOptions = [
	...channelOptions.map((option) => ({ ...option, showWhen: waits })),
	{
		displayName: 'Deduplication Field',
		name: 'deduplicationField',
		type: 'string',
		default: '',
		placeholder: 'e.g. meta.uuid',
		showWhen: waits,
		description:
			'Field that holds the ID of a JSON message, in dot notation. A message whose ID came before in the session, in this or an earlier turn, does not count.',
	},
	{
		displayName: 'Enable Streaming',
		name: 'enableStreaming',
		type: 'boolean',
		default: true,
		showWhen: waits,
		description:
			'Whether to stream the text of each message as it arrives, if the chat or webhook of the workflow uses the response mode Streaming',
	},
	{
		displayName: 'Failure Field',
		name: 'failureField',
		type: 'string',
		default: 'type',
		placeholder: 'e.g. data.type',
		showWhen: waits,
		description:
			"Field of a JSON message that reports a failure of the agent, in dot notation. Used only if 'Failure Value' is set.",
	},
	{
		displayName: 'Failure Value',
		name: 'failureValue',
		type: 'string',
		holds: 'list',
		default: '',
		placeholder: 'e.g. error, failed',
		showWhen: waits,
		description:
			'A message with this value in the failure field ends the wait, and the item fails. Separate several values with commas.',
	},
	{
		displayName: 'Max Messages',
		name: 'maxMessages',
		type: 'number',
		minimum: 1,
		default: 1000,
		showWhen: waits,
		description: 'Max number of messages to collect. One more ends the wait.',
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
		showWhen: waits,
		description: 'What to do if the wait does not end in time',
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
				description: 'No early message is lost. If the channel cannot be opened, nothing is sent.',
			},
		],
		default: 'before',
		showWhen: waits,
		description: 'When to open the session channel',
	},
	{
		displayName: 'Wait Timeout (Seconds)',
		name: 'waitTimeoutSeconds',
		type: 'number',
		minimum: 0.1,
		decimals: 1,
		default: 300,
		showWhen: waits,
		description: 'Max time to wait for messages, counted from the response to the call',
	},
] as const satisfies readonly Field[];
