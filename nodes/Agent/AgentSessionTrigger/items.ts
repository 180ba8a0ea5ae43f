import type { IDataObject, INodeExecutionData, ITriggerFunctions } from 'n8n-workflow';

import { binaryOf } from '../session/binaryMessage';
import type { ConnectionEvent } from '../session/connection';
import { heldBytes, type SessionMessage } from '../session/messages';
import type { Delivered, Queued } from './batch';

export type Arrival = Queued & ({ readonly message: SessionMessage } | { readonly event: ConnectionEvent });

/** What an event takes in the queue, about. */
const eventBytes = 200;

export function messageArrival(message: SessionMessage): Arrival {
	return { sessionId: message.sessionId, byteLength: heldBytes(message), isMessage: true, message };
}

export function eventArrival(event: ConnectionEvent): Arrival {
	return { sessionId: event.sessionId, byteLength: eventBytes, isMessage: false, event };
}

/** Whether an item can be made at once: n8n stores binary data first. */
export const isBinary = ({ entry }: Delivered<Arrival>): boolean =>
	'message' in entry && entry.message.format === 'binary';

/** The item of an event or of a message that is not binary. */
export function itemOf({ entry, dropped }: Delivered<Arrival>): INodeExecutionData {
	if ('event' in entry) return { json: { ...entry.event } };
	const { sessionId, sequence, receivedAt, format, message, gapMs } = entry.message;
	const json: IDataObject = { sessionId, sequence, receivedAt, format, message: message as IDataObject };
	if (gapMs !== undefined) json.gapMs = gapMs;
	if (dropped !== undefined) json.dropped = dropped;
	return { json };
}

/** The item of anything. Rejects when n8n cannot store the bytes. */
export async function storedItem(
	delivered: Delivered<Arrival>,
	helpers: ITriggerFunctions['helpers'],
): Promise<INodeExecutionData> {
	const item = itemOf(delivered);
	const { entry } = delivered;
	if (!('message' in entry) || entry.message.format !== 'binary') return item;
	return { ...item, binary: { data: await binaryOf(helpers, entry.message.bytes) } };
}
