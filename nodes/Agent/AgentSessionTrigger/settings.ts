import type { ITriggerFunctions, IWorkflowSettings } from 'n8n-workflow';

import { paramsOf } from '../../fields/params';
import { isRecord } from '../../fields/values';
import { type ChannelOptions, channelOptionsOf } from '../session/fields';
import type { FieldValues, MessageFormat } from '../session/messages';
import { triggerFields, triggerOptions } from './fields';
import type { QueueSettings } from './queue';

export interface TriggerSettings {
	readonly sessionIds: readonly string[];
	readonly messageFormat: MessageFormat;
	readonly channel: Required<ChannelOptions> & { readonly reconnectMaxDelaySeconds: number };
	readonly queue: QueueSettings;
	readonly connectionEvents: boolean;
	/** Dot path; empty: none. */
	readonly deduplicationField: string;
	/** Only these messages start an execution; undefined: all. */
	readonly filter: FieldValues | undefined;
	/** Of one execution; after it the next may start, whether n8n has told of its end or not. */
	readonly maxExecutionMilliseconds: number;
}

/** n8n's own limit where the workflow has none. */
const maxExecutionSeconds = 3600;

/**
 * Reads everything that the user gave. All of it inside `trigger()`: n8n evaluates no expression later.
 * @throws NodeError 400 that names the field
 */
export function triggerSettings(context: ITriggerFunctions): TriggerSettings {
	const params = paramsOf(all, givenTo(context), { mode: 'fields', timezone: context.getTimezone() });
	const { reconnectMaxDelaySeconds, deduplicationField, filterField, filterValue } = params;
	return {
		sessionIds: [...new Set(params.sessionIds)],
		messageFormat: params.messageFormat,
		channel: { ...channelOptionsOf(params), reconnectMaxDelaySeconds },
		queue: {
			batchSize: params.batchSize,
			batchWaitMilliseconds: params.batchWaitMilliseconds,
			maxConcurrent: params.maxConcurrentExecutions,
			maxMessages: params.maxQueuedMessages,
			maxBytes: params.maxQueuedBytes,
			onFull: params.onQueueFull,
		},
		connectionEvents: params.connectionEvents,
		deduplicationField: deduplicationField.trim(),
		filter: filterValue.length === 0 ? undefined : { field: filterField.trim(), values: filterValue },
		maxExecutionMilliseconds: executionLimit(context) * 1000,
	};
}

const all = [...triggerFields, ...triggerOptions];

function givenTo(context: ITriggerFunctions): Record<string, unknown> {
	const options = context.getNodeParameter('options', {});
	const fields = triggerFields.map(({ name }) => [name, context.getNodeParameter(name, null)] as const);
	return { ...(isRecord(options) ? options : {}), ...Object.fromEntries(fields) };
}

/** In seconds. n8n writes -1 for a workflow without a limit of its own. */
function executionLimit(context: ITriggerFunctions): number {
	const { executionTimeout } = workflowSettings(context);
	return executionTimeout !== undefined && executionTimeout > 0 ? executionTimeout : maxExecutionSeconds;
}

/** Triggers of n8n before 2.5 cannot ask for them. */
function workflowSettings(
	context: Partial<Pick<ITriggerFunctions, 'getWorkflowSettings'>>,
): IWorkflowSettings {
	return context.getWorkflowSettings?.() ?? {};
}
