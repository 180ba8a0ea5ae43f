import { createRefusal } from '../../core/errors';
import { type Field, listType, type ReadContext, textType } from '../../fields/field';
import { getLabel, readList, readText } from '../../fields/values';
import type { FieldCondition } from './messageFields';

/** A name, an ID or a dot path. */
export const trimmedTextType = {
	...textType,
	read: (raw: unknown, field: Field, context: ReadContext) =>
		readText(field, raw, context).trim(),
} as const;

/** The options of every node that opens a session channel. Their defaults never change, because saved workflows rely on them. */
export const channelOptions = [
	{
		displayName: 'Final Close Codes',
		name: 'finalCloseCodes',
		...textType,
		read: parseCloseCodes,
		placeholder: 'e.g. 4001, 4003',
		description:
			'Close codes that mean reconnecting soon is pointless, separated by commas. 1002, 1003, 1007, 1008 and 1010 are always included. After such a code, the node reconnects after 5 to 10 seconds, then at growing intervals of up to 15 minutes.',
	},
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
		displayName: 'Max Message Size (Bytes)',
		name: 'maxMessageBytes',
		type: 'number',
		minimum: 1,
		// The `ws` library cannot hold a larger message.
		maximum: 2_147_483_647,
		default: 16_777_216,
		description:
			'A larger message closes the channel, and the node reconnects. 16777216 bytes are 16 MiB.',
	},
	{
		displayName: 'Ping Text',
		name: 'pingText',
		...textType,
		placeholder: 'e.g. {"type":"ping"}',
		description:
			'Text message to send as a heartbeat, for services that do not respond to WebSocket pings',
	},
] as const satisfies readonly Field[];

/** Has no description. Each node adds a description that says what it does with a message whose ID came before. */
export const deduplicationField = {
	displayName: 'Deduplication Field',
	name: 'deduplicationField',
	...trimmedTextType,
	placeholder: 'e.g. meta.uuid',
} as const satisfies Field;

export const filterField = {
	displayName: 'Filter Field',
	name: 'filterField',
	...trimmedTextType,
	placeholder: 'e.g. type',
	description:
		"Field of a JSON message that is compared with 'Filter Value', in dot notation. Leave empty to compare text messages.",
} as const satisfies Field;

/** Has no description. Each node adds a description that says what it does with messages that have other values. */
export const filterValueField = {
	displayName: 'Filter Value',
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

/** A parameter of the trigger, and an option of Agent Execute with 'Wait for Messages'. */
export const messageFormatField = {
	displayName: 'Message Format',
	name: 'messageFormat',
	type: 'options',
	options: [
		{
			name: 'Automatic',
			value: 'auto',
			description:
				'JSON if the message is valid JSON, otherwise text. Binary messages become files.',
		},
		{ name: 'Binary', value: 'binary', description: 'Every message as a file' },
		{ name: 'JSON', value: 'json', description: 'Including binary messages that contain JSON' },
		{ name: 'Text', value: 'text', description: 'Every message as text, even if it is JSON' },
	],
	default: 'auto',
	description:
		'How to read the messages. Messages that cannot be read this way are passed on unchanged.',
} as const satisfies Field;

export const toFieldCondition = (
	field: string,
	values: readonly string[],
): FieldCondition | undefined => (values.length === 0 ? undefined : { field, values });

/** Parses a list of close codes. @throws NodeError 400 that names the field if an entry is not a close code */
function parseCloseCodes(raw: unknown, field: Field, context: ReadContext): number[] {
	return readList(field, raw, context).map((text) => {
		if (/^[1-4]\d{3}$/.test(text)) return Number(text);
		throw createRefusal(
			`'${getLabel(field, context)}' contains '${text}', which is not a close code`,
			'Close codes are numbers from 1000 to 4999, separated by commas.',
		);
	});
}
