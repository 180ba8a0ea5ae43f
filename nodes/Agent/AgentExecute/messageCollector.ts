import { createHash } from 'node:crypto';

import { BoundedMap, type Clock, globalSingleton } from '../../core/runtime';
import { maxAnswerBytes } from '../../http/body';
import { hasOneOf, heldBytes, messageId, type SessionMessage } from '../session/messages';
import type { WaitSettings } from './parameters';

export type EndedBy = 'match' | 'count' | 'close' | 'silence' | 'timeout' | 'limit';
/** `failure`: a message has reported one. */
export type WaitOver = EndedBy | 'failure';
/** How a message ends the wait by itself. */
export type MessageEnd = 'match' | 'failure';

export type CollectorSettings = Pick<
	WaitSettings,
	'end' | 'maxMessages' | 'waitTimeoutSeconds' | 'failure' | 'filter' | 'deduplicationField'
>;

/**
 * Collects messages until their end. What comes before the call is sent belongs to an earlier turn: it ends nothing. Everything after
 * it counts, except a message whose ID came before, or that the filter leaves out. The collection is not over before the call is
 * answered; the time limit starts with the answer.
 */
export class MessageCollector {
	/** Came before the call was sent. */
	readonly early: SessionMessage[] = [];
	/** Of the turn: together at most as many bytes as the answer to the call itself. */
	readonly messages: SessionMessage[] = [];
	readonly #settings: CollectorSettings;
	readonly #clock: Clock;
	readonly #over: (end: WaitOver) => void;
	readonly #onMessage: (message: SessionMessage, ends?: MessageEnd) => void;
	readonly #ids: KnownIds;
	#repeated = 0;
	#bytes = 0;
	#lastMessageAt: number | undefined;
	#end: WaitOver | undefined;
	#isSent = false;
	#isAnswered = false;
	#cancelLimit = () => {};
	#cancelSilence = () => {};

	/**
	 * @param session with its service and user
	 * @param over called once, when the call is answered and the end has come
	 * @param onMessage gets each message of the turn as it comes
	 */
	constructor(
		settings: CollectorSettings,
		session: string,
		clock: Clock,
		over: (end: WaitOver) => void,
		onMessage: (message: SessionMessage, ends?: MessageEnd) => void = () => {},
	) {
		this.#settings = settings;
		this.#clock = clock;
		this.#over = over;
		this.#onMessage = onMessage;
		this.#ids = new KnownIds(session, settings.deduplicationField);
	}

	/** What has ended the wait, even if the call is not answered yet. */
	get end(): WaitOver | undefined {
		return this.#end;
	}

	/** Messages of the turn that were left out because their ID had come before in the same turn. */
	get repeated(): number {
		return this.#repeated;
	}

	/** The call is being sent, possibly again after one that was not accepted: earlier messages are not its answer. */
	callSent(): void {
		this.#isSent = true;
		for (const message of this.messages.splice(0)) this.early.push(message);
		this.#lastMessageAt = undefined;
		this.#end = undefined;
	}

