import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { refusal } from '../../items/failure';
import type { ConnectionOptions } from './connection';
import { listOf, numberOf, textOf } from './givenValues';

/** Options of the session channel, the same in every node that opens one; defaults never change. */
export const channelFields = {
	finalCloseCodes: {
		displayName: 'Final Close Codes',
		name: 'finalCloseCodes',
		type: 'string',
		default: '',
		placeholder: 'e.g. 4001, 4003',
		description:
			'Close codes after which the service should not be asked again soon, separated by commas. 1002, 1003, 1007, 1008 and 1010 always count. The channel is then tried every 5 to 15 minutes.',
	},
	heartbeatSeconds: {
		displayName: 'Heartbeat (Seconds)',
		name: 'heartbeatSeconds',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 25,
		description: 'How often to check that the connection is alive. 0 switches the check off.',
	},
	initialMessage: {
		displayName: 'Initial Message',
		name: 'initialMessage',
		type: 'string',
		typeOptions: { rows: 2 },
		default: '',
		description: 'Text to send to the service each time the channel opens',
	},
	maxMessageBytes: {
		displayName: 'Max Message Size (Bytes)',
		name: 'maxMessageBytes',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 16_777_216,
		description: 'A larger message ends the channel, which is then opened again',
	},
	pingText: {
		displayName: 'Ping Text',
		name: 'pingText',
		type: 'string',
		default: '',
		placeholder: 'e.g. {"type":"ping"}',
		description:
			'Text message to send as a heartbeat, for services that do not answer the pings of the WebSocket protocol',
	},
} as const satisfies Record<string, INodeProperties>;

/** Largest size that the WebSocket library can hold in one message. */
const mostMessageBytes = 2 ** 31 - 1;

export type ChannelOptions = Pick<ConnectionOptions, keyof typeof channelFields>;

/** What the user gave in the fields above. @throws Failure 400 that names the field */
export function channelOptionsOf(options: IDataObject): Required<ChannelOptions> {
	const { heartbeatSeconds, maxMessageBytes } = options;
	const bytes = numberOf(maxMessageBytes, {
		label: 'Max Message Size',
		byDefault: channelFields.maxMessageBytes.default,
		minimum: 1,
		whole: true,
	});
	return {
		finalCloseCodes: listOf(options.finalCloseCodes).map(closeCode),
		heartbeatSeconds: numberOf(heartbeatSeconds, {
			label: 'Heartbeat',
			byDefault: channelFields.heartbeatSeconds.default,
			minimum: 0,
		}),
		initialMessage: textOf(options.initialMessage),
		maxMessageBytes: Math.min(bytes, mostMessageBytes),
		pingText: textOf(options.pingText),
	};
}

function closeCode(text: string): number {
	const code = Number(text);
	if (/^\d{4}$/.test(text) && code >= 1000 && code <= 4999) return code;
	throw refusal(
		`'Final Close Codes' holds '${text}', which is no close code`,
		'Close codes are numbers from 1000 to 4999, separated by commas.',
	);
}
