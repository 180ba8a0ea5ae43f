import { createHash } from 'node:crypto';

import { BoundedMap, type Clock, globalSingleton } from '../../core/runtime';
import { maxAnswerBytes } from '../../http/body';
import { hasOneOf, heldBytes, messageId, type SessionMessage } from '../session/messages';
import type { WaitSettings } from './parameters';

export type EndedBy = WaitSettings['waitUntil'] | 'timeout' | 'limit';
/** `failure`: a message had the 'Failure Value'. */
export type WaitOver = EndedBy | 'failure';
/** How a single message ends the wait. */
export type MessageEnd = 'match' | 'failure';

interface Received {
	/** Hashes of session and message ID (about 5 MB), each with the number of the wait that received it. */
	readonly ids: Map<string, number>;
	endedWaits: number;
}

/** Message IDs that earlier waits of this process have received. */
const received = () =>
	globalSingleton<Received>('receivedIds', () => ({ ids: new BoundedMap(50_000), endedWaits: 0 }));

export interface CollectorParts {
	readonly settings: WaitSettings;
	/** A key of the session, its service and its user. */
	readonly conversation: string;
	readonly clock: Clock;
	/** Called for each message of the turn. */
	readonly onMessage: (message: SessionMessage, ends?: MessageEnd) => void;
}

/**
 * Collects the messages of a turn until the end condition is met. The wait ends after the response to the call at the earliest, and its
 * timeout starts then. Messages from before the call belong to an earlier turn and end nothing. After it, all messages count, except
 * filtered ones and those with a known ID.
 */
export class MessageCollector {
	/** Messages that arrived before the call was sent. */
	readonly early: SessionMessage[] = [];
	/** Messages of the turn, together at most as many bytes as a response to the call. */
	readonly messages: SessionMessage[] = [];
	/** How many messages were left out because another message of the turn had the same ID. */
	repeated = 0;
	/** What has ended the wait. May be set before the response to the call. */
	end: WaitOver | undefined;
	readonly #parts: CollectorParts;
	readonly #over: (end: WaitOver) => void;
	/** Hashes of session and message ID that this wait has received. */
	readonly #ids = new Set<string>();
	readonly #waitsBefore = received().endedWaits;
	#bytes = 0;
	#lastMessageAt: number | undefined;
	#isSent = false;
	#isAnswered = false;
	#cancelLimit = () => {};
	#cancelSilence = () => {};

	/** @param over called once, after both the response to the call and the end of the wait */
	constructor(parts: CollectorParts, over: (end: WaitOver) => void) {
		this.#parts = parts;
		this.#over = over;
	}

	/** Called when the call is sent, or sent again after it was not accepted. Earlier messages do not answer it. */
	callSent(): void {
		this.#isSent = true;
		for (const message of this.messages.splice(0)) this.early.push(message);
		this.#lastMessageAt = undefined;
		this.end = undefined;
	}

	add(message: SessionMessage): void {
		if (this.end !== undefined) return;
		const { failure, filter } = this.#parts.settings;
		const reportsFailure = failure !== undefined && hasOneOf(message, failure);
		if (!reportsFailure && filter !== undefined && !hasOneOf(message, filter)) return;
		if (this.#cameBefore(message)) return;
		this.#bytes += heldBytes(message);
		if (this.#isSent) this.#take(message, reportsFailure);
		else this.#keepEarly(message);
	}

	closed(): void {
		if (this.#isSent && this.#parts.settings.waitUntil === 'close') this.#ends('close');
	}

	/** Called when no more messages can arrive. With messages, that is the silence that ends the wait. @returns whether the wait has ended */
	refused(): boolean {
		if (this.#parts.settings.waitUntil === 'silence' && this.messages.length > 0) this.#ends('silence');
		return this.end !== undefined;
	}

	answered(): void {
		const { clock, settings } = this.#parts;
		this.#isAnswered = true;
		if (this.end !== undefined) {
			this.#over(this.end);
			return;
		}
		this.#cancelLimit = clock.after(settings.waitTimeoutSeconds * 1000, () => {
			this.#ends('timeout');
		});
		this.#watchSilence();
	}

	/** Cancels the timers, and remembers the IDs for later waits. */
	stop(): void {
		this.#stopTimers();
		const wait = ++received().endedWaits;
		for (const hash of this.#ids) received().ids.set(hash, wait);
	}

	/** Remembers the ID. @returns whether this wait, or one that ended before it began, has received it. Simultaneous waits all get a message */
	#cameBefore(message: SessionMessage): boolean {
		const { settings, conversation } = this.#parts;
		const id = messageId(message, settings.deduplicationField);
		if (id === undefined) return false;
		const hash = createHash('sha256')
			.update(JSON.stringify([conversation, id]))
			.digest('base64');
		const endedBefore = received().ids.get(hash);
		if (endedBefore !== undefined && endedBefore <= this.#waitsBefore) return true;
		const isKnown = this.#ids.has(hash);
		if (isKnown && this.#isSent) this.repeated++;
		this.#ids.add(hash);
		return isKnown;
	}

	#take(message: SessionMessage, reportsFailure: boolean): void {
		const { settings, clock, onMessage } = this.#parts;
		if (this.messages.length >= settings.maxMessages || this.#bytes > maxAnswerBytes) {
			this.#ends('limit');
			return;
		}
		this.messages.push(message);
		this.#lastMessageAt = clock.monotonicMilliseconds();
		const matches = settings.match !== undefined && hasOneOf(message, settings.match);
		const ends = reportsFailure ? 'failure' : matches ? 'match' : undefined;
		onMessage(message, ends);
		const isCounted = settings.waitUntil === 'count' && this.messages.length >= settings.messageCount;
		if (ends !== undefined) this.#ends(ends);
		else if (isCounted) this.#ends('count');
		else this.#watchSilence();
	}

	/** Drops the oldest messages beyond the limits. */
	#keepEarly(message: SessionMessage): void {
		this.early.push(message);
		while (this.early.length > this.#parts.settings.maxMessages || this.#bytes > maxAnswerBytes / 2) {
			const oldest = this.early.shift();
			if (oldest) this.#bytes -= heldBytes(oldest);
		}
	}

	/** Silence also counts while the channel is closed, because a service may close it after its answer. */
	#watchSilence(): void {
		const { clock, settings } = this.#parts;
		if (settings.waitUntil !== 'silence' || !this.#isAnswered || this.#lastMessageAt === undefined) return;
		this.#cancelSilence();
		const silent = clock.monotonicMilliseconds() - this.#lastMessageAt;
		this.#cancelSilence = clock.after(Math.max(0, settings.silenceSeconds * 1000 - silent), () => {
			this.#ends('silence');
		});
	}

	#ends(end: WaitOver): void {
		if (this.end !== undefined) return;
		this.end = end;
		this.#stopTimers();
		if (this.#isAnswered) this.#over(end);
	}

	#stopTimers(): void {
		this.#cancelLimit();
		this.#cancelSilence();
	}
}
