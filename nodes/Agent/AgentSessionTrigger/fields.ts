import type { Field } from '../../parameters/field';
import { channelOptions } from '../session/channelFields';

/** Parameters and options of the trigger; defaults are part of the public interface and never change. */
export const triggerFields = [
	{
		displayName: 'Session IDs',
		name: 'sessionIds',
		type: 'string',
		holds: 'list',
		required: true,
		default: '',
		placeholder: 'e.g. 6f0c1c1e-3b0a-4f7e-9a53-2f1d6c1f7a10',
		description:
			'The sessions to listen to, separated by commas. One channel is opened for each of them. Use the same ID in the Agent Execute node that starts the agent.',
		hint: 'Choose an ID of your own and enter it here and in Agent Execute: a session that gets a new ID for each run cannot be listened to.',
	},
	{
		displayName: 'Message Format',
		name: 'messageFormat',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Automatic',
				value: 'auto',
				description: 'JSON where a message is JSON, else text; binary messages as files',
			},
			{ name: 'Binary', value: 'binary', description: 'Every message as a file' },
			{ name: 'JSON', value: 'json', description: 'Also binary messages that hold JSON' },
			{ name: 'Text', value: 'text', description: 'Every message as text, even if it is JSON' },
		],
		default: 'auto',
		description: 'How to read the messages. What cannot be read as chosen is passed on as it came.',
	},
] as const satisfies readonly Field[];

export const triggerOptions = [
	...channelOptions,
	{
		displayName: 'Batch Size',
		name: 'batchSize',
		type: 'number',
		minimum: 1,
		default: 1,
		description: 'How many messages at most become the items of one execution',
	},
	{
		displayName: 'Batch Wait (Milliseconds)',
		name: 'batchWaitMilliseconds',
		type: 'number',
		minimum: 0,
		default: 0,
		description: 'How long a batch that is not full waits for further messages',
	},
	{
		displayName: 'Connection Events',
		name: 'connectionEvents',
		type: 'boolean',
		default: false,
		description:
			'Whether to start the workflow also when a channel is connected, disconnected or reconnected. Not in tests.',
	},
	{
		displayName: 'Deduplication Field',
		name: 'deduplicationField',
		type: 'string',
		default: '',
		placeholder: 'e.g. meta.uuid',
		description:
			'Where a JSON message holds its ID, as a path with dots. A second message of the session with the same ID starts no execution. Messages without an ID always do.',
	},
	{
		displayName: 'Filter Field',
		name: 'filterField',
		type: 'string',
		default: '',
		placeholder: 'e.g. type',
		description:
			"Where a JSON message holds what 'Filter Value' compares, as a path with dots. Leave empty for text messages.",
	},
	{
		displayName: 'Filter Value',
		name: 'filterValue',
		type: 'string',
		holds: 'list',
		default: '',
		placeholder: 'e.g. answer, error',
		description:
			'Only messages with this value in the filter field, or text messages that equal it, start an execution. Several are separated by commas. Empty: all messages do.',
	},
	{
		displayName: 'Max Concurrent Executions',
		name: 'maxConcurrentExecutions',
		type: 'number',
		minimum: 1,
		default: 10,
		description: 'How many executions may run at once. 1 keeps the messages strictly in order.',
	},
	{
		displayName: 'Max Queued Bytes',
		name: 'maxQueuedBytes',
		type: 'number',
		minimum: 1,
		default: 67_108_864,
		description: 'How many bytes of messages may wait for their execution',
	},
	{
		displayName: 'Max Queued Messages',
		name: 'maxQueuedMessages',
		type: 'number',
		minimum: 1,
		default: 10_000,
		description: 'How many messages may wait for their execution',
	},
	{
		displayName: 'Max Reconnect Delay (Seconds)',
		name: 'reconnectMaxDelaySeconds',
		type: 'number',
		minimum: 1,
		maximum: 3600,
		default: 60,
		description: 'How long to wait at most before a lost channel is opened again',
	},
	{
		displayName: 'On Queue Full',
		name: 'onQueueFull',
		type: 'options',
		options: [
			{
				name: 'Drop Oldest',
				value: 'dropOldest',
				description: 'The oldest messages are dropped, counted and reported',
			},
			{
				name: 'Pause Reading',
				value: 'pause',
				description: 'Nothing is dropped; messages wait at the service until there is room',
			},
		],
		default: 'pause',
		description: 'What to do when messages come faster than their executions end',
	},
] as const satisfies readonly Field[];
