import { createHash } from 'node:crypto';

import { BoundedMap } from '../../core/boundedMap';
import type { Clock } from '../../core/clock';
import { getGlobalSingleton } from '../../core/runtime';
import { maxResponseBytes as maxMessagesBytes } from '../../http/body';
import { meetsCondition, findMessageId } from '../session/messageFields';
import { measureHeldBytes, type SessionMessage } from '../session/messages';
import type { WaitSettings } from './parameters';

/** The values of `endedBy` in the output. There, `failure` is missing, because it becomes an error. */
export type EndedBy = WaitSettings['waitUntil'] | 'timeout' | 'limit';
/** Why a wait ends. `failure` means that the agent reported one: a message met the failure condition. The call has not failed. */
export type WaitEndReason = EndedBy | 'failure';

/** How many messages a wait collects. All of them together may take 64 MiB, as much as one response. */
export const maxMessages = 10_000;

const getEndedWaits = () =>
	getGlobalSingleton('endedWaits', () => ({
		count: 0,
		/** By the hash of session and message ID: the number that the receiving wait got when it ended. Takes about 5 MB when full. */
		numberByHash: new BoundedMap<string, number>(50_000),
	}));

export interface CollectorSetup {
	readonly settings: WaitSettings;
	/** Identifies the session with its service and user. */
	readonly sessionKey: string;
	readonly clock: Clock;
	/** Called for each message of the turn. @param endReason how the message ends the wait, if it does */
	readonly onMessage: (message: SessionMessage, endReason?: WaitEndReason) => void;
}

/**
 * Collects the messages of a turn until the end condition is met and the call has ended. The end of the call starts the timeout. Messages from
 * before the call belong to an earlier turn and are only counted. Later ones count, unless the filter leaves them out or their ID came before.
 */
export class MessageCollector {
	/** The messages of the turn. */
	readonly messages: SessionMessage[] = [];
	/** How many messages arrived before the call. */
	earlyCount = 0;
	/** How many messages after the call were left out, because this wait had already received a message with the same ID. */
	repeatedCount = 0;
	/** What has ended the wait. It may be set before the call has ended. */
	endReason: WaitEndReason | undefined;
	readonly #setup: CollectorSetup;
	readonly #onEnd: (end: WaitEndReason) => void;
	/** The hashes of the message IDs that this wait has received, each hashed with its session. */
	readonly #receivedHashes = new Set<string>();
	readonly #endedWaitCountAtStart = getEndedWaits().count;
	#heldBytes = 0;
	#lastMessageAt: number | undefined;
	#isCallSent = false;
	#hasCallEnded = false;
	#cancelTimeout = () => {};
	#cancelSilenceTimer = () => {};

	/** @param onEnd called once, when both the call and the wait have ended */
	constructor(setup: CollectorSetup, onEnd: (end: WaitEndReason) => void) {
		this.#setup = setup;
		this.#onEnd = onEnd;
	}

	/** Must be called whenever the call is sent. Messages that arrived earlier do not belong to its turn. */
	markCallSent(): void {
		this.#isCallSent = true;
		this.earlyCount += this.messages.splice(0).length;
		this.#heldBytes = 0;
		this.#lastMessageAt = undefined;
		this.endReason = undefined;
	}

	add(message: SessionMessage): void {
		if (this.endReason !== undefined || !this.#isAccepted(message)) return;
		if (!this.#rememberIfNew(message)) return;
		if (this.#isCallSent) this.#collect(message);
		else this.earlyCount++;
	}

	handleCloseFrame(): void {
		if (this.#isCallSent && this.#setup.settings.waitUntil === 'close') this.#endWait('close');
	}

	/** Must be called when a message was too large to be received. */
	handleOversizedMessage(): void {
		if (this.#isCallSent) this.#endWait('limit');
	}

	/** Must be called when no more messages can arrive. Ends a wait for silence that has messages. @returns whether the wait has ended */
	handleNoMoreMessages(): boolean {
		if (this.#setup.settings.waitUntil === 'silence' && this.messages.length > 0)
			this.#endWait('silence');
		return this.endReason !== undefined;
	}

	markCallEnded(): void {
		const { clock, settings } = this.#setup;
		this.#hasCallEnded = true;
		if (this.endReason !== undefined) {
			this.#onEnd(this.endReason);
			return;
		}
		this.#cancelTimeout = clock.callAfter(settings.waitTimeoutSeconds * 1000, () => {
			this.#endWait('timeout');
		});
		this.#watchSilence();
	}

	/** Cancels the timers, and keeps the message IDs for later waits. */
	stop(): void {
		this.#stopTimers();
		const endedWaits = getEndedWaits();
		endedWaits.count++;
		for (const hash of this.#receivedHashes)
			endedWaits.numberByHash.set(hash, endedWaits.count);
	}

	#isAccepted(message: SessionMessage): boolean {
		const { filterCondition } = this.#setup.settings;
		if (filterCondition === undefined || meetsCondition(message, filterCondition)) return true;
		return this.#reportsFailure(message);
	}

	#reportsFailure(message: SessionMessage): boolean {
		const { failureCondition } = this.#setup.settings;
		return failureCondition !== undefined && meetsCondition(message, failureCondition);
	}

	/**
	 * Remembers the message's ID. Waits that run at the same time all get the message.
	 * @returns false if the ID was known: from this wait, or from a wait that had ended before this one began
	 */
	#rememberIfNew(message: SessionMessage): boolean {
		const { settings, sessionKey } = this.#setup;
		const id = findMessageId(message, settings.deduplicationField);
		if (id === undefined) return true;
		const key = JSON.stringify([sessionKey, id]);
		const hash = createHash('sha256').update(key).digest('base64');
		const waitNumber = getEndedWaits().numberByHash.get(hash);
		if (waitNumber !== undefined && waitNumber <= this.#endedWaitCountAtStart) return false;
		const isNew = !this.#receivedHashes.has(hash);
		if (!isNew && this.#isCallSent) this.repeatedCount++;
		this.#receivedHashes.add(hash);
		return isNew;
	}

	#collect(message: SessionMessage): void {
		this.#heldBytes += measureHeldBytes(message);
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
		const { matchCondition, waitUntil, messageCount } = this.#setup.settings;
		if (this.#reportsFailure(message)) return 'failure';
		if (matchCondition !== undefined && meetsCondition(message, matchCondition)) return 'match';
		const hasAllMessages = waitUntil === 'count' && this.messages.length >= messageCount;
		return hasAllMessages ? 'count' : undefined;
	}

	/** Starts the silence timer again. It also runs while the channel is closed, because a service may close the channel after its last message. */
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
		if (this.#hasCallEnded) this.#onEnd(endReason);
	}

	#stopTimers(): void {
		this.#cancelTimeout();
		this.#cancelSilenceTimer();
	}
}
