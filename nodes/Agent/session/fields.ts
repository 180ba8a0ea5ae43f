import { type Field, listType, type ReadContext, textType } from '../../fields/field';
import { readText } from '../../fields/values';
import type { FieldCondition } from './messages';

/** A name, an ID or a dot path. */
export const trimmedTextType = {
	...textType,
	read: (raw: unknown, field: Field, context: ReadContext) =>
		readText(raw, field, context).trim(),
} as const;

/**
 * The options of every node that opens a session channel. Their defaults never change, because
 * saved workflows rely on them.
 */
export const channelOptions = [
	{
		displayName: 'Heartbeat (Seconds)',
		name: 'heartbeatSeconds',
		type: 'number',
		minimum: 0,
		maximum: 3600,
		default: 25,
		description:
			'How often to check that the connection is alive. Set to 0 to turn off the check.',
	},
	{
		displayName: 'Initial Message',
		name: 'initialMessage',
		...textType,
		typeOptions: { rows: 2 },
		description: 'Text to send to the service each time the channel opens',
	},
	{
		displayName: 'Ping Text',
		name: 'pingText',
		...textType,
		placeholder: 'e.g. {"type":"ping"}',
		description:
			"Text message to send as a heartbeat. Needed for services that never respond to WebSocket pings: only this shows that their connection is dead. The answer counts as a message of the agent. Leave it out with 'Accepted Message Values'.",
	},
] as const satisfies readonly Field[];

/**
 * Has no description. Each node adds a description that says what it does with a message whose ID
 * came before.
 */
export const deduplicationField = {
	displayName: 'Deduplication Field',
	name: 'deduplicationField',
	...trimmedTextType,
	placeholder: 'e.g. meta.uuid',
} as const satisfies Field;

export const filterField = {
	displayName: 'Accepted Message Field',
	name: 'filterField',
	...trimmedTextType,
	placeholder: 'e.g. type',
	description:
		"Field of a JSON message that is compared with 'Accepted Message Values', in dot notation. Leave empty only if the messages are plain text.",
} as const satisfies Field;

/**
 * Has no description. Each node adds a description that says what it does with messages that have
 * other values.
 */
export const filterValueField = {
	displayName: 'Accepted Message Values',
	name: 'filterValue',
	...listType,
	placeholder: 'e.g. answer, error',
} as const satisfies Field;

export const outputTextField = {
	displayName: 'Text Field',
	name: 'textField',
	...trimmedTextType,
	default: 'text',
	placeholder: 'e.g. data.text',
	description:
		"Field that holds the text of a JSON message, in dot notation. This text becomes 'output' in the output item.",
} as const satisfies Field;

export const toFieldCondition = (
	field: string,
	values: readonly string[],
): FieldCondition | undefined => (values.length === 0 ? undefined : { field, values });
