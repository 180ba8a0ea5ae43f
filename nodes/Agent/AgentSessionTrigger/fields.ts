import type { ITriggerFunctions } from 'n8n-workflow';

import { type Field, listType } from '../../fields/field';
import { readParameters } from '../../fields/params';
import { RawParameters, type ParameterContext } from '../../fields/rawParameters';
import * as sessionFields from '../session/fields';

/** The fields of the trigger. Their defaults never change, because saved workflows rely on them. */
export const triggerFields = [
	{
		displayName: 'Session IDs',
		name: 'sessionIds',
		...listType,
		required: true,
		placeholder: 'e.g. 6f0c1c1e-3b0a-4f7e-9a53-2f1d6c1f7a10',
		description:
			'The sessions to listen to, separated by commas. One channel is opened for each session.',
		hint: 'Choose your own ID and enter it here and in Agent Execute. The trigger cannot listen to sessions that get a new ID for each run.',
	},
	sessionFields.filterField,
	{
		...sessionFields.filterValueField,
		description:
			'Only messages with one of these values in the field, or text messages equal to one, start an execution. Separate several values with commas, and put a value that contains a comma in double quotes. Leave empty to accept all messages.',
	},
] as const satisfies readonly Field[];

export const triggerOptions = [
	...sessionFields.channelOptions,
	{
		displayName: 'Batch Size',
		name: 'batchSize',
		type: 'number',
		minimum: 1,
		default: 1,
		description: 'Max number of messages in one execution, one item each',
	},
	{
		displayName: 'Batch Wait (Milliseconds)',
		name: 'batchWaitMilliseconds',
		type: 'number',
		minimum: 0,
		default: 0,
		description: 'How long to wait for more messages if a batch is not full',
	},
	{
		displayName: 'Connection Events',
		name: 'connectionEvents',
		type: 'boolean',
		default: false,
		description:
			'Whether to also start the workflow when a channel connects, disconnects or reconnects. Has no effect in tests.',
	},
	{
		...sessionFields.deduplicationField,
		description:
			'Field that holds the ID of a JSON message, in dot notation. A second message with the same ID in the same session does not start an execution. Messages without an ID always do. Do not use an ID that several parts of an answer share.',
	},
	{
		displayName: 'Max Concurrent Executions',
		name: 'maxConcurrentExecutions',
		type: 'number',
		minimum: 1,
		default: 10,
		description:
			'Max number of executions that run at once. Set to 1 to process messages strictly in order. Executions that a Wait node suspends (65 seconds or longer) do not count.',
	},
] as const satisfies readonly Field[];

export type TriggerSettings = ReturnType<typeof readTriggerSettings>;

/** Used for a workflow without a timeout. The value is n8n's default for EXECUTIONS_TIMEOUT_MAX. */
const defaultExecutionSeconds = 3600;

/**
 * Reads all parameters, because n8n evaluates no expressions after `trigger()`.
 * @throws NodeError 400 that names the wrong field
 */
export function readTriggerSettings(context: ITriggerFunctions) {
	const rawParameters = new RawParameters(createParameterContext(context));
	const params = readParameters(
		[...triggerFields, ...triggerOptions],
		rawParameters.readFields(triggerFields, triggerOptions, 0),
		{ mode: 'fields', timezone: context.getTimezone() },
	);
	return {
		...params,
		sessionIds: [...new Set(params.sessionIds)],
		/**
		 * Only messages that meet this condition start an execution. Undefined means that all
		 * messages do.
		 */
		filter: sessionFields.toFieldCondition(params.filterField, params.filterValue),
		/** The workflow's timeout. Soon after it, an execution counts as ended. */
		maxExecutionSeconds: readExecutionTimeout(context),
	};
}

/**
 * Adapts the context of a trigger, whose parameters belong to no item, to that of a node with
 * items.
 */
function createParameterContext(context: ITriggerFunctions): ParameterContext {
	return {
		getNode: () => context.getNode(),
		getInputData: () => [],
		getNodeParameter: (name, _itemIndex, fallback, options) =>
			context.getNodeParameter(name, fallback, options),
	};
}

/**
 * Reads the timeout in seconds. n8n stores -1 for no timeout. Before n8n 2.5, triggers cannot read
 * the workflow's settings.
 */
function readExecutionTimeout(
	context: Partial<Pick<ITriggerFunctions, 'getWorkflowSettings'>>,
): number {
	const { executionTimeout = 0 } = context.getWorkflowSettings?.() ?? {};
	return executionTimeout > 0 ? executionTimeout : defaultExecutionSeconds;
}
