import type { IDataObject, ITriggerFunctions } from 'n8n-workflow';

import { refusal } from '../../items/failure';
import { type ChannelOptions, channelOptionsOf } from '../session/channelFields';
import { choiceOf, listOf, numberOf, textOf } from '../session/givenValues';
import type { MessageFormat } from '../session/messages';
import type { QueueSettings } from './queue';

export interface TriggerSettings {
	readonly sessionIds: readonly string[];
	readonly messageFormat: MessageFormat;
	readonly channel: Required<ChannelOptions> & { readonly reconnectMaxDelaySeconds: number };
	readonly queue: QueueSettings;
	readonly connectionEvents: boolean;
	/** Dot path; empty: none. */
	readonly deduplicationField: string;
	/** Of one execution; after it the next may start, whether n8n has told of its end or not. */
	readonly maxExecutionMilliseconds: number;
}

/** n8n's own limit where the workflow has none. */
const maxExecutionSeconds = 3600;

/**
 * Reads everything that the user gave. All of it inside `trigger()`: n8n evaluates no expression later.
 * @throws Failure 400 that names the field
 */
export function triggerSettings(context: ITriggerFunctions): TriggerSettings {
	const sessionIds = [...new Set(listOf(context.getNodeParameter('sessionIds', '')))];
	if (sessionIds.length === 0) {
		throw refusal("'Session IDs' is empty", 'Enter the ID of at least one session to listen to.');
	}
	const options = context.getNodeParameter('options', {}) as IDataObject;
	return {
		sessionIds,
		messageFormat: choiceOf(context.getNodeParameter('messageFormat', 'auto'), 'Message Format', [
			'auto',
			'binary',
			'json',
			'text',
		]),
		channel: {
			...channelOptionsOf(options),
			reconnectMaxDelaySeconds: numberOf(options.reconnectMaxDelaySeconds, {
				label: 'Max Reconnect Delay',
				byDefault: 60,
				minimum: 1,
			}),
		},
		queue: queueSettings(options),
		connectionEvents: options.connectionEvents === true,
		deduplicationField: textOf(options.deduplicationField).trim(),
		maxExecutionMilliseconds: executionLimit(context) * 1000,
	};
}

function queueSettings(options: IDataObject): QueueSettings {
	const whole = (value: unknown, label: string, byDefault: number) =>
		numberOf(value, { label, byDefault, minimum: 1, whole: true });
	return {
		batchSize: whole(options.batchSize, 'Batch Size', 1),
		batchWaitMilliseconds: numberOf(options.batchWaitMilliseconds, {
			label: 'Batch Wait',
			byDefault: 0,
			minimum: 0,
		}),
		maxConcurrent: whole(options.maxConcurrentExecutions, 'Max Concurrent Executions', 10),
		maxMessages: whole(options.maxQueuedMessages, 'Max Queued Messages', 10_000),
		maxBytes: whole(options.maxQueuedBytes, 'Max Queued Bytes', 67_108_864),
		onFull: choiceOf(options.onQueueFull, 'On Queue Full', ['pause', 'dropOldest']),
	};
}

/** In seconds. n8n writes -1 for a workflow without a limit of its own. */
function executionLimit(context: ITriggerFunctions): number {
	const { executionTimeout } = context.getWorkflowSettings();
	return executionTimeout !== undefined && executionTimeout > 0 ? executionTimeout : maxExecutionSeconds;
}
