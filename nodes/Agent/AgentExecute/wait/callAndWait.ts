import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IExecuteFunctions } from 'n8n-workflow';

import { type Clock, waitAtMost } from '../../../core/clock';
import { isNodeError, type NodeError } from '../../../core/errors';
import type { ConnectRequestReader } from '../../session/connectRequest';
import type {
	connect,
	ConnectionEvent,
	ConnectionListener,
	EndedChannel,
} from '../../session/connection';
import {
	findMessageId,
	meetsCondition,
	parseFrame,
	type SessionFrame,
} from '../../session/messages';
import type { AgentCall } from '../call';
import * as errors from '../errors';
import type { WaitSettings } from '../parameters';
import { ReceivedIds } from './receivedIds';
import { Turn } from './turn';

interface WaitSetup {
	/** Its turn begins whenever it is sent. */
	readonly call: Pick<AgentCall, 'sessionId' | 'sessionKey' | 'sanitizer' | 'turn'>;
	readonly settings: WaitSettings;
	readonly readConnectRequest: ConnectRequestReader;
	readonly clock: Clock;
	readonly signal: AbortSignal | undefined;
	readonly log: Pick<IExecuteFunctions['logger'], 'debug' | 'info' | 'warn'>;
	readonly connect: typeof connect;
	/** Called with what each message of the turn adds to the answer, which may be nothing. */
	readonly onText: (text: string) => void;
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
 * Sends the call while a channel collects the session's messages in the turn of the call.
 * @param send sends its requests, and calls `prepareAttempt` right before each
 * @throws NodeError if the call fails, the channel does not open or is refused, the wait times out
 * or is stopped, or the agent reports a failure
 */
export async function callAndWait(
	setup: WaitSetup,
	send: (prepareAttempt: () => Promise<void>) => Promise<unknown>,
): Promise<void> {
	const wait = new MessageWait(setup);
	try {
		await send(() => wait.prepareAttempt()).catch((error: unknown) => {
			wait.handleCallFailure(error);
		});
		await wait.awaitEnd();
	} finally {
		await wait.close();
	}
}

/** The wait of one item, with its own channel. Times are monotonic milliseconds. */
class MessageWait implements ConnectionListener {
	readonly #setup: WaitSetup;
	readonly #receivedIds: ReceivedIds;
	#connection: ReturnType<typeof connect> | undefined;
	/** When the channel opened. Infinity if it is not open. */
	#openedAt = Infinity;
	/**
	 * Since when nothing has arrived on the channel. Infinity if it is not open, or if the server
	 * may still be sending what it sent before it saw the first ping.
	 */
	#quietSince = Infinity;
	/**
	 * The error of a channel that was refused, as long as it has not opened again. Only the long
	 * backoff is left for it.
	 */
	#refusal: NodeError | undefined;
	/** Called after each change, so that `#waitUntil` looks again. */
	#wake = () => {};

