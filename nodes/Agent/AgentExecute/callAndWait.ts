import type { IExecuteFunctions } from 'n8n-workflow';

import { isNodeError, type NodeError } from '../../core/errors';
import { classifyNetworkError } from '../../http/networkErrors';
import { type CloseReason } from '../session/closeReason';
import type { ConnectRequestReader, Sanitize } from '../session/credentials';
import type { connect, ConnectionEvent, ConnectionListener, EndedChannel } from '../session/connection';
import { parseFrame, type SessionFrame } from '../session/messages';
import * as errors from './errors';
import { type CollectorParts, MessageCollector, type WaitEnd, type WaitEndReason } from './waitEnd';

export interface WaitParts extends CollectorParts {
	readonly sessionId: string;
	/** Called for each attempt to open the channel. */
	readonly readRequest: ConnectRequestReader;
	readonly signal: AbortSignal | undefined;
	readonly log: Pick<IExecuteFunctions['logger'], 'debug' | 'info' | 'warn'>;
	readonly connect: typeof connect;
	/** Removes the secrets from the texts of the service. */
	readonly sanitize: Sanitize;
}

export interface WaitResult extends Pick<MessageCollector, 'early' | 'messages' | 'repeated'> {
	readonly endedBy: WaitEndReason;
	/** Whether the channel was lost before the end, so that messages may be missing. */
	readonly gap: boolean;
	/** The last close frame of the service, if it sent one. */
	readonly close: { readonly code: number; readonly reason: string } | undefined;
	/** The failure of the call, if the awaited messages have arrived all the same. */
	readonly failure: NodeError | undefined;
}

/** Short, because a running execution waits for the channel. */
const reconnectMaxDelaySeconds = 10;

/**
 * Makes the call while a channel collects the session's messages.
 * @param call sends the execute call, and calls `prepareAttempt` right before each request
 * @throws NodeError if the call fails, the channel does not open or is refused, the wait times out or is stopped, or the agent reports a
 * failure. After the call it contains the received messages
 */
