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
/** How a single message ends the wait. */
export type MessageEndReason = 'match' | 'failure';

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
	/** Called for each message of the turn. */
	readonly onMessage: (message: SessionMessage, endReason?: MessageEndReason) => void;
}

/**
 * Collects the messages of a turn until the end condition is met and the call has ended. The end of the call starts the timeout. Messages from
 * before the call belong to an earlier turn and never end the wait. Later ones count, unless the filter leaves them out or their ID came before.
 */
export class MessageCollector {
	readonly earlyMessages: SessionMessage[] = [];
	/** The messages of the turn. Together they take at most `maxMessagesBytes`: 64 MiB, as much as one response by default. */
	readonly messages: SessionMessage[] = [];
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

	/** Must be called whenever the call is sent. Messages that arrived earlier do not belong to its turn, so they become early messages. */
	markCallSent(): void {
		this.#isCallSent = true;
		for (const message of this.messages.splice(0)) this.earlyMessages.push(message);
		this.#lastMessageAt = undefined;
		this.endReason = undefined;
	}

	add(message: SessionMessage): void {
		if (this.endReason !== undefined) return;
		const { failureCondition, filterCondition } = this.#setup.settings;
		const reportsFailure =
			failureCondition !== undefined && meetsCondition(message, failureCondition);
		if (
			!reportsFailure &&
			filterCondition !== undefined &&
			!meetsCondition(message, filterCondition)
		)
			return;
		if (!this.#rememberIfNew(message)) return;
		this.#heldBytes += measureHeldBytes(message);
		if (this.#isCallSent) this.#collect(message, reportsFailure);
		else this.#keepEarlyMessage(message);
	}

	handleCloseFrame(): void {
		if (this.#isCallSent && this.#setup.settings.waitUntil === 'close') this.#endWait('close');
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
		const waitNumber = ++getEndedWaits().count;
		for (const hash of this.#receivedHashes) getEndedWaits().numberByHash.set(hash, waitNumber);
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

	#collect(message: SessionMessage, reportsFailure: boolean): void {
		const { settings, clock, onMessage } = this.#setup;
		if (this.messages.length >= settings.maxMessages || this.#heldBytes > maxMessagesBytes) {
			this.#endWait('limit');
			return;
		}
		this.messages.push(message);
		this.#lastMessageAt = clock.getMonotonicMilliseconds();
		const matches =
			settings.matchCondition !== undefined &&
			meetsCondition(message, settings.matchCondition);
		const matchReason = matches ? 'match' : undefined;
		const endReason = reportsFailure ? 'failure' : matchReason;
		onMessage(message, endReason);
		const hasAllMessages =
			settings.waitUntil === 'count' && this.messages.length >= settings.messageCount;
		if (endReason !== undefined) this.#endWait(endReason);
		else if (hasAllMessages) this.#endWait('count');
		else this.#watchSilence();
	}

	/** Keeps an early message, and drops the oldest ones beyond the limits. Half of the memory stays free for the messages of the turn. */
	#keepEarlyMessage(message: SessionMessage): void {
		this.earlyMessages.push(message);
		const { maxMessages } = this.#setup.settings;
		while (this.earlyMessages.length > maxMessages || this.#heldBytes > maxMessagesBytes / 2) {
			const oldest = this.earlyMessages.shift();
			if (oldest) this.#heldBytes -= measureHeldBytes(oldest);
		}
	}

	/** Starts the silence timer again. It also runs while the channel is closed, because a service may close the channel after its last message. */
	#watchSilence(): void {
		const { clock, settings } = this.#setup;
		if (
			settings.waitUntil !== 'silence' ||
			!this.#hasCallEnded ||
			this.#lastMessageAt === undefined
		)
			return;
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
