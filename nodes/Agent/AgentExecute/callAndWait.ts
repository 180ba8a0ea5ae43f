import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { waitAtMost } from '../../core/clock';
import { isNodeError, type NodeError } from '../../core/errors';
import type { Sanitizer } from '../../core/sanitizer';
import type { ConnectRequestReader } from '../session/connectRequest';
import type {
	connect,
	ConnectionEvent,
	ConnectionListener,
	EndedChannel,
} from '../session/connection';
import { parseFrame, type SessionFrame } from '../session/messages';
import * as errors from './errors';
import { type CollectorSetup, type EndedBy, MessageCollector } from './messageCollector';

interface WaitSetup extends CollectorSetup {
	readonly sessionId: string;
	readonly readConnectRequest: ConnectRequestReader;
	readonly signal: AbortSignal | undefined;
	readonly log: Pick<IExecuteFunctions['logger'], 'debug' | 'info' | 'warn'>;
	readonly connect: typeof connect;
	readonly sanitizer: Sanitizer;
}

export interface WaitResult extends Pick<MessageCollector, 'messages'> {
	readonly endedBy: EndedBy;
	/** Whether the channel was lost during the wait, so that messages may be missing. */
	readonly hasGap: boolean;
	/**
	 * The last close frame that arrived after the call and before the end of the wait. Undefined if
	 * there was none.
	 */
	readonly closeFrame: { readonly code: number; readonly reason: string } | undefined;
	/**
	 * The failure of a call whose awaited messages arrived nevertheless. Undefined if the call
	 * succeeded.
	 */
	readonly callFailure: NodeError | undefined;
}

/** How long the channel may take to open before the call. */
const openTimeoutSeconds = 20;
/**
 * The limit for the delays between attempts to open the channel. It is short, because a running
 * execution waits for the channel.
 */
const reconnectMaxDelaySeconds = 10;
/**
 * How long the channel must be quiet. Greetings and repeated messages that arrive until then do not
 * count as the answer.
 */
const settleMilliseconds = 250;
/**
 * An open channel counts as ready after this time, because a session may never be quiet, and a
 * server may not respond to pings.
 */
const maxSettleMilliseconds = 2000;

/**
 * Sends the call while a channel collects the session's messages.
 * @param call sends its requests, and calls `prepareAttempt` right before each
 * @throws NodeError if the call fails, the channel does not open or is refused, the wait times out
 * or is stopped, or the agent reports a failure. Once the call was sent, the details of the error
 * contain the messages that arrived after it
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
	} catch (error) {
		throw wait.addReceivedMessages(error);
	} finally {
		await wait.close();
	}
}

/** The wait of one item, with its own channel. */
class MessageWait implements ConnectionListener {
	readonly #setup: WaitSetup;
	readonly #collector: MessageCollector;
	#connection: ReturnType<typeof connect> | undefined;
	/**
	 * Whether the channel is open and quiet, so that greetings and repeated messages have arrived
	 * before the call.
	 */
	#isChannelReady = false;
	/** Whether the server may still be sending what it sent before it saw the first ping. */
	#isAwaitingPong = false;
	#cancelQuietTimer = () => {};
	#cancelLimitTimer = () => {};
	#callFailure: NodeError | undefined;
	/**
	 * The error of a channel that was refused, as long as it has not opened again. Only the long
	 * backoff is left for it.
	 */
	#refusal: NodeError | undefined;
	/**
	 * The error with which the channel was last lost after the call was sent. If it is set,
	 * messages may be missing.
	 */
	#gapCause: NodeError | undefined;
	#closeFrame: WaitResult['closeFrame'];
	/** Called after each change, so that `#waitUntil` looks again. */
	#wake = () => {};

