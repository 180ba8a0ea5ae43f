import { createHash } from 'node:crypto';
import type { IDataObject, INodeExecutionData, ITriggerFunctions } from 'n8n-workflow';

import { storeBinary } from '../../core/binaryStorage';
import type { ConnectionEvent } from '../session/connection';
import { outputTextField } from '../session/fields';
import { findText, parseFrame, type SessionFrame, type SessionMessage } from '../session/messages';

/**
 * The bytes of memory that an event takes, or a frame besides its content, measured with V8 in Node
 * 24.
 */
const frameOverheadBytes = 600;

/**
 * A message on its way to n8n. It waits without its parsed content, because parsed JSON takes many
 * times its length in memory.
 */
export class MessageArrival {
	readonly isMessage = true;
	readonly sessionId: string;
	readonly byteLength: number;
	readonly frame: SessionFrame;
	/** How long no channel was open before the message. Only the first one after a gap has this. */
	readonly gapMs: number | undefined;
	/** The deduplication key, if the message has an ID. */
	deduplicationKey: string | undefined;
	#message: SessionMessage | undefined;

	constructor(frame: SessionFrame, gapMs?: number) {
		this.frame = frame;
		this.gapMs = gapMs;
		this.sessionId = frame.sessionId;
		this.byteLength = frame.data.byteLength + frameOverheadBytes;
	}

	get message(): SessionMessage {
		this.#message ??= parseFrame(this.frame);
		return this.#message;
	}

	releaseMessage(): void {
		this.#message = undefined;
	}
}

export const createEventArrival = (event: ConnectionEvent) => ({
	isMessage: false as const,
	sessionId: event.sessionId,
	byteLength: frameOverheadBytes,
	event,
	deduplicationKey: undefined,
});

export type Arrival = MessageArrival | Readonly<ReturnType<typeof createEventArrival>>;

/**
 * Hashes the identity of a message, because n8n's keys have at most 255 characters, and n8n
 * compares the keys of all workflows.
 */
export function buildDeduplicationKey(
	context: ITriggerFunctions,
	sessionId: string,
	messageId: string,
): string {
	const workflowId = String(context.getWorkflow().id);
	const identity = JSON.stringify([workflowId, context.getNode().id, sessionId, messageId]);
	return `aw1:${createHash('sha256').update(identity).digest('hex')}`;
}

/** Finds the bytes of a binary message, which n8n stores apart from the JSON of the item. */
export const findBytes = (arrival: Arrival): Buffer | undefined =>
	arrival.isMessage && arrival.message.format === 'binary' ? arrival.message.bytes : undefined;

/**
 * Builds the item of an event or a message, without its bytes. `output` is a text message, or the
 * text of a JSON message.
 */
export function buildItem(arrival: Arrival): INodeExecutionData {
	if (!arrival.isMessage) return { json: { ...arrival.event } };
	const { sessionId, sequence, receivedAt, format } = arrival.message;
	const message = arrival.message.message as IDataObject;
	const output = findText(message, outputTextField.default) ?? null;
	const json: IDataObject = { output, sessionId, sequence, receivedAt, format, message };
	if (arrival.gapMs !== undefined) json.gapMs = arrival.gapMs;
	return { json };
}

/**
 * Builds the items of a batch, with their bytes.
 * @throws n8n's error if it cannot store the bytes
 */
export async function buildStoredItems(
	batch: readonly Arrival[],
	{ helpers }: ITriggerFunctions,
): Promise<INodeExecutionData[]> {
	const storeItem = async (arrival: Arrival) => {
		const item = buildItem(arrival);
		const bytes = findBytes(arrival);
		if (bytes) item.binary = { data: await storeBinary(helpers, bytes) };
		return item;
	};
	return await Promise.all(batch.map(storeItem));
}
