import type { Field } from '../../parameters/field';
import { channelOptions } from '../session/channelFields';

const waits = { waitForMessages: [true] };

/** Parameters of the wait for the session's messages; defaults are part of the public interface and never change. */
export const waitFields = [
	{
		displayName: 'Wait for Messages',
		name: 'waitForMessages',
		type: 'boolean',
		default: false,
		description: "Whether to collect the agent's messages of the session, until an end that is set below",
	},
	{
		displayName: 'Wait Until',
		name: 'waitUntil',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'A Certain Message Has Come',
				value: 'match',
				description:
					'One with a value that you name below, such as "done" in "status", or a text such as [DONE]',
			},
			{
				name: 'A Number of Messages Has Come',
				value: 'count',
				description: 'As many as you say below, whatever they are',
			},
			{
				name: 'No Message Has Come for a While',
				value: 'silence',
				description: 'After the first message, for as long as you say below',
			},
			{
				name: 'The Service Has Closed the Channel',
				value: 'close',
				description: 'It says so itself. A connection that only breaks off is opened again.',
			},
		],
		default: 'silence',
		showWhen: waits,
		description: 'What tells that the agent is done. What came before the call was sent never does.',
	},
	{
		displayName: 'Match Field',
		name: 'matchField',
		type: 'string',
		default: '',
		placeholder: 'e.g. data.type',
		showWhen: { waitForMessages: [true], waitUntil: ['match'] },
		description:
			'The field of a JSON message, as a path with dots. Leave empty when the end is a text message.',
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
			'The value of the field, or the text of the message, that ends the wait. Several are separated by commas; one of them is enough.',
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
		description: 'How long no further message may come. Before the first message only the time limit counts.',
	},
] as const satisfies readonly Field[];

export const waitOptions = [
	...channelOptions.map((option) => ({ ...option, showWhen: waits })),
	{
		displayName: 'Enable Streaming',
		name: 'enableStreaming',
		type: 'boolean',
		default: true,
		showWhen: waits,
		description:
			'Whether the text of each message goes out as it comes, where the workflow answers a chat or a webhook with Streaming as its response mode',
	},
	{
		displayName: 'Failure Field',
		name: 'failureField',
		type: 'string',
		default: 'type',
		placeholder: 'e.g. data.type',
		showWhen: waits,
		description:
			"Where a JSON message says that the agent has failed, as a path with dots. Counts only when 'Failure Value' is set.",
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
			'A message with this value in the failure field ends the wait, and the item fails. Several are separated by commas.',
	},
	{
		displayName: 'Max Messages',
		name: 'maxMessages',
		type: 'number',
		minimum: 1,
		default: 1000,
		showWhen: waits,
		description: 'How many messages to collect at most; one more ends the wait',
	},
	{
		displayName: 'On Wait Timeout',
		name: 'onWaitTimeout',
		type: 'options',
		options: [
			{
				name: 'Output What Came',
				value: 'output',
				description: 'The item succeeds with the messages so far',
			},
			{ name: 'Stop With an Error', value: 'error', description: 'The item fails' },
		],
		default: 'error',
		showWhen: waits,
		description: 'What to do when the wait does not end in time',
	},
	{
		displayName: 'Open Channel',
		name: 'openChannel',
		type: 'options',
		options: [
			{
				name: 'After the Call',
				value: 'after',
				description: 'For a service that knows the session only then; early messages may be lost',
			},
			{
				name: 'Before the Call',
				value: 'before',
				description: 'No early message is lost; without an open channel nothing is sent',
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
		description: 'How long to wait for the messages at most, counted from the answer to the call',
	},
] as const satisfies readonly Field[];
