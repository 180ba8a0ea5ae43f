import type { INodeProperties } from 'n8n-workflow';

import { channelFields } from '../session/channelFields';

const waits = { show: { waitForMessages: [true] } };
/** From within the options. */
const nodeWaits = { show: { '/waitForMessages': [true] } };

/** Parameters of the wait for the session's messages; defaults are part of the public interface and never change. */
export const waitFields: INodeProperties[] = [
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
					'A JSON message with the value in the field that you name below, such as "done" in "status"',
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
		default: 'match',
		displayOptions: waits,
		description: 'What tells that the agent is done',
	},
	{
		displayName: 'Match Field',
		name: 'matchField',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. data.type',
		displayOptions: { show: { waitForMessages: [true], waitUntil: ['match'] } },
		description: 'The field of the message, as a path with dots',
	},
	{
		displayName: 'Match Value',
		name: 'matchValue',
		type: 'string',
		default: '',
		placeholder: 'e.g. answer',
		displayOptions: { show: { waitForMessages: [true], waitUntil: ['match'] } },
		description: 'The value of the field that ends the wait, as text',
	},
	{
		displayName: 'Message Count',
		name: 'messageCount',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 1,
		displayOptions: { show: { waitForMessages: [true], waitUntil: ['count'] } },
		description: 'How many messages to wait for',
	},
	{
		displayName: 'Silence (Seconds)',
		name: 'silenceSeconds',
		type: 'number',
		typeOptions: { minValue: 0.1, numberPrecision: 1 },
		default: 5,
		displayOptions: { show: { waitForMessages: [true], waitUntil: ['silence'] } },
		description: 'How long no further message may come. Before the first message only the time limit counts.',
	},
];

export const waitOptions: INodeProperties[] = [
	...Object.values(channelFields).map((field) => ({ ...field, displayOptions: nodeWaits })),
	{
		displayName: 'Max Messages',
		name: 'maxMessages',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 1000,
		displayOptions: nodeWaits,
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
		displayOptions: nodeWaits,
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
		displayOptions: nodeWaits,
		description: 'When to open the session channel',
	},
	{
		displayName: 'Wait Timeout (Seconds)',
		name: 'waitTimeoutSeconds',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 300,
		displayOptions: nodeWaits,
		description: 'How long to wait for the messages at most, counted from the answer to the call',
	},
];
