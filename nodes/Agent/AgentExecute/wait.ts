import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Failure } from '../../items/failure';
import { binaryOf } from '../session/binaryMessage';
import type { Clock } from '../session/clock';
import type { connect, Connection, EndedChannel, ReadIdentity } from '../session/connection';
import type { SessionMessage } from '../session/messages';
import { Collection, type EndedBy } from './collection';
import { stoppedAfterCall, stoppedBeforeCall } from './failures';
import { channelLost, notOpen, notOver } from './waitFailures';
import type { WaitSettings } from './waitSettings';

export interface WaitParts {
	readonly sessionId: string;
	readonly settings: WaitSettings;
	/** Read anew at every attempt to open the channel. */
	readonly readIdentity: ReadIdentity;
	readonly signal: AbortSignal | undefined;
	readonly log: Pick<IExecuteFunctions['logger'], 'debug' | 'info' | 'warn'>;
	readonly clock: Clock;
	readonly connect: typeof connect;
}

export interface Waited {
	readonly messages: readonly SessionMessage[];
	readonly endedBy: EndedBy;
	/** Whether the channel was lost and came back meanwhile: messages may be missing. */
	readonly gap: boolean;
}

/** For the channel to open before the call. */
const openMilliseconds = 20_000;

/**
 * Makes the call with a channel beside it that collects the session's messages.
 * @param call sends the execute call; it is made once, and not at all when the channel does not open before it
 * @throws Failure whatever the call throws, and of the wait: not open, refused, not over in time, stopped
 */
export async function callAndWait<T>(
	parts: WaitParts,
	call: () => Promise<T>,
): Promise<{ readonly called: T; readonly waited: Waited }> {
	const wait = new Wait(parts);
	try {
		if (parts.settings.openChannel === 'before') await wait.opened();
		const called = await call();
		return { called, waited: await wait.ended() };
	} finally {
		await wait.close();
	}
}

/** The result of a wait, for the item of the call. */
export async function withMessages(
	item: INodeExecutionData,
	{ messages, endedBy, gap }: Waited,
	helpers: IExecuteFunctions['helpers'],
): Promise<INodeExecutionData> {
	const binary: IBinaryKeyData = { ...item.binary };
	for (const message of messages) {
		if (message.format !== 'binary') continue;
		binary[`message_${message.sequence}`] = await binaryOf(helpers, message.bytes);
	}
	const shown = messages.map(({ sequence, receivedAt, format, message }) => ({
		sequence,
		receivedAt,
		format,
		message: message as IDataObject,
	}));
	const json: IDataObject = { ...item.json, messages: shown, endedBy };
	if (gap) json.gap = true;
	return { ...item, json, ...(Object.keys(binary).length > 0 && { binary }) };
}

/** One channel for one item of one execution. */
class Wait {
	readonly #parts: WaitParts;
	readonly #collection: Collection;
	readonly #opened = deferred<undefined>();
	readonly #ended = deferred<EndedBy>();
	#connection: Connection | undefined;
	#cancelOpenLimit = () => {};
	#isOpening = false;
	#gap = false;

	constructor(parts: WaitParts) {
		this.#parts = parts;
		this.#collection = new Collection(parts.settings, parts.clock, (endedBy) => {
			this.#ended.resolve(endedBy);
		});
		parts.signal?.addEventListener('abort', this.#stop, { once: true });
		if (parts.signal?.aborted) this.#stop();
	}

	async opened(): Promise<void> {
		this.#isOpening = true;
		this.#open();
		this.#cancelOpenLimit = this.#parts.clock.after(openMilliseconds, () => {
			this.#fail(notOpen(openMilliseconds / 1000, this.#lastFailure()));
		});
		await this.#opened.promise;
		this.#isOpening = false;
		this.#cancelOpenLimit();
	}

	/** The call is answered: waits for the end of the messages. */
	async ended(): Promise<Waited> {
		this.#open();
		this.#collection.answered();
		const endedBy = await this.#ended.promise;
		const { messages } = this.#collection;
		const { settings } = this.#parts;
		if (endedBy === 'timeout' && settings.onTimeout === 'error') {
			throw notOver(settings.timeoutSeconds, messages.length, this.#lastFailure());
		}
		return { messages, endedBy, gap: this.#gap };
	}

	async close(): Promise<void> {
		this.#parts.signal?.removeEventListener('abort', this.#stop);
		this.#cancelOpenLimit();
		this.#collection.stop();
		await this.#connection?.close();
	}

	/** What stops while the call is out, the call reports itself. */
	readonly #stop = () => {
		this.#opened.reject(stoppedBeforeCall());
		this.#ended.reject(stoppedAfterCall());
	};

	#fail(failure: Failure): void {
		this.#opened.reject(failure);
		this.#ended.reject(failure);
	}

	#open(): void {
		const { connect, settings, sessionId, readIdentity, clock, log } = this.#parts;
		const listener = {
			message: (message: SessionMessage) => {
				this.#collection.add(message);
			},
			event: ({ event }: { event: string }) => {
				if (event === 'reconnected') this.#gap = true;
				if (event === 'connected') this.#opened.resolve(undefined);
			},
			ended: (channel: EndedChannel) => {
				this.#channelEnded(channel);
			},
		};
		this.#connection ??= connect({ ...settings.channel, sessionId }, readIdentity, listener, { clock, log });
	}

	#channelEnded({ ending, verdict, failure }: EndedChannel): void {
		if (ending.kind === 'closeFrame') this.#collection.closed();
		// Nothing more is expected of the channel: it need not be opened again.
		if (this.#collection.isComplete) void this.#connection?.close();
		else if (verdict === 'final') {
			this.#fail(this.#isOpening ? notOpen(openMilliseconds / 1000, failure) : channelLost(failure));
		}
	}

	/** Why the channel is not open; undefined when it is. */
	#lastFailure(): Failure | undefined {
		const status = this.#connection?.status();
		return status?.state === 'open' ? undefined : status?.lastFailure;
	}
}

interface Deferred<T> {
	readonly promise: Promise<T>;
	resolve(value: T): void;
	reject(error: Error): void;
}

/** Whoever waits is told of a rejection; when nobody does, nobody needs to know. */
function deferred<T>(): Deferred<T> {
	let settle: Omit<Deferred<T>, 'promise'> | undefined;
	const promise = new Promise<T>((resolve, reject) => {
		settle = { resolve, reject };
	});
	promise.catch(() => undefined);
	return {
		promise,
		resolve: (value) => settle?.resolve(value),
		reject: (error) => settle?.reject(error),
	};
}