	constructor(setup: WaitSetup) {
		this.#setup = setup;
		this.#receivedIds = new ReceivedIds(setup.call.sessionKey);
		setup.signal?.addEventListener('abort', this.#handleChange);
	}

	/**
	 * Must be called right before the call is sent. With `openChannel: before`, waits for the
	 * channel.
	 * @throws NodeError if it does not open in time
	 */
	async prepareAttempt(): Promise<void> {
		const { call, settings, log } = this.#setup;
		if (settings.openChannel === 'before') await this.#openChannel();
		call.turn = new Turn(settings);
		// People search the log for the session if n8n is killed while it waits.
		log.info(
			`Agent Execute: starts the agent and waits up to ${settings.waitTimeoutSeconds} s for messages of session ${call.sessionId}`,
		);
	}

	/**
	 * Keeps the failure of a call whose awaited messages arrived, if the service may have accepted
	 * the call. Otherwise throws it.
	 */
	handleCallFailure(error: unknown): void {
		if (!isNodeError(error)) throw error;
		const { turn } = this.#setup.call;
		const hasAwaitedMessages = ['match', 'count', 'failure'].includes(turn?.endReason ?? '');
		if (!turn || !hasAwaitedMessages || error.outcome === 'notDone' || this.#isStopped())
			throw errors.addPossibleGap(error, turn?.gapCause);
		turn.callFailure = error;
	}

	/**
	 * Waits until the end condition is met. Must be called after the call has ended.
	 * @throws NodeError if this end is a failure of the item
	 */
	async awaitEnd(): Promise<void> {
		const { call, settings } = this.#setup;
		const turn = (call.turn ??= new Turn(settings));
		this.#ensureConnection();
		const timeoutAt = this.#now + settings.waitTimeoutSeconds * 1000;
		await this.#waitUntil(() => {
			if (turn.endReason !== undefined || this.#refusal !== undefined) return this.#now;
			return Math.min(timeoutAt, turn.silentAt);
		});
		if (this.#isStopped()) throw errors.createStoppedAfterCallError();
		if (turn.endReason === undefined && this.#refusal) {
			// A service may end the session after its last message.
			if (turn.silentAt === Infinity)
				throw errors.markAsStarted(this.#refusal, 'its messages cannot be received');
			turn.endReason = 'silence';
		}
		turn.endReason ??= turn.silentAt < timeoutAt ? 'silence' : 'timeout';
		this.#checkEnd(turn);
	}

	async close(): Promise<void> {
		this.#setup.signal?.removeEventListener('abort', this.#handleChange);
		this.#receivedIds.keep();
		await this.#connection?.close();
	}

	onFrame(frame: SessionFrame): void {
		// Infinity stays, because only a pong ends the wait for it.
		this.#quietSince = Math.max(this.#quietSince, this.#now);
		if (this.#setup.call.turn?.endReason === undefined) this.#collect(frame);
		this.#handleChange();
	}

	onEvent({ event }: ConnectionEvent): void {
		if (event === 'disconnected') return;
		this.#refusal = undefined;
		const { heartbeatSeconds, pingText } = this.#setup.settings;
		this.#openedAt = this.#now;
		// Without WebSocket pings, no pong will arrive. A text ping is not sent as soon as the
		// channel opens.
		const isPinged = heartbeatSeconds !== 0 && pingText === '';
		this.#quietSince = isPinged ? Infinity : this.#now;
		this.#handleChange();
	}

	onPong(): void {
		this.#quietSince = this.#now;
		this.#handleChange();
	}

	onChannelEnd(end: EndedChannel): void {
		this.#openedAt = Infinity;
		this.#quietSince = Infinity;
		this.#setup.call.turn?.handleChannelEnd(end);
		if (end.decision === 'longBackoff') this.#refusal = end.failure;
		this.#handleChange();
	}

	/**
	 * Adds a message to the turn, unless it came before the call, the filter leaves it out, or its
	 * ID came before.
	 */
	#collect(frame: SessionFrame): void {
		const { call, settings, onText } = this.#setup;
		const { filterCondition, failureCondition, deduplicationField } = settings;
		const message = parseFrame(frame);
		const isAccepted =
			filterCondition === undefined ||
			meetsCondition(message, filterCondition) ||
			meetsCondition(message, failureCondition);
		if (!isAccepted) {
			if (call.turn) call.turn.hasLeftOut = true;
			return;
		}
		// An ID from before the call is remembered, too, so that the message does not count later.
		if (!this.#receivedIds.addIfNew(findMessageId(message, deduplicationField))) return;
		if (call.turn) onText(call.turn.add(message, this.#now));
	}

	async #openChannel(): Promise<void> {
		this.#ensureConnection();
		const deadline = this.#now + openTimeoutSeconds * 1000;
		await this.#waitUntil(() =>
			this.#refusal ? this.#now : Math.min(deadline, this.#findReadyTime()),
		);
		if (this.#isStopped()) throw errors.createStoppedBeforeCallError();
		if (this.#findReadyTime() <= this.#now) return;
		const failure = this.#refusal ?? this.#findLastFailure();
		throw errors.createChannelNotOpenError(openTimeoutSeconds, failure);
	}

	/**
	 * Finds the time from which on the channel is ready, unless something arrives before: it is
	 * open and quiet, so that greetings and repeated messages have arrived before the call. The
	 * first pong is not enough, because the server may still be reading messages that it repeats
	 * from a database.
	 */
	#findReadyTime(): number {
		// An open channel may have received the server's close frame already. Then the call waits
		// for the next channel.
		if (this.#connection?.isClosing()) return Infinity;
		return Math.min(
			this.#openedAt + maxSettleMilliseconds,
			this.#quietSince + settleMilliseconds,
		);
	}

	/**
	 * Waits until a time is reached, or the execution is stopped.
	 * @param findTime asked again after each change
	 */
	async #waitUntil(findTime: () => number): Promise<void> {
		// What has arrived during the call, or a pause between two attempts, is read first.
		await yieldToEventLoop();
		for (;;) {
			const changed = new Promise<void>((resolve) => (this.#wake = resolve));
			const remainingMilliseconds = findTime() - this.#now;
			if (this.#isStopped() || remainingMilliseconds <= 0) return;
			await waitAtMost(this.#setup.clock, remainingMilliseconds, changed);
		}
	}

	readonly #handleChange = () => {
		this.#wake();
	};

	get #now(): number {
		return this.#setup.clock.getMonotonicMilliseconds();
	}

	#isStopped(): boolean {
		return this.#setup.signal?.aborted === true;
	}

	/** @throws NodeError if the end of the turn is a failure of the item */
	#checkEnd(turn: Turn): void {
		const { call, settings } = this.#setup;
		const { endReason, messages } = turn;
		// The message with the failure is the last one, because it ended the wait.
		if (endReason === 'failure')
			throw errors.createAgentFailureError(
				messages.at(-1),
				settings.textField,
				call.sanitizer,
			);
		if (settings.onWaitTimeout === 'output') return;
		if (endReason === 'limit') throw errors.createLimitError(messages.length);
		if (endReason !== 'timeout') return;
		const failure = errors.createWaitTimeoutError(settings.waitTimeoutSeconds, turn);
		throw errors.addPossibleGap(failure, this.#findLastFailure() ?? turn.gapCause);
	}

	/**
	 * Connects unless that was done before the call. With `openChannel: after`, this is done only
	 * when the wait begins.
	 */
	#ensureConnection(): void {
		const { call, connect, settings, readConnectRequest, clock, log } = this.#setup;
		const options = { ...settings, sessionId: call.sessionId, reconnectMaxDelaySeconds };
		this.#connection ??= connect(options, readConnectRequest, this, { clock, log });
	}

	/** Finds out why the channel is not open. Returns undefined if the channel is open. */
	#findLastFailure(): NodeError | undefined {
		const status = this.#connection?.getStatus();
		return status?.isOpen ? undefined : status?.lastFailure;
	}
}
