import type { IExecuteFunctions } from 'n8n-workflow';

import { type Clock } from '../../core/runtime';
import { isNodeError, type NodeError } from '../../core/errors';
import { networkErrorOf } from '../../http/networkErrors';
import { type CloseReason } from '../session/closeReason';
import type { ReadRequest, Redact } from '../session/credentials';
import type {
	connect,
	Connection,
	ConnectionEvent,
	ConnectionListener,
	EndedChannel,
} from '../session/connection';
import { messageOf, type SessionFrame } from '../session/messages';
import {
	agentFailed,
	channelLost,
	messageDetails,
	notOpen,
	notOver,
	openSeconds,
	stoppedAfterCall,
	stoppedBeforeCall,
	tooMany,
	withLoss,
} from './errors';
import { type CollectorParts, type EndedBy, MessageCollector, type WaitOver } from './messageCollector';
import type { WaitSettings } from './parameters';

export interface WaitParts extends CollectorParts {
	readonly sessionId: string;
	/** Called for each attempt to open the channel. */
	readonly readRequest: ReadRequest;
	readonly signal: AbortSignal | undefined;
	readonly log: Pick<IExecuteFunctions['logger'], 'debug' | 'info' | 'warn'>;
	readonly connect: typeof connect;
	/** Removes the secrets from the texts of the service. */
	readonly redact: Redact;
}

export interface TryHooks {
	/** Called before a try. @throws NodeError if the channel does not open in time, so that nothing may be sent */
	ready(): Promise<void>;
	/** Called when the request is sent. */
	sending(): void;
}

export interface Waited extends Pick<MessageCollector, 'early' | 'messages' | 'repeated'> {
	readonly endedBy: EndedBy;
	/** Whether the channel was lost before the end, so that messages may be missing. */
	readonly gap: boolean;
	/** The last close frame of the service, if it sent one. */
	readonly close: { readonly code: number; readonly reason: string } | undefined;
}

/** Short, because a running execution waits for the channel. */
const reconnectMaxDelaySeconds = 10;

/**
 * Makes the call while a channel collects the session's messages.
 * @param call sends the execute call; with `openChannel: before` only while the channel is open
 * @returns the response, or the failure of the call if the awaited messages have arrived all the same
 * @throws NodeError if the call fails, the channel does not open or is refused, the wait times out or is stopped, or the agent reports a
 * failure. After the call it contains the received messages
 */
export async function callAndWait<T>(
	parts: WaitParts,
	call: (hooks: TryHooks) => Promise<T>,
): Promise<{ readonly called: T | NodeError; readonly waited: Waited }> {
	const wait = new Wait(parts);
	try {
		const called = await call(wait).catch((error: unknown) => wait.callFailed(error));
		return { called, waited: await wait.waited() };
	} finally {
		await wait.close();
	}
}

/** A promise that is settled from outside. A rejection that nothing awaits is ignored. */
class Deferred<T> {
	resolve: (value: T) => void = () => {};
	reject: (error: Error) => void = () => {};
	readonly promise = new Promise<T>((resolve, reject) => {
		this.resolve = resolve;
		this.reject = reject;
	});

	constructor() {
		this.promise.catch(() => undefined);
	}
}

/** The wait of one item, with its own channel. */
class Wait implements TryHooks, ConnectionListener {
	readonly #parts: WaitParts;
	readonly #collector: MessageCollector;
	readonly #readiness: Readiness;
	readonly #over = new Deferred<WaitOver>();
	#connection: Connection | undefined;
	#isSent = false;
	/** Whether the time for the channel to open is over. */
	#isOverdue = false;
	/** How many attempts since the last open channel failed with a fault that does not pass by itself. */
	#hopelessAttempts = 0;
	/** How the channel was lost last since the call was sent. */
	#loss: NodeError | undefined;
	#close: Waited['close'];