export async function callAndWait(
	parts: WaitParts,
	call: (prepareAttempt: () => Promise<void>) => Promise<unknown>,
): Promise<WaitResult> {
	const wait = new MessageWait(parts);
	try {
		await call(() => wait.prepareAttempt()).catch((error: unknown) => {
			wait.handleCallFailure(error);
		});
		return await wait.awaitMessages();
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
class MessageWait implements ConnectionListener {
	readonly #parts: WaitParts;
	readonly #collector: MessageCollector;
	readonly #readiness: ChannelReadiness;
	readonly #waitEnd = new Deferred<WaitEnd>();
	#connection: ReturnType<typeof connect> | undefined;
	#isCallSent = false;
	#callFailure: NodeError | undefined;
	/** Whether the time for the channel to open is over. */
	#isOpenOverdue = false;
	/** Counts attempts that failed for a reason that does not pass by itself, since the channel was last open. */
	#hopelessAttempts = 0;
	/** How the channel was lost last since the call was sent. */
	#lastLoss: NodeError | undefined;
	#closeFrame: WaitResult['close'];

	constructor(parts: WaitParts) {
		const { signal } = parts;
		this.#parts = parts;
		this.#readiness = new ChannelReadiness(parts);
		this.#collector = new MessageCollector(parts, this.#waitEnd.resolve);
		signal?.addEventListener('abort', this.#stop);
		if (signal?.aborted) this.#stop();
	}

	/** With `openChannel: before`, waits for the channel. @throws NodeError if it does not open in time, so that nothing may be sent */
	async prepareAttempt(): Promise<void> {
		if (this.#parts.settings.openChannel === 'before') await this.#openChannelInTime();
		this.#isCallSent = true;
		this.#lastLoss = undefined;
		this.#closeFrame = undefined;
		this.#collector.markCallSent();
	}

	async #openChannelInTime(): Promise<void> {
		this.#openConnection();
		const cancel = this.#parts.clock.callAfter(errors.openTimeoutSeconds * 1000, () => {
			this.#isOpenOverdue = true;
			if (this.#readiness.state === 'closed') this.#failReadiness();
		});
		await this.#readiness.ready.promise.finally(cancel);
		this.#isOpenOverdue = false;
	}

	/** Keeps the failure of a call that was perhaps accepted, if the awaited messages came. @throws any other, with the received messages */
	handleCallFailure(error: unknown): void {
		const { end } = this.#collector;
		const hasArrived = end === 'match' || end === 'count' || end === 'failure';
		const isDoubtful = isNodeError(error) && error.outcome !== 'notDone';
		if (hasArrived && isDoubtful && !this.#parts.signal?.aborted) this.#callFailure = error;
		else if (!this.#isCallSent || !isNodeError(error)) throw error;
		else throw this.#addDetails(errors.addPossibleGap(error, this.#lastLoss));
	}

	/** Waits for the messages after the response to the call. */
	async awaitMessages(): Promise<WaitResult> {
		this.#openConnection();
		this.#collector.markCallAnswered();
		const { log, settings, sessionId } = this.#parts;
		const { waitTimeoutSeconds } = settings;
		log.info(`Agent Execute: waits up to ${waitTimeoutSeconds} s for messages of session ${sessionId}`);
		try {
			const endedBy = this.#checkEnd(await this.#waitEnd.promise);
			const { early, messages, repeated } = this.#collector;
			const gap = this.#lastLoss !== undefined;
			return { early, messages, repeated, endedBy, gap, close: this.#closeFrame, failure: this.#callFailure };
		} catch (error) {
			throw isNodeError(error) ? this.#addDetails(error) : error;
		}
	}

	async close(): Promise<void> {
		this.#parts.signal?.removeEventListener('abort', this.#stop);
		this.#readiness.stopTimers();
		this.#collector.stop();
		await this.#connection?.close();
	}

	onMessage(frame: SessionFrame): void {
		this.#readiness.restartQuietTimer();
		this.#collector.add(parseFrame(frame));
	}

	onEvent({ event }: ConnectionEvent): void {
		if (event === 'disconnected') return;
		this.#hopelessAttempts = 0;
		this.#readiness.handleOpen();
	}

	onFirstPong(): void {
		this.#readiness.handleFirstPong();
	}

	/** Called when a channel closed or an attempt to open one failed. */
	onChannelEnd({ closeReason, wasOpen, decision, failure }: EndedChannel): void {
		this.#readiness.handleClose();
		if (closeReason.kind === 'closeFrame') {
			if (this.#collector.end === undefined) this.#closeFrame = closeReason;
			this.#collector.handleCloseFrame();
		}
		if (wasOpen && this.#isCallSent && this.#collector.end === undefined) this.#lastLoss = failure;
		if (!wasOpen && isLastingFault(closeReason)) this.#hopelessAttempts++;
		if (this.#isOpenOverdue) this.#failReadiness();
		if (decision !== 'final' && this.#hopelessAttempts < 2) return;
		this.#failReadiness(closeReason);
		if (this.#isCallSent && !this.#collector.handleNoMoreMessages())
			this.#waitEnd.reject(errors.addAgentStarted(failure));
	}

	#checkEnd(end: WaitEnd): WaitEndReason {
		const { settings, sanitize } = this.#parts;
		const { messages } = this.#collector;
		if (end === 'failure')
			throw errors.createAgentFailureError(messages.at(-1), settings.textField, sanitize);
		if (settings.onWaitTimeout === 'output') return end;
		if (end === 'limit') throw errors.createTooManyMessagesError(messages.length);
		if (end !== 'timeout') return end;
		const failure = errors.createWaitTimeoutError(settings, this.#collector, sanitize);
		throw errors.addPossibleGap(failure, this.#findLastFailure() ?? this.#lastLoss);
	}

	#addDetails(failure: NodeError): NodeError {
		const received = errors.buildMessageDetails(this.#collector.messages, this.#parts.sanitize);
		const gap = this.#lastLoss && { gap: true };
		return failure.with({ details: { ...failure.details, ...received, ...gap } });
	}

	/** Handles a stopped execution before and after the call. During the call, the call itself reports it. */
	readonly #stop = () => {
		this.#readiness.ready.reject(errors.createStoppedBeforeCallError());
		this.#waitEnd.reject(errors.createStoppedAfterCallError());
	};

	#openConnection(): void {
		const { connect, settings, sessionId, readRequest, clock, log } = this.#parts;
		const options = { ...settings, sessionId, reconnectMaxDelaySeconds };
		this.#connection ??= connect(options, readRequest, this, { clock, log });
	}

	#failReadiness(refusal?: CloseReason): void {
		this.#readiness.ready.reject(errors.createChannelNotOpenError(this.#findLastFailure(), refusal));
	}

	/** Why the channel is not open; undefined if it is. */
	#findLastFailure(): NodeError | undefined {
		const status = this.#connection?.getStatus();
		return status?.state === 'open' ? undefined : status?.lastFailure;
	}
}

/** Whether no connection can be made until someone fixes the cause. */
function isLastingFault(closeReason: CloseReason): boolean {
	if (closeReason.kind !== 'network') return false;
	const { category } = classifyNetworkError(closeReason);
	return category === 'certificate' || category === 'handshake' || closeReason.code === 'ENOTFOUND';
}

/** Limits the wait for an open channel to become quiet: a session may never be quiet, and a server may not answer pings. */
const maxSettleMilliseconds = 2000;

/**
 * Tells when the channel is open and quiet. The call waits for this, so that a greeting or repeated messages arrive before it is sent.
 * The first pong is not enough, because the server may still be reading those messages from a database.
 */
class ChannelReadiness {
	/** Replaced by a new one when a ready channel is lost. */
	ready = new Deferred<undefined>();
	state: 'closed' | 'settling' | 'ready' = 'closed';
	readonly #parts: WaitParts;
	#hasReceivedPong = false;
	#cancelQuiet = () => {};
	#cancelLimit = () => {};

	constructor(parts: WaitParts) {
		this.#parts = parts;
	}

	handleOpen(): void {
		const { clock, settings } = this.#parts;
		this.state = 'settling';
		// Only a WebSocket ping is sent as soon as the channel opens.
		this.#hasReceivedPong = settings.heartbeatSeconds === 0 || settings.pingText !== '';
		this.#cancelLimit = clock.callAfter(maxSettleMilliseconds, this.#becomeReady);
		this.restartQuietTimer();
	}

	handleFirstPong(): void {
		this.#hasReceivedPong = true;
		this.restartQuietTimer();
	}

	restartQuietTimer(): void {
		if (this.state === 'ready' || !this.#hasReceivedPong) return;
		this.#cancelQuiet();
		const { clock, settings } = this.#parts;
		this.#cancelQuiet = clock.callAfter(settings.settleMilliseconds, this.#becomeReady);
	}

	handleClose(): void {
		this.stopTimers();
		if (this.state === 'ready') this.ready = new Deferred();
		this.state = 'closed';
	}

	stopTimers(): void {
		this.#cancelQuiet();
		this.#cancelLimit();
	}

	readonly #becomeReady = () => {
		this.stopTimers();
		this.state = 'ready';
		this.ready.resolve(undefined);
	};
}
