import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IExecuteFunctions } from 'n8n-workflow';

import { isNodeError, type NodeError } from '../../core/errors';
import type { Sanitize } from '../../core/sanitizer';
import { type CloseReason } from '../session/closeReason';
import type { ConnectRequestReader } from '../session/connectRequest';
import type {
	connect,
	ConnectionEvent,
	ConnectionListener,
	EndedChannel,
} from '../session/connection';
import { parseFrame, type SessionFrame } from '../session/messages';
import * as errors from './errors';
import { type CollectorSetup, MessageCollector, type WaitEndReason, type EndedBy } from './waitEnd';

export interface WaitSetup extends CollectorSetup {
	readonly sessionId: string;
	readonly readConnectRequest: ConnectRequestReader;
	readonly signal: AbortSignal | undefined;
	readonly log: Pick<IExecuteFunctions['logger'], 'debug' | 'info' | 'warn'>;
	readonly connect: typeof connect;
	readonly sanitize: Sanitize;
}

export interface WaitResult extends Pick<MessageCollector, 'messages' | 'repeatedCount'> {
	readonly endedBy: EndedBy;
	/** Whether the channel was lost during the wait, so that messages may be missing. */
	readonly hasGap: boolean;
	/** The last close frame that arrived after the call and before the end of the wait. Undefined if there was none. */
	readonly closeFrame: { readonly code: number; readonly reason: string } | undefined;
	/** The failure of a call whose awaited messages arrived nevertheless. Undefined if the call succeeded. */
	readonly callFailure: NodeError | undefined;
}

/** The limit for the delays between attempts to open the channel. It is short, because a running execution waits for the channel. */
const reconnectMaxDelaySeconds = 10;

/**
 * Sends the call while a channel collects the session's messages. @param call sends its requests, and calls `prepareAttempt` right before each
 * @throws NodeError if the call fails, the channel does not open or is refused, the wait times out or is stopped, or the agent reports a
 * failure. Once the call was sent, the details of the error contain the messages that arrived after it
 */
export async function callAndWait(
	setup: WaitSetup,
	call: (prepareAttempt: () => Promise<void>) => Promise<unknown>,
): Promise<WaitResult> {
	const wait = new MessageWait(setup);
	try {
		await call(() => wait.prepareAttempt()).catch((error: unknown) => {
			wait.handleCallFailure(error);
		});
		return await wait.awaitMessages();
	} finally {
		await wait.close();
	}
}

