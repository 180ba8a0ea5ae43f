import type { IDataObject, INodeExecutionData, ITriggerFunctions } from 'n8n-workflow';

import type { ConnectionEvent } from '../session/connection';
import { binaryOf, heldBytes, messageOf, type SessionFrame, type SessionMessage } from '../session/messages';
import type { Delivered, Queued } from './queue';

/** A message on its way to n8n, parsed once unless it has to wait: JSON takes many times its length in memory once it is parsed. */
export class MessageArrival implements Queued {
	readonly isMessage = true;
	readonly sessionId: string;
	readonly byteLength: number;
	readonly frame: SessionFrame;
	/** Names the message in n8n if it has an ID. */
	key: string | undefined;
	#message: SessionMessage | undefined;

	constructor(frame: SessionFrame) {
		this.frame = frame;
		this.sessionId = frame.sessionId;
		this.byteLength = heldBytes(frame);
	}

	get message(): SessionMessage {
		this.#message ??= messageOf(this.frame);
		return this.#message;
	}

	/** Keeps the frame alone. */
	release(): void {
		this.#message = undefined;
	}
}

interface EventArrival extends Queued {
	readonly event: ConnectionEvent;
}

export type Arrival = MessageArrival | EventArrival;

/** What an event takes in the queue, about. */
const eventBytes = 200;

export function eventArrival(event: ConnectionEvent): EventArrival {
	return { sessionId: event.sessionId, byteLength: eventBytes, isMessage: false, event };
}

/** n8n stores binary data before an item can be made. */
export const isBinary = (arrival: Arrival): boolean =>
	!('event' in arrival) && arrival.message.format === 'binary';

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
	if ('event' in entry || entry.message.format !== 'binary') return item;
	return { ...item, binary: { data: await binaryOf(helpers, entry.message.bytes) } };
}
