import { createHash } from 'node:crypto';

import { BoundedMap, getOrAdd } from '../../core/maps';
import type { Clock } from '../../core/clock';
import { getGlobalSingleton } from '../../core/globalSingleton';
import { maxResponseBytes as maxMessagesBytes } from '../../http/body';
import type { CloseReason } from '../session/closeReason';
import { meetsCondition, findMessageId, type SessionMessage } from '../session/messages';
import type { WaitSettings } from './parameters';

/**
 * The values of `endedBy` in the output. There, `failure` is missing, because it becomes an error.
 */
export type EndedBy = WaitSettings['waitUntil'] | 'timeout' | 'limit';
/**
 * Why a wait ends. `failure` means that the agent reported one: a message met the failure
 * condition. The call has not failed.
 */
export type WaitEndReason = EndedBy | 'failure';

/**
 * How many messages a wait collects. All of them together may take 64 MiB, as much as one response.
 */
export const maxMessages = 10_000;

/**
 * By the hash of session and message ID: when the first wait that received the message ended. The
 * map takes about 5 MB when it is full.
 */
const getWaitEnds = () =>
	getGlobalSingleton('waitEnds', () => new BoundedMap<string, number>(50_000));

export interface CollectorSetup {
	readonly settings: WaitSettings;
	/** Identifies the session with its service and user. */
	readonly sessionKey: string;
	readonly clock: Clock;
	/**
	 * Called for each message of the turn.
	 * @param endReason how the message ends the wait, if it does
	 */
	readonly onMessage: (message: SessionMessage, endReason?: WaitEndReason) => void;
}

/**
 * Collects the messages of a turn until the end condition is met and the call has ended. The end of
 * the call starts the timeout. Messages from before the call belong to an earlier turn. Later ones
 * count, unless the filter leaves them out or their ID came before.
 */
export class MessageCollector {
	/** The messages of the turn. */
	readonly messages: SessionMessage[] = [];
	/** Whether the filter has left out messages since the call was sent. */
	hasLeftOut = false;
	/** What has ended the wait. It may be set before the call has ended. */
	endReason: WaitEndReason | undefined;
	readonly #setup: CollectorSetup;
	readonly #onEnd: () => void;
	/** The hashes of the message IDs that this wait has received, each hashed with its session. */
	readonly #receivedHashes = new Set<string>();
	readonly #startedAt = performance.now();
	#heldBytes = 0;
	#lastMessageAt: number | undefined;
	#isCallSent = false;
	#hasCallEnded = false;
	#cancelTimeout = () => {};
	#cancelSilenceTimer = () => {};

	/** @param onEnd called when `endReason` is set */
	constructor(setup: CollectorSetup, onEnd: () => void) {
		this.#setup = setup;
		this.#onEnd = onEnd;
	}

	/** Whether messages count: the call was sent, and nothing has ended the wait. */
	get isCollecting(): boolean {
		return this.#isCallSent && this.endReason === undefined;
	}

	/**
	 * Must be called whenever the call is sent. Messages that arrived earlier do not belong to its
	 * turn.
	 */
	markCallSent(): void {
		this.#isCallSent = true;
		this.messages.length = 0;
		this.hasLeftOut = false;
		this.#heldBytes = 0;
		this.#lastMessageAt = undefined;
		this.endReason = undefined;
	}

	add(message: SessionMessage): void {
		if (this.endReason !== undefined) return;
		if (!this.#isAccepted(message)) this.hasLeftOut = true;
		// An ID from before the call is remembered, too, so that the message does not count later.
		else if (this.#rememberIfNew(message) && this.#isCallSent) this.#collect(message);
	}

	/**
	 * Ends the wait if no more messages can come, or if Wait Until is set to the close of the
	 * channel.
	 */
	handleChannelEnd(closeReason: CloseReason): void {
		if (!this.isCollecting) return;
		const { waitUntil } = this.#setup.settings;
		if (closeReason.kind === 'tooLarge') this.#endWait('limit');
		if (closeReason.kind === 'closeFrame' && waitUntil === 'close') this.#endWait('close');
	}

	markCallEnded(): void {
		const { clock, settings } = this.#setup;
		this.#hasCallEnded = true;
		if (this.endReason !== undefined) return;
		this.#cancelTimeout = clock.callAfter(settings.waitTimeoutSeconds * 1000, () => {
			this.#endWait('timeout');
		});
		this.#watchSilence();
	}

	/** Cancels the timers, and keeps the message IDs for later waits. */
	stop(): void {
		this.#stopTimers();
		const now = performance.now();
		for (const hash of this.#receivedHashes) getOrAdd(getWaitEnds(), hash, () => now);
	}

	#isAccepted(message: SessionMessage): boolean {
		const { filterCondition, failureCondition } = this.#setup.settings;
		if (filterCondition === undefined) return true;
		return (
			meetsCondition(message, filterCondition) || meetsCondition(message, failureCondition)
		);
	}

	/**
	 * Remembers the message's ID. Waits that run at the same time all get the message.
	 * @returns false if the ID was known: from this wait, or from a wait that had ended before this
	 * one began
	 */
	#rememberIfNew(message: SessionMessage): boolean {
		const { settings, sessionKey } = this.#setup;
		const id = findMessageId(message, settings.deduplicationField);
		if (id === undefined) return true;
		const key = JSON.stringify([sessionKey, id]);
		const hash = createHash('sha256').update(key).digest('base64');
		const endedAt = getWaitEnds().get(hash) ?? Infinity;
		if (endedAt <= this.#startedAt) return false;
		const isNew = !this.#receivedHashes.has(hash);
		this.#receivedHashes.add(hash);
		return isNew;
	}

	#collect(message: SessionMessage): void {
		this.#heldBytes += message.heldBytes;
		if (this.messages.length >= maxMessages || this.#heldBytes > maxMessagesBytes) {
			this.#endWait('limit');
			return;
		}
		this.messages.push(message);
		this.#lastMessageAt = this.#setup.clock.getMonotonicMilliseconds();
		const endReason = this.#findEndReason(message);
		this.#setup.onMessage(message, endReason);
		if (endReason === undefined) this.#watchSilence();
		else this.#endWait(endReason);
	}

	#findEndReason(message: SessionMessage): WaitEndReason | undefined {
		const { failureCondition, matchCondition, waitUntil, messageCount } = this.#setup.settings;
		if (meetsCondition(message, failureCondition)) return 'failure';
		if (meetsCondition(message, matchCondition)) return 'match';
		const hasAllMessages = waitUntil === 'count' && this.messages.length >= messageCount;
		return hasAllMessages ? 'count' : undefined;
	}

	/**
	 * Starts the silence timer again. It also runs while the channel is closed, because a service
	 * may close the channel after its last message.
	 */
	#watchSilence(): void {
		const { clock, settings } = this.#setup;
		if (settings.waitUntil !== 'silence' || !this.#hasCallEnded) return;
		if (this.#lastMessageAt === undefined) return;
		this.#cancelSilenceTimer();
		const silentMilliseconds = clock.getMonotonicMilliseconds() - this.#lastMessageAt;
		const remainingMilliseconds = settings.silenceSeconds * 1000 - silentMilliseconds;
		this.#cancelSilenceTimer = clock.callAfter(Math.max(0, remainingMilliseconds), () => {
			this.#endWait('silence');
		});
	}

	#endWait(endReason: WaitEndReason): void {
		if (this.endReason !== undefined) return;
		this.endReason = endReason;
		this.#stopTimers();
		this.#onEnd();
	}

	#stopTimers(): void {
		this.#cancelTimeout();
		this.#cancelSilenceTimer();
	}
}
