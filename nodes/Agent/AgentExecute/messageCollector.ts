import { createHash } from 'node:crypto';

import { BoundedMap, type Clock, globalSingleton } from '../../core/runtime';
import { maxAnswerBytes } from '../../http/body';
import { hasOneOf, heldBytes, messageId, type SessionMessage } from '../session/messages';
import type { WaitSettings } from './parameters';

export type EndedBy = WaitSettings['waitUntil'] | 'timeout' | 'limit';
/** `failure`: a message has reported one. */
export type WaitOver = EndedBy | 'failure';
/** How a message ends the wait by itself. */
export type MessageEnd = 'match' | 'failure';

interface Received {
	/** Hashes of session and ID, with the number of the wait that ended last when they were added. Of all sessions: some 5 MB. */
	readonly ids: Map<string, number>;
	endedWaits: number;
}

/** Of the waits of this process that are over. */
const received = () =>
	globalSingleton<Received>('receivedIds', () => ({ ids: new BoundedMap(50_000), endedWaits: 0 }));

export interface CollectorParts {
	readonly settings: WaitSettings;
	/** The session, with its service and user. */
	readonly conversation: string;
	readonly clock: Clock;
	/** Gets each message of the turn as it comes. */
	readonly onMessage: (message: SessionMessage, ends?: MessageEnd) => void;
}

/**
 * Collects messages until their end, which is not before the answer to the call, when the time limit starts. What comes before the call
 * belongs to an earlier turn and ends nothing; after it all count but those with a known ID or that the filter leaves out.
 */
export class MessageCollector {
	/** Came before the call was sent. */
	readonly early: SessionMessage[] = [];
	/** Of the turn: together at most as many bytes as the answer to the call itself. */
	readonly messages: SessionMessage[] = [];
	/** Messages of the turn that were left out because their ID had come before in the same turn. */
	repeated = 0;
	/** What has ended the wait, even if the call is not answered yet. */
	end: WaitOver | undefined;
	readonly #parts: CollectorParts;
	readonly #over: (end: WaitOver) => void;
	/** Hashes of the session and the IDs of its messages. */
	readonly #ids = new Set<string>();
	readonly #waitsBefore = received().endedWaits;
	#bytes = 0;
	#lastMessageAt: number | undefined;
	#isSent = false;
	#isAnswered = false;
	#cancelLimit = () => {};
	#cancelSilence = () => {};

	/** @param over called once, when the call is answered and the end has come */
	constructor(parts: CollectorParts, over: (end: WaitOver) => void) {
		this.#parts = parts;
		this.#over = over;
	}

	/** The call is being sent, possibly again after one that was not accepted: earlier messages are not its answer. */
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

	/** Nothing more can come. @returns whether that is an end: silence, if something has come */
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

	/** Leaves no timer. Later waits of this process know the IDs. */
	stop(): void {
		this.#stopTimers();
		const wait = ++received().endedWaits;
		for (const hash of this.#ids) received().ids.set(hash, wait);
	}

	/** Whether its ID is known from this wait or one that had ended before it. Waits at the same time each get the message. */
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

	/** If a long session is repeated, its beginning matters least. */
	#keepEarly(message: SessionMessage): void {
		this.early.push(message);
		while (this.early.length > this.#parts.settings.maxMessages || this.#bytes > maxAnswerBytes / 2) {
			const oldest = this.early.shift();
			if (oldest) this.#bytes -= heldBytes(oldest);
		}
	}

	/** Silence counts whether or not the channel is open: a service may close it after its answer. */
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
