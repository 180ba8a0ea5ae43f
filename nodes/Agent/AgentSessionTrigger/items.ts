import type { IDataObject, INodeExecutionData, ITriggerFunctions } from 'n8n-workflow';

import type { ConnectionEvent } from '../session/connection';
import {
	binaryOf,
	type FieldValues,
	hasOneOf,
	heldBytes,
	messageOf,
	type SessionFrame,
	type SessionMessage,
} from '../session/messages';
import type { Delivered, Queued } from './queue';

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

/** Passes on the messages that should start an execution. A gap before a filtered message is reported with the next message that passes. */
export class Filter {
	readonly #wanted: FieldValues | undefined;
	/** By session, in milliseconds. */
	readonly #untoldGaps = new Map<string, number>();

	/** @param wanted undefined: all */
	constructor(wanted: FieldValues | undefined) {
		this.#wanted = wanted;
	}

	/** @returns undefined for a message that starts no execution */
	take(frame: SessionFrame): SessionFrame | undefined {
		if (this.#wanted === undefined) return frame;
		const { sessionId, gapMs } = frame;
		const before = this.#untoldGaps.get(sessionId);
		const gap = before === undefined && gapMs === undefined ? undefined : (before ?? 0) + (gapMs ?? 0);
		if (!hasOneOf(messageOf(frame), this.#wanted)) {
			if (gap !== undefined) this.#untoldGaps.set(sessionId, gap);
			return undefined;
		}
		this.#untoldGaps.delete(sessionId);
		return gap === undefined ? frame : { ...frame, gapMs: gap };
	}
}

/** Numbers the messages of each session from 1 on: first those that are adopted, then those of its channel. */
export class Numbering {
	readonly #adopted = new Map<string, number>();

	adopted(arrival: Arrival): Arrival {
		if (!('frame' in arrival)) return arrival;
		const sequence = this.#adoptedOf(arrival.sessionId) + 1;
		this.#adopted.set(arrival.sessionId, sequence);
		return frameArrival({ ...arrival.frame, sequence });
	}

	/** @param frame counted from 1 by its channel */
	arrived(frame: SessionFrame): Arrival {
		const before = this.#adoptedOf(frame.sessionId);
		return frameArrival(before === 0 ? frame : { ...frame, sequence: before + frame.sequence });
	}

	#adoptedOf(sessionId: string): number {
		return this.#adopted.get(sessionId) ?? 0;
	}
}