	constructor(parts: WaitParts) {
		const { signal } = parts;
		this.#parts = parts;
		this.#readiness = new Readiness(parts);
		this.#collector = new MessageCollector(parts, this.#over.resolve);
		signal?.addEventListener('abort', this.#stop);
		if (signal?.aborted) this.#stop();
	}

	async ready(): Promise<void> {
		if (this.#parts.settings.openChannel !== 'before') return;
		this.#open();
		const cancel = this.#parts.clock.after(openSeconds * 1000, () => {
			this.#isOverdue = true;
			if (this.#readiness.state === 'closed') this.#failReadiness();
		});
		await this.#readiness.ready.promise.finally(cancel);
		this.#isOverdue = false;
	}

	sending(): void {
		this.#isSent = true;
		this.#loss = undefined;
		this.#close = undefined;
		this.#collector.callSent();
	}

	/** @returns the failure of the call if the awaited messages have arrived all the same @throws it otherwise, with the received messages */
	callFailed(error: unknown): NodeError {
		const { end } = this.#collector;
		const hasCome = end === 'match' || end === 'count' || end === 'failure';
		const isDoubtful = isNodeError(error) && error.outcome !== 'notDone';
		if (hasCome && isDoubtful && !this.#parts.signal?.aborted) return error;
		if (!this.#isSent || !isNodeError(error)) throw error;
		throw this.#withDetails(withLoss(error, this.#loss));
	}

	/** Waits for the messages after the response to the call. */
	async waited(): Promise<Waited> {
		this.#open();
		this.#collector.answered();
		const { log, settings, sessionId } = this.#parts;
		log.info(
			`Agent Execute: waits up to ${settings.waitTimeoutSeconds} s for messages of session ${sessionId}`,
		);
		try {
			const endedBy = this.#checked(await this.#over.promise);
			const { early, messages, repeated } = this.#collector;
			return { early, messages, repeated, endedBy, gap: this.#loss !== undefined, close: this.#close };
		} catch (error) {
			throw isNodeError(error) ? this.#withDetails(error) : error;
		}
	}

	async close(): Promise<void> {
		this.#parts.signal?.removeEventListener('abort', this.#stop);
		this.#readiness.stop();
		this.#collector.stop();
		await this.#connection?.close();
	}

	message(frame: SessionFrame): void {
		this.#readiness.received();
		this.#collector.add(messageOf(frame));
	}

	event({ event }: ConnectionEvent): void {
		if (event === 'disconnected') return;
		this.#hopelessAttempts = 0;
		this.#readiness.opened();
	}

	/** Called at the first pong of the channel. */
	answered(): void {
		this.#readiness.answered();
	}

	/** Called when a channel closed or an attempt to open one failed. */
	ended({ closeReason, opened, decision, failure }: EndedChannel): void {
		this.#readiness.lost();
		if (closeReason.kind === 'closeFrame') {
			if (this.#collector.end === undefined) this.#close = closeReason;
			this.#collector.closed();
		}
		if (opened && this.#isSent && this.#collector.end === undefined) this.#loss = failure;
		if (!opened && isHopeless(closeReason)) this.#hopelessAttempts++;
		if (this.#isOverdue) this.#failReadiness();
		if (decision !== 'final' && this.#hopelessAttempts < 2) return;
		this.#failReadiness(closeReason);
		if (this.#isSent && !this.#collector.refused()) this.#over.reject(channelLost(failure));
	}

	#checked(end: WaitOver): EndedBy {
		const { settings, redact } = this.#parts;
		const { messages } = this.#collector;
		if (end === 'failure') throw agentFailed(messages.at(-1), settings.textField, redact);
		if (settings.onWaitTimeout === 'error' && end === 'timeout') {
			throw withLoss(notOver(settings, this.#collector, redact), this.#lastFailure() ?? this.#loss);
		}
		if (settings.onWaitTimeout === 'error' && end === 'limit') throw tooMany(messages.length);
		return end;
	}

	#withDetails(failure: NodeError): NodeError {
		const details = messageDetails(this.#collector.messages, this.#parts.redact);
		return failure.with({ details: { ...failure.details, ...details, ...(this.#loss && { gap: true }) } });
	}

	/** Handles a stopped execution before and after the call. During the call, the call itself reports it. */
	readonly #stop = () => {
		this.#readiness.ready.reject(stoppedBeforeCall());
		this.#over.reject(stoppedAfterCall());
	};

	#open(): void {
		const { connect, settings, sessionId, readRequest, clock, log } = this.#parts;
		const options = { ...settings, sessionId, reconnectMaxDelaySeconds };
		this.#connection ??= connect(options, readRequest, this, { clock, log });
	}

	#failReadiness(refusal?: CloseReason): void {
		this.#readiness.ready.reject(notOpen(this.#lastFailure(), refusal));
	}

	/** Why the channel is not open; undefined if it is. */
	#lastFailure(): NodeError | undefined {
		const status = this.#connection?.status();
		return status?.state === 'open' ? undefined : status?.lastFailure;
	}
}

/** Whether no connection can be made until someone fixes the cause. */
function isHopeless(closeReason: CloseReason): boolean {
	if (closeReason.kind !== 'network') return false;
	const { what } = networkErrorOf(closeReason);
	return what === 'certificate' || what === 'handshake' || closeReason.code === 'ENOTFOUND';
}

/** The limit, counted from the open channel, because a session may never be quiet and a server may not answer pings. */
const longestSettlingMilliseconds = 2000;

/**
 * Knows whether the channel is open and quiet, so that a greeting or repeated messages have already arrived when the call is sent. The
 * first pong alone does not show this, because the server may read those messages from a database first.
 */
class Readiness {
	/** Replaced by a new one when a ready channel is lost. */
	ready = new Deferred<undefined>();
	state: 'closed' | 'settling' | 'ready' = 'closed';
	readonly #settings: WaitSettings;
	readonly #clock: Clock;
	#isAnswered = false;
	#cancelQuiet = () => {};
	#cancelLimit = () => {};

	constructor({ settings, clock }: Pick<WaitParts, 'settings' | 'clock'>) {
		this.#settings = settings;
		this.#clock = clock;
	}

	opened(): void {
		const { heartbeatSeconds, pingText } = this.#settings;
		this.state = 'settling';
		// Only a WebSocket ping is sent as soon as the channel opens.
		const isPinged = heartbeatSeconds > 0 && pingText === '';
		this.#isAnswered = !isPinged;
		this.#cancelLimit = this.#clock.after(longestSettlingMilliseconds, this.#settled);
		this.received();
	}

	/** Called at the first pong. */
	answered(): void {
		this.#isAnswered = true;
		this.received();
	}

	received(): void {
		if (this.state === 'ready' || !this.#isAnswered) return;
		this.#cancelQuiet();
		this.#cancelQuiet = this.#clock.after(this.#settings.settleMilliseconds, this.#settled);
	}

	lost(): void {
		this.stop();
		if (this.state === 'ready') this.ready = new Deferred();
		this.state = 'closed';
	}

	/** Cancels the timers. */
	stop(): void {
		this.#cancelQuiet();
		this.#cancelLimit();
	}

	readonly #settled = () => {
		this.stop();
		this.state = 'ready';
		this.ready.resolve(undefined);
	};
}
