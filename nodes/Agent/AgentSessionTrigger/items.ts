import type { IDataObject, INodeExecutionData, ITriggerFunctions } from 'n8n-workflow';

import { binaryOf } from '../session/binaryMessage';
import type { ConnectionEvent } from '../session/connection';
import { heldBytes, messageOf, type SessionFrame, type SessionMessage } from '../session/messages';
import type { Delivered, Queued } from './batch';

export type Arrival = Queued & ({ readonly frame: SessionFrame } | { readonly event: ConnectionEvent });

/** What an arrival holds, for the item that it becomes. */
export interface Read {
	readonly content: { readonly message: SessionMessage } | { readonly event: ConnectionEvent };
	/** How many of the session were dropped before it. */
	readonly dropped: number | undefined;
}

/** What an event takes in the queue, about. */
const eventBytes = 200;

export function frameArrival(frame: SessionFrame): Arrival {
	return { sessionId: frame.sessionId, byteLength: heldBytes(frame), isMessage: true, frame };
}

export function eventArrival(event: ConnectionEvent): Arrival {
	return { sessionId: event.sessionId, byteLength: eventBytes, isMessage: false, event };
}

/** At its turn: a frame is parsed here. */
export function readOf({ entry, dropped }: Delivered<Arrival>): Read {
	return { content: 'event' in entry ? entry : { message: messageOf(entry.frame) }, dropped };
}

/** Whether an item can be made at once: n8n stores binary data first. */
export const isBinary = ({ content }: Read): boolean =>
	'message' in content && content.message.format === 'binary';

/** The item of an event or of a message that is not binary. */
export function itemOf({ content, dropped }: Read): INodeExecutionData {
	if ('event' in content) return { json: { ...content.event } };
	const { sessionId, sequence, receivedAt, format, message, gapMs } = content.message;
	const json: IDataObject = { sessionId, sequence, receivedAt, format, message: message as IDataObject };
	if (gapMs !== undefined) json.gapMs = gapMs;
	if (dropped !== undefined) json.dropped = dropped;
	return { json };
}

/** The item of anything. Rejects when n8n cannot store the bytes. */
export async function storedItem(
	read: Read,
	helpers: ITriggerFunctions['helpers'],
): Promise<INodeExecutionData> {
	const item = itemOf(read);
	const { content } = read;
	if (!('message' in content) || content.message.format !== 'binary') return item;
	return { ...item, binary: { data: await binaryOf(helpers, content.message.bytes) } };
}