/** A promise that other code settles. A rejection that no code awaits is ignored. */
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
	readonly #setup: WaitSetup;
	readonly #collector: MessageCollector;
	readonly #readiness: ChannelReadiness;
	readonly #deferredEndReason = new Deferred<WaitEndReason>();
	#connection: ReturnType<typeof connect> | undefined;
	#isCallSent = false;
	#callFailure: NodeError | undefined;
	/** Whether the time limit for opening the channel has passed. */
	#isReadinessOverdue = false;
	/** How many attempts to open the channel have failed with a lasting fault since it was last open. */
	#lastingFaultCount = 0;
	/** The error with which the channel was last lost after the call was sent. If it is set, messages may be missing. */
	#gapCause: NodeError | undefined;
	#closeFrame: WaitResult['closeFrame'];
	#hasOversizedMessage = false;

	constructor(setup: WaitSetup) {
		const { signal } = setup;
		this.#setup = setup;
		this.#readiness = new ChannelReadiness(setup);
		this.#collector = new MessageCollector(setup, this.#deferredEndReason.resolve);
		signal?.addEventListener('abort', this.#handleStop);
		if (signal?.aborted) this.#handleStop();
	}

	/** Must be called right before the call is sent. With `openChannel: before`, waits for the channel. @throws NodeError if it does not open in time */
	async prepareAttempt(): Promise<void> {
		if (this.#setup.settings.openChannel === 'before') await this.#openChannelInTime();
		this.#isCallSent = true;
		this.#gapCause = undefined;
		this.#closeFrame = undefined;
		this.#collector.markCallSent();
		const { log, settings, sessionId } = this.#setup;
		// People search the log for the session if n8n is killed while it waits.
		log.info(
			`Agent Execute: starts the agent and waits up to ${settings.waitTimeoutSeconds} s for messages of session ${sessionId}`,
		);
	}

	async #openChannelInTime(): Promise<void> {
		// After a pause between two attempts, what has arrived is read before the state of the channel.
		if (this.#connection) await yieldToEventLoop();
		this.#ensureConnection();
		const cancelTimer = this.#setup.clock.callAfter(errors.openTimeoutSeconds * 1000, () => {
			this.#isReadinessOverdue = true;
			// A channel that is already open is not given up, because it will be ready within `maxSettleMilliseconds`.
			if (this.#readiness.state === 'closed') this.#failReadiness();
		});
		try {
			await this.#readiness.deferredReadiness.promise;
			// A ready channel may have received the server's close frame already. Then the call waits for the next channel.
			while (this.#connection?.isClosing()) {
				this.#readiness.handleClose();
				// The new promise does not know of an earlier stop.
				if (this.#setup.signal?.aborted) this.#handleStop();
				await this.#readiness.deferredReadiness.promise;
			}
		} finally {
			cancelTimer();
		}
		this.#isReadinessOverdue = false;
	}

	/** Keeps the failure of a call whose awaited messages arrived, if the service may have accepted the call. Otherwise throws it. */
	handleCallFailure(error: unknown): void {
		if (!this.#isCallSent || !isNodeError(error)) throw error;
		const { endReason } = this.#collector;
		const hasAwaitedMessages =
			endReason === 'match' || endReason === 'count' || endReason === 'failure';
		if (!hasAwaitedMessages || error.outcome === 'notDone' || this.#setup.signal?.aborted)
			throw this.#addReceivedMessages(errors.addPossibleGap(error, this.#gapCause));
		this.#callFailure = error;
	}

	/** Waits until the end condition is met. Must be called after the call has ended. */
	async awaitMessages(): Promise<WaitResult> {
		this.#ensureConnection();
		this.#collector.markCallEnded();
		try {
			const endedBy = this.#checkEndReason(await this.#deferredEndReason.promise);
			const { messages, repeatedCount } = this.#collector;
			return {
				messages,
				repeatedCount,
				endedBy,
				hasGap: this.#gapCause !== undefined,
				closeFrame: this.#closeFrame,
				callFailure: this.#callFailure,
			};
		} catch (error) {
			throw isNodeError(error) ? this.#addReceivedMessages(error) : error;
		}
	}

	async close(): Promise<void> {
		this.#setup.signal?.removeEventListener('abort', this.#handleStop);
		this.#readiness.stopTimers();
		this.#collector.stop();
		await this.#connection?.close();
	}

	onFrame(frame: SessionFrame): void {
		this.#readiness.restartQuietTimer();
		this.#collector.add(parseFrame(frame));
	}

	onEvent({ event }: ConnectionEvent): void {
		if (event === 'disconnected') return;
		this.#lastingFaultCount = 0;
		this.#readiness.handleOpen();
	}

	onFirstPong(): void {
		this.#readiness.handleFirstPong();
	}

	onChannelEnd({ closeReason, wasOpen, decision, failure }: EndedChannel): void {
		this.#readiness.handleClose();
		if (closeReason.kind === 'closeFrame') {
			if (this.#collector.endReason === undefined) this.#closeFrame = closeReason;
			this.#collector.handleCloseFrame();
		}
		if (wasOpen && this.#isCallSent && this.#collector.endReason === undefined)
			this.#gapCause = failure;
		if (closeReason.kind === 'tooLarge') {
			this.#hasOversizedMessage = true;
			this.#collector.handleOversizedMessage();
		}
		if (!wasOpen && isLastingFault(closeReason)) this.#lastingFaultCount++;
		if (this.#isReadinessOverdue) this.#failReadiness();
		// The channel is given up if only the long backoff is left, or if a lasting fault has occurred twice.
		const isGivenUp = decision === 'longBackoff' || this.#lastingFaultCount >= 2;
		if (!isGivenUp) return;
		this.#failReadiness(closeReason);
		if (this.#isCallSent && !this.#collector.handleNoMoreMessages())
			this.#deferredEndReason.reject(errors.addStartedText(failure));
	}

	/** Converts why the wait ended to the output's `endedBy`. @throws NodeError if this end is a failure of the item */
	#checkEndReason(endReason: WaitEndReason): EndedBy {
		const { settings, sanitize } = this.#setup;
		const { messages } = this.#collector;
		const { textField, onWaitTimeout } = settings;
		// The message with the failure is the last one, because it ended the wait.
		if (endReason === 'failure')
			throw errors.createAgentFailureError(messages.at(-1), textField, sanitize);
		if (onWaitTimeout === 'output') return endReason;
		if (endReason === 'limit')
			throw this.#hasOversizedMessage
				? errors.createOversizedMessageError()
				: errors.createTooManyMessagesError(messages.length);
		if (endReason !== 'timeout') return endReason;
		const failure = errors.createWaitTimeoutError(settings, this.#collector, sanitize);
		throw errors.addPossibleGap(failure, this.#findLastFailure() ?? this.#gapCause);
	}

	#addReceivedMessages(failure: NodeError): NodeError {
		const receivedMessages = errors.buildMessageDetails(
			this.#collector.messages,
			this.#setup.sanitize,
		);
		const gap = this.#gapCause && { gap: true };
		return failure.with({ details: { ...failure.details, ...receivedMessages, ...gap } });
	}

	/** Ends the wait of a stopped execution. During the call, the call itself reports the stop. */
	readonly #handleStop = () => {
		this.#readiness.deferredReadiness.reject(errors.createStoppedBeforeCallError());
		this.#deferredEndReason.reject(errors.createStoppedAfterCallError());
	};

	/** Connects unless that was done before the call. With `openChannel: after`, this is done only when the wait begins. */
	#ensureConnection(): void {
		const { connect, settings, sessionId, readConnectRequest, clock, log } = this.#setup;
		const options = { ...settings, sessionId, reconnectMaxDelaySeconds };
		this.#connection ??= connect(options, readConnectRequest, this, { clock, log });
	}

	#failReadiness(closeReason?: CloseReason): void {
		const failure = errors.createChannelNotOpenError(this.#findLastFailure(), closeReason);
		this.#readiness.deferredReadiness.reject(failure);
	}

	/** Finds out why the channel is not open. Returns undefined if the channel is open. */
	#findLastFailure(): NodeError | undefined {
		const status = this.#connection?.getStatus();
		return status?.isOpen ? undefined : status?.lastFailure;
	}
}

/** Whether the fault lasts until somebody fixes its cause. */
function isLastingFault(closeReason: CloseReason): boolean {
	if (closeReason.kind !== 'network') return false;
	const { category, errorCode } = closeReason.error;
	return category === 'certificate' || category === 'handshake' || errorCode === 'ENOTFOUND';
}

/** How long the channel must be quiet. Greetings and repeated messages that arrive until then do not count as the answer. */
const settleMilliseconds = 250;
/** An open channel counts as ready after this time, because a session may never be quiet, and a server may not respond to pings. */
const maxSettleMilliseconds = 2000;

/**
 * Tells when the channel is ready: open and quiet. The call is sent only then, so that a greeting or repeated messages arrive before it.
 * The first pong is not enough, because the server may still be reading these messages from a database.
 */
class ChannelReadiness {
	/** Resolves when the channel is ready. If a ready channel is lost, a new object replaces it. */
	deferredReadiness = new Deferred<undefined>();
	state: 'closed' | 'settling' | 'ready' = 'closed';
	readonly #setup: WaitSetup;
	#isAwaitingPong = true;
	#cancelQuietTimer = () => {};
	#cancelLimitTimer = () => {};

	constructor(setup: WaitSetup) {
		this.#setup = setup;
	}

	handleOpen(): void {
		const { clock, settings } = this.#setup;
		this.state = 'settling';
		// Without WebSocket pings, no pong will arrive. A text ping is not sent as soon as the channel opens.
		this.#isAwaitingPong = settings.heartbeatSeconds !== 0 && settings.pingText === '';
		this.#cancelLimitTimer = clock.callAfter(maxSettleMilliseconds, this.#becomeReady);
		this.restartQuietTimer();
	}

	handleFirstPong(): void {
		this.#isAwaitingPong = false;
		this.restartQuietTimer();
	}

	restartQuietTimer(): void {
		if (this.state === 'ready' || this.#isAwaitingPong) return;
		this.#cancelQuietTimer();
		this.#cancelQuietTimer = this.#setup.clock.callAfter(settleMilliseconds, this.#becomeReady);
	}

	handleClose(): void {
		this.stopTimers();
		if (this.state === 'ready') this.deferredReadiness = new Deferred();
		this.state = 'closed';
	}

	stopTimers(): void {
		this.#cancelQuietTimer();
		this.#cancelLimitTimer();
	}

	readonly #becomeReady = () => {
		this.stopTimers();
		this.state = 'ready';
		this.deferredReadiness.resolve(undefined);
	};
}
