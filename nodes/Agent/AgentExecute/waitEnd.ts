import { createHash } from 'node:crypto';

import { BoundedMap } from '../../core/boundedMap';
import type { Clock } from '../../core/clock';
import { getGlobalSingleton } from '../../core/runtime';
import { maxAnswerBytes } from '../../http/body';
import { meetsCondition, measureHeldBytes, findMessageId, type SessionMessage } from '../session/messages';
import type { WaitSettings } from './parameters';

export type WaitEndReason = WaitSettings['waitUntil'] | 'timeout' | 'limit';
/** `failure`: a message had the 'Failure Value'. */
export type WaitEnd = WaitEndReason | 'failure';
/** How a single message ends the wait. */
export type MessageEndReason = 'match' | 'failure';

/** Message IDs that earlier waits of this process have received. */
const getReceivedIds = () =>
	getGlobalSingleton('receivedIds', () => ({
		/** Hashes of session and message ID (about 5 MB), each with the number of the wait that received it. */
		ids: new BoundedMap<string, number>(50_000),
		endedWaitCount: 0,
	}));

export interface CollectorParts {
	readonly settings: WaitSettings;
	/** A key of the session, its service and its user. */
	readonly conversation: string;
	readonly clock: Clock;
	/** Called for each message of the turn. */
	readonly onMessage: (message: SessionMessage, ends?: MessageEndReason) => void;
}

/**
 * Collects the messages of a turn until the end condition is met, but at least until the response to the call, which starts the timeout.
 * Messages from before the call belong to an earlier turn and end nothing. Later ones count, unless the filter leaves them out or
 * their ID is known.
 */
export class MessageCollector {
	/** Messages that arrived before the call was sent. */
	readonly early: SessionMessage[] = [];
	/** Messages of the turn, together at most as many bytes as a response to the call. */
	readonly messages: SessionMessage[] = [];
	/** How many messages were left out because another message of the turn had the same ID. */
	repeated = 0;
	/** What has ended the wait. May be set before the response to the call. */
	end: WaitEnd | undefined;
	readonly #parts: CollectorParts;
	readonly #onEnd: (end: WaitEnd) => void;
	/** Hashes of session and message ID that this wait has received. */
	readonly #ownHashes = new Set<string>();
	readonly #endedWaitsBefore = getReceivedIds().endedWaitCount;
	#bytes = 0;
	#lastMessageAt: number | undefined;
	#isSent = false;
	#isAnswered = false;
	#cancelLimit = () => {};
	#cancelSilence = () => {};

	/** @param onEnd called once, after both the response to the call and the end of the wait */
	constructor(parts: CollectorParts, onEnd: (end: WaitEnd) => void) {
		this.#parts = parts;
		this.#onEnd = onEnd;
	}

	/** Called when the call is sent, or sent again after it was not accepted. Earlier messages do not answer it. */
	markCallSent(): void {
		this.#isSent = true;
		for (const message of this.messages.splice(0)) this.early.push(message);
		this.#lastMessageAt = undefined;
		this.end = undefined;
	}

	add(message: SessionMessage): void {
		if (this.end !== undefined) return;
		const { failure, filter } = this.#parts.settings;
		const reportsFailure = failure !== undefined && meetsCondition(message, failure);
		if (!reportsFailure && filter !== undefined && !meetsCondition(message, filter)) return;
		if (this.#rememberId(message)) return;
		this.#bytes += measureHeldBytes(message);
		if (this.#isSent) this.#collect(message, reportsFailure);
		else this.#keepEarly(message);
	}

	handleCloseFrame(): void {
		if (this.#isSent && this.#parts.settings.waitUntil === 'close') this.#endWait('close');
	}

	/** Called when no more messages can arrive. Ends a wait for silence that has messages. @returns whether the wait has ended */
	handleNoMoreMessages(): boolean {
		if (this.#parts.settings.waitUntil === 'silence' && this.messages.length > 0) this.#endWait('silence');
		return this.end !== undefined;
	}

	markCallAnswered(): void {
		const { clock, settings } = this.#parts;
		this.#isAnswered = true;
		if (this.end !== undefined) {
			this.#onEnd(this.end);
			return;
		}
		this.#cancelLimit = clock.callAfter(settings.waitTimeoutSeconds * 1000, () => {
			this.#endWait('timeout');
		});
		this.#watchSilence();
	}

	/** Cancels the timers, and remembers the IDs for later waits. */
	stop(): void {
		this.#stopTimers();
		const wait = ++getReceivedIds().endedWaitCount;
		for (const hash of this.#ownHashes) getReceivedIds().ids.set(hash, wait);
	}

	/** Remembers the ID. @returns whether this wait, or one that ended before it, already had it. Simultaneous waits all get a message */
	#rememberId(message: SessionMessage): boolean {
		const { settings, conversation } = this.#parts;
		const id = findMessageId(message, settings.deduplicationField);
		if (id === undefined) return false;
		const key = JSON.stringify([conversation, id]);
		const hash = createHash('sha256').update(key).digest('base64');
		const endedBefore = getReceivedIds().ids.get(hash);
		if (endedBefore !== undefined && endedBefore <= this.#endedWaitsBefore) return true;
		const isKnown = this.#ownHashes.has(hash);
		if (isKnown && this.#isSent) this.repeated++;
		this.#ownHashes.add(hash);
		return isKnown;
	}

	#collect(message: SessionMessage, reportsFailure: boolean): void {
		const { settings, clock, onMessage } = this.#parts;
		if (this.messages.length >= settings.maxMessages || this.#bytes > maxAnswerBytes) {
			this.#endWait('limit');
			return;
		}
		this.messages.push(message);
		this.#lastMessageAt = clock.getMonotonicMilliseconds();
		const matches = settings.match !== undefined && meetsCondition(message, settings.match);
		const ends = reportsFailure ? 'failure' : matches ? 'match' : undefined;
		onMessage(message, ends);
		const isCounted = settings.waitUntil === 'count' && this.messages.length >= settings.messageCount;
		if (ends !== undefined || isCounted) this.#endWait(ends ?? 'count');
		else this.#watchSilence();
	}

	/** Drops the oldest messages beyond the limits. */
	#keepEarly(message: SessionMessage): void {
		this.early.push(message);
		while (this.early.length > this.#parts.settings.maxMessages || this.#bytes > maxAnswerBytes / 2) {
			const oldest = this.early.shift();
			if (oldest) this.#bytes -= measureHeldBytes(oldest);
		}
	}

	/** Silence also counts while the channel is closed, because a service may close it after its answer. */
	#watchSilence(): void {
		const { clock, settings } = this.#parts;
		if (settings.waitUntil !== 'silence' || !this.#isAnswered || this.#lastMessageAt === undefined) return;
		this.#cancelSilence();
		const silent = clock.getMonotonicMilliseconds() - this.#lastMessageAt;
		this.#cancelSilence = clock.callAfter(Math.max(0, settings.silenceSeconds * 1000 - silent), () => {
			this.#endWait('silence');
		});
	}

	#endWait(end: WaitEnd): void {
		if (this.end !== undefined) return;
		this.end = end;
		this.#stopTimers();
		if (this.#isAnswered) this.#onEnd(end);
	}

	#stopTimers(): void {
		this.#cancelLimit();
		this.#cancelSilence();
	}
}