	constructor(setup: WaitSetup) {
		this.#setup = setup;
		this.#collector = new MessageCollector(setup, this.#handleChange);
		setup.signal?.addEventListener('abort', this.#handleChange);
	}

	/**
	 * Must be called right before the call is sent. With `openChannel: before`, waits for the
	 * channel.
	 * @throws NodeError if it does not open in time
	 */
	async prepareAttempt(): Promise<void> {
		if (this.#setup.settings.openChannel === 'before') await this.#openChannel();
		this.#gapCause = undefined;
		this.#closeFrame = undefined;
		this.#collector.markCallSent();
		const { log, settings, sessionId } = this.#setup;
		// People search the log for the session if n8n is killed while it waits.
		log.info(
			`Agent Execute: starts the agent and waits up to ${settings.waitTimeoutSeconds} s for messages of session ${sessionId}`,
		);
	}

	/**
	 * Keeps the failure of a call whose awaited messages arrived, if the service may have accepted
	 * the call. Otherwise throws it.
	 */
	handleCallFailure(error: unknown): void {
		if (!isNodeError(error)) throw error;
		const { endReason } = this.#collector;
		const hasAwaitedMessages =
			endReason === 'match' || endReason === 'count' || endReason === 'failure';
		if (!hasAwaitedMessages || error.outcome === 'notDone' || this.#isStopped())
			throw errors.addPossibleGap(error, this.#gapCause);
		this.#callFailure = error;
	}

	/** Waits until the end condition is met. Must be called after the call has ended. */
	async awaitMessages(): Promise<WaitResult> {
		const collector = this.#collector;
		this.#ensureConnection();
		collector.markCallEnded();
		await this.#waitUntil(
			() => collector.endReason !== undefined || this.#refusal !== undefined,
		);
		return {
			messages: collector.messages,
			endedBy: this.#checkEnd(),
			hasGap: this.#gapCause !== undefined,
			closeFrame: this.#closeFrame,
			callFailure: this.#callFailure,
		};
	}

	/** Adds what arrived after the call to a failure. */
	addReceivedMessages(error: unknown): unknown {
		const { messages } = this.#collector;
		if (!isNodeError(error) || (messages.length === 0 && !this.#gapCause)) return error;
		const lastMessages = errors.listLastMessages(messages, this.#setup.sanitizer);
		const details: IDataObject = { ...error.details, messages: lastMessages };
		if (this.#gapCause) details.gap = true;
		return error.with({ details });
	}

	async close(): Promise<void> {
		this.#setup.signal?.removeEventListener('abort', this.#handleChange);
		this.#stopReadinessTimers();
		this.#collector.stop();
		await this.#connection?.close();
	}

	onFrame(frame: SessionFrame): void {
		this.#restartQuietTimer();
		this.#collector.add(parseFrame(frame));
	}

	onEvent({ event }: ConnectionEvent): void {
		if (event === 'disconnected') return;
		this.#refusal = undefined;
		const { clock, settings } = this.#setup;
		// Without WebSocket pings, no pong will arrive. A text ping is not sent as soon as the
		// channel opens.
		this.#isAwaitingPong = settings.heartbeatSeconds !== 0 && settings.pingText === '';
		this.#cancelLimitTimer = clock.callAfter(maxSettleMilliseconds, this.#becomeReady);
		this.#restartQuietTimer();
	}

	onPong(): void {
		this.#isAwaitingPong = false;
		this.#restartQuietTimer();
	}

	onChannelEnd({ closeReason, wasOpen, decision, failure }: EndedChannel): void {
		this.#stopReadinessTimers();
		this.#isChannelReady = false;
		const isWaiting = this.#collector.isCollecting;
		this.#collector.handleChannelEnd(closeReason);
		if (isWaiting && closeReason.kind === 'closeFrame') this.#closeFrame = closeReason;
		// A close that ends the wait is no gap in it.
		if (isWaiting && wasOpen && this.#collector.endReason !== 'close') this.#gapCause = failure;
		if (decision === 'longBackoff') this.#refusal = failure;
		this.#handleChange();
	}

	async #openChannel(): Promise<void> {
		const { clock } = this.#setup;
		// After a pause between two attempts, what has arrived is read before the state of the
		// channel.
		if (this.#connection) await yieldToEventLoop();
		this.#ensureConnection();
		// A ready channel may have received the server's close frame already. Then the call waits
		// for the next channel.
		const isReady = () => this.#isChannelReady && !this.#connection?.isClosing();
		const opening = this.#waitUntil(() => this.#refusal !== undefined || isReady());
		await waitAtMost(clock, openTimeoutSeconds * 1000, opening);
		if (this.#isStopped()) throw errors.createStoppedBeforeCallError();
		if (isReady()) return;
		const failure = this.#refusal ?? this.#findLastFailure();
		throw errors.createChannelNotOpenError(openTimeoutSeconds, failure);
	}

	/** Waits until the condition is met or the execution is stopped. */
	async #waitUntil(isMet: () => boolean): Promise<void> {
		for (;;) {
			const changed = new Promise<void>((resolve) => (this.#wake = resolve));
			if (this.#isStopped() || isMet()) return;
			await changed;
		}
	}

	readonly #handleChange = () => {
		this.#wake();
	};

	#isStopped(): boolean {
		return this.#setup.signal?.aborted === true;
	}

	/** Finds the output's `endedBy`. @throws NodeError if this end is a failure of the item */
	#checkEnd(): EndedBy {
		const { settings, sanitizer } = this.#setup;
		const { messages, endReason = this.#refusal } = this.#collector;
		if (this.#isStopped() || endReason === undefined)
			throw errors.createStoppedAfterCallError();
		if (typeof endReason === 'object') {
			// A service may end the session after its last message.
			if (settings.waitUntil === 'silence' && messages.length > 0) return 'silence';
			throw errors.markAsStarted(endReason, 'its messages cannot be received');
		}
		// The message with the failure is the last one, because it ended the wait.
		if (endReason === 'failure')
			throw errors.createAgentFailureError(messages.at(-1), settings.textField, sanitizer);
		if (settings.onWaitTimeout === 'output') return endReason;
		if (endReason === 'limit') throw errors.createLimitError(messages.length);
		if (endReason !== 'timeout') return endReason;
		const { waitTimeoutSeconds } = settings;
		const failure = errors.createWaitTimeoutError(waitTimeoutSeconds, this.#collector);
		throw errors.addPossibleGap(failure, this.#findLastFailure() ?? this.#gapCause);
	}

	/**
	 * Connects unless that was done before the call. With `openChannel: after`, this is done only
	 * when the wait begins.
	 */
	#ensureConnection(): void {
		const { connect, settings, sessionId, readConnectRequest, clock, log } = this.#setup;
		const options = { ...settings, sessionId, reconnectMaxDelaySeconds };
		this.#connection ??= connect(options, readConnectRequest, this, { clock, log });
	}

	/** Finds out why the channel is not open. Returns undefined if the channel is open. */
	#findLastFailure(): NodeError | undefined {
		const status = this.#connection?.getStatus();
		return status?.isOpen ? undefined : status?.lastFailure;
	}

	/**
	 * The first pong is not enough, because the server may still be reading messages that it
	 * repeats from a database.
	 */
	#restartQuietTimer(): void {
		if (this.#isChannelReady || this.#isAwaitingPong) return;
		this.#cancelQuietTimer();
		this.#cancelQuietTimer = this.#setup.clock.callAfter(settleMilliseconds, this.#becomeReady);
	}

	readonly #becomeReady = () => {
		this.#stopReadinessTimers();
		this.#isChannelReady = true;
		this.#handleChange();
	};

	#stopReadinessTimers(): void {
		this.#cancelQuietTimer();
		this.#cancelLimitTimer();
	}
}
