import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { type Failure, isFailure } from '../../core/errors';
import type { Clock } from '../../core/clock';
import type { connect } from '../session/sessionConnection';
import type { Connection, EndedChannel } from '../session/connection';
import type { ReadIdentity } from '../session/connectRequest';
import { type SessionFrame, type SessionMessage, messageOf } from '../session/messages';
import { messageDetails, stoppedAfterCall, stoppedBeforeCall } from './errors';
import { type EndedBy, KnownIds, MessageCollector, type WaitOver } from './messageCollector';
import type { WaitSettings } from './parameters';
import { agentFailed, channelLost, notOpen, notOver } from './waitErrors';

interface Deferred<T> {
	readonly promise: Promise<T>;
	resolve(value: T): void;
	reject(error: Error): void;
}

/** Rejections reach the code that waits. If none does, they can be ignored. */
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

interface WaitParts {
	readonly sessionId: string;
	readonly settings: WaitSettings;
	/** Read again at every attempt to open the channel. */
	readonly readIdentity: ReadIdentity;
	readonly signal: AbortSignal | undefined;
	readonly log: Pick<IExecuteFunctions['logger'], 'debug' | 'info' | 'warn'>;
	readonly clock: Clock;
	readonly connect: typeof connect;
	/** Removes the secrets from the service's texts. */
	readonly redact: (text: string) => string;
	/** The session, with its service and user. */
	readonly conversation: string;
	/** Gets each message of the turn as it comes. */
	readonly onMessage: (message: SessionMessage) => void;
}

export interface Waited {
	/** Came before the call was sent. */
	readonly early: readonly SessionMessage[];
	/** Of the turn. */
	readonly messages: readonly SessionMessage[];
	readonly endedBy: EndedBy;
	/** Whether the channel was lost and came back meanwhile: messages may be missing. */
	readonly gap: boolean;
}

/** For the channel to open before the call. */
const openMilliseconds = 20_000;
/** For the answer to the ping that goes out when a channel opens: what the server repeats has come before it. */
const quietMilliseconds = 250;

/**
 * Makes the call while a channel collects the session's messages.
 * @param call sends the execute call, and tells each time that it goes out; it is made once, and not at all when the channel does not
 * open before it
 * @throws Failure whatever the call throws, and of the wait: not open, refused, not over in time, stopped, or what the agent reports.
 * After the call it holds the messages that came
 */
export async function callAndWait<T>(
	parts: WaitParts,
	call: (sending: () => void) => Promise<T>,
): Promise<{ readonly called: T; readonly waited: Waited }> {
	const wait = new Wait(parts);
	try {
		if (parts.settings.openChannel === 'before') await wait.opened();
		const called = await call(() => {
			wait.callSent();
		});
		return { called, waited: await wait.ended() };
	} finally {
		await wait.close();
	}
}

/** One channel for one item of one execution. */
class Wait {
	readonly #parts: WaitParts;
	readonly #ids: KnownIds;
	readonly #collector: MessageCollector;
	readonly #opened = deferred<undefined>();
	readonly #quiet = deferred<undefined>();
	readonly #ended = deferred<WaitOver>();
	#connection: Connection | undefined;
	#cancelOpenLimit = () => {};
	#isOpening = false;
	#gap = false;

	constructor(parts: WaitParts) {
		this.#parts = parts;
		this.#ids = new KnownIds(parts.conversation, parts.settings.deduplicationField);
		this.#collector = new MessageCollector(
			parts.settings,
			parts.clock,
			(end) => {
				this.#ended.resolve(end);
			},
			parts.onMessage,
			this.#ids,
		);
		parts.signal?.addEventListener('abort', this.#stop, { once: true });
		if (parts.signal?.aborted) this.#stop();
	}

	async opened(): Promise<void> {
		const { clock } = this.#parts;
		this.#isOpening = true;
		this.#open();
		this.#cancelOpenLimit = clock.after(openMilliseconds, () => {
			this.#fail(notOpen(openMilliseconds / 1000, this.#lastFailure()));
		});
		await this.#opened.promise;
		this.#isOpening = false;
		this.#cancelOpenLimit();
		this.#cancelOpenLimit = clock.after(quietMilliseconds, () => {
			this.#quiet.resolve(undefined);
		});
		await this.#quiet.promise;
		this.#cancelOpenLimit();
	}

	callSent(): void {
		this.#collector.callSent();
	}

	/** The call is answered: waits for the end of the messages. */
	async ended(): Promise<Waited> {
		this.#open();
		this.#collector.answered();
		const { redact, log, settings, sessionId } = this.#parts;
		log.info(`Agent Execute: waits up to ${settings.timeoutSeconds} s for messages of session ${sessionId}`);
		try {
			const endedBy = this.#checked(await this.#ended.promise);
			const { early, messages } = this.#collector;
			return { early, messages, endedBy, gap: this.#gap };
		} catch (error) {
			const { messages } = this.#collector;
			throw withDetails(error, messageDetails(messages, redact));
		}
	}

	async close(): Promise<void> {
		this.#parts.signal?.removeEventListener('abort', this.#stop);
		this.#cancelOpenLimit();
		this.#collector.stop();
		await this.#connection?.close();
		this.#ids.remember();
	}

	#checked(end: WaitOver): EndedBy {
		const { settings, redact } = this.#parts;
		const { messages } = this.#collector;
		if (end === 'failure') throw agentFailed(messages.at(-1), settings.textField, redact);
		if (end === 'timeout' && settings.onTimeout === 'error') {
			throw notOver(settings, this.#collector, this.#lastFailure(), redact);
		}
		return end;
	}

	/** While the call is running, it reports a stop itself. */
	readonly #stop = () => {
		this.#opened.reject(stoppedBeforeCall());
		this.#quiet.reject(stoppedBeforeCall());
		this.#ended.reject(stoppedAfterCall());
	};

	#fail(failure: Failure): void {
		this.#opened.reject(failure);
		this.#quiet.reject(failure);
		this.#ended.reject(failure);
	}

	#open(): void {
		const { connect, settings, sessionId, readIdentity, clock, log } = this.#parts;
		const listener = {
			message: (frame: SessionFrame) => {
				this.#collector.add(messageOf(frame));
			},
			event: ({ event }: { event: string }) => {
				if (event === 'connected' || event === 'reconnected') this.#collector.opened();
				if (event === 'reconnected') this.#gap = true;
				if (event === 'connected') this.#opened.resolve(undefined);
			},
			answered: () => {
				this.#quiet.resolve(undefined);
			},
			ended: (channel: EndedChannel) => {
				this.#channelEnded(channel);
			},
		};
		this.#connection ??= connect({ ...settings.channel, sessionId }, readIdentity, listener, { clock, log });
	}

	#channelEnded({ closeReason, opened, decision, failure }: EndedChannel): void {
		if (closeReason.kind === 'closeFrame') this.#collector.closed();
		if (opened) this.#collector.lost();
		// Nothing more is expected of the channel.
		if (this.#collector.isComplete || decision !== 'final') return;
		this.#fail(this.#isOpening ? notOpen(openMilliseconds / 1000, failure) : channelLost(failure));
	}

	/** Why the channel is not open; undefined when it is. */
	#lastFailure(): Failure | undefined {
		const status = this.#connection?.status();
		return status?.state === 'open' ? undefined : status?.lastFailure;
	}
}

function withDetails(error: unknown, details: IDataObject): unknown {
	return isFailure(error) ? error.with({ details }) : error;
}