	add(message: SessionMessage): void {
		if (this.#end !== undefined) return;
		const { failure, filter } = this.#settings;
		const reportsFailure = failure !== undefined && hasOneOf(message, failure);
		if (!reportsFailure && filter !== undefined && !hasOneOf(message, filter)) return;
		const cameBefore = this.#ids.cameBefore(message);
		if (cameBefore === 'here' && this.#isSent) this.#repeated++;
		if (cameBefore !== undefined) return;
		if (this.#isSent) this.#take(message, reportsFailure);
		else this.#keepEarly(message);
	}

	closed(): void {
		if (this.#isSent && this.#settings.end.by === 'close') this.#ends('close');
	}

	/** Nothing more can come. @returns whether that is an end: silence, if something has come */
	refused(): boolean {
		if (this.#settings.end.by === 'silence' && this.messages.length > 0) this.#ends('silence');
		return this.#end !== undefined;
	}

	answered(): void {
		this.#isAnswered = true;
		if (this.#end !== undefined) {
			this.#over(this.#end);
			return;
		}
		this.#cancelLimit = this.#clock.after(this.#settings.waitTimeoutSeconds * 1000, () => {
			this.#ends('timeout');
		});
		this.#watchSilence();
	}

	/** Leaves no timer. Later waits of this process know the IDs. */
	stop(): void {
		this.#stopTimers();
		this.#ids.remember();
	}

	#take(message: SessionMessage, reportsFailure: boolean): void {
		const { end, maxMessages } = this.#settings;
		this.#bytes += heldBytes(message);
		if (this.messages.length >= maxMessages || this.#bytes > maxAnswerBytes) {
			this.#ends('limit');
			return;
		}
		this.messages.push(message);
		this.#lastMessageAt = this.#clock.monotonicMilliseconds();
		const matches = end.by === 'match' && hasOneOf(message, end);
		const ends = reportsFailure ? 'failure' : matches ? 'match' : undefined;
		this.#onMessage(message, ends);
		if (ends !== undefined) this.#ends(ends);
		else if (end.by === 'count' && this.messages.length >= end.count) this.#ends('count');
		else this.#watchSilence();
	}

	/** If a long session is repeated, its beginning matters least. */
	#keepEarly(message: SessionMessage): void {
		this.early.push(message);
		this.#bytes += heldBytes(message);
		while (this.early.length > this.#settings.maxMessages || this.#bytes > maxAnswerBytes / 2) {
			const oldest = this.early.shift();
			if (oldest) this.#bytes -= heldBytes(oldest);
		}
	}

	/** Silence counts whether or not the channel is open: a service may close it after its answer. */
	#watchSilence(): void {
		const { end } = this.#settings;
		if (end.by !== 'silence' || !this.#isAnswered || this.#lastMessageAt === undefined) return;
		this.#cancelSilence();
		const silent = this.#clock.monotonicMilliseconds() - this.#lastMessageAt;
		this.#cancelSilence = this.#clock.after(Math.max(0, end.milliseconds - silent), () => {
			this.#ends('silence');
		});
	}

	#ends(end: WaitOver): void {
		if (this.#end !== undefined) return;
		this.#end = end;
		this.#stopTimers();
		if (this.#isAnswered) this.#over(end);
	}

	#stopTimers(): void {
		this.#cancelLimit();
		this.#cancelSilence();
	}
}

/** Of all sessions: some 5 MB. */
const maxKnownIds = 50_000;

interface Received {
	/** Hashes of session and ID, with the number of the wait that ended last when they were added. */
	readonly ids: Map<string, number>;
	endedWaits: number;
}

/**
 * IDs of messages that came before: in this wait, or in one of the same process that had ended when this one began. Waits that run at the same
 * time each get the message.
 */
class KnownIds {
	readonly #session: string;
	readonly #idField: string;
	readonly #received = globalSingleton<Received>('receivedIds', () => ({
		ids: new BoundedMap(maxKnownIds),
		endedWaits: 0,
	}));
	readonly #waitsBefore = this.#received.endedWaits;
	readonly #own = new Set<string>();

	/**
	 * @param session the session, with its service and user
	 * @param idField dot path; empty: messages have no ID
	 */
	constructor(session: string, idField: string) {
		this.#session = session;
		this.#idField = idField;
	}

	/** @returns `here`: in this wait; `earlier`: in one that had ended when this one began */
	cameBefore(message: SessionMessage): 'here' | 'earlier' | undefined {
		const id = messageId(message, this.#idField);
		if (id === undefined) return undefined;
		const hash = createHash('sha256')
			.update(JSON.stringify([this.#session, id]))
			.digest('base64');
		const before = this.#received.ids.get(hash);
		if (before !== undefined && before <= this.#waitsBefore) return 'earlier';
		if (this.#own.has(hash)) return 'here';
		this.#own.add(hash);
		return undefined;
	}

	/** The wait is over: later ones know its IDs. */
	remember(): void {
		const { ids } = this.#received;
		const wait = ++this.#received.endedWaits;
		for (const hash of this.#own) ids.set(hash, wait);
	}
}
