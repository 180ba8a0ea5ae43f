import type { Clock } from '../session/clock';
import { type FieldValues, hasOneOf } from '../session/messageField';
import { heldBytes, type SessionMessage } from '../session/messages';
import { HeldMessages } from './heldMessages';
import { KnownMessages } from './knownMessages';
import type { WaitSettings } from './waitSettings';

export type EndedBy = 'match' | 'count' | 'close' | 'silence' | 'timeout' | 'limit';
/** `failure`: a message has reported one. */
export type WaitOver = EndedBy | 'failure';

/** Of all messages that one item collects: like the answer to the call itself. */
const maxBytes = 64 * 1024 * 1024;

export interface CollectionSettings extends Pick<WaitSettings, 'end' | 'maxMessages' | 'timeoutSeconds'> {
	/** Messages that report a failure; without values: none. */
	readonly failure?: FieldValues;
}

/** @param message of the turn, as it comes */
type OnMessage = (message: SessionMessage) => void;

/**
 * Collects messages until their end. What comes before the call is sent belongs to an earlier turn: it ends nothing. What comes before
 * the call is answered counts, but the collection is not over before that; the time limit starts with the answer. What a server repeats
 * when a channel is open counts once, and not at all if an earlier turn had it.
 */
export class Collection {
	/** Came before the call was sent, or an earlier turn had it. */
	readonly early: SessionMessage[] = [];
	readonly messages: SessionMessage[] = [];
	readonly #settings: CollectionSettings;
	readonly #clock: Clock;
	readonly #over: (end: WaitOver) => void;
	readonly #onMessage: OnMessage;
	readonly #known: KnownMessages;
	readonly #held: HeldMessages;
	#bytes = 0;
	#lastMessageAt: number | undefined;
	#end: WaitOver | undefined;
	#isSent = false;
	#isAnswered = false;
	#cancelLimit = () => {};
	#cancelSilence = () => {};
	#isLost = false;

	/**
	 * @param over called once, when the call is answered and the end has come
	 * @param earlierTurns digests of their messages, in the order of their arrival
	 */
	constructor(
		settings: CollectionSettings,
		clock: Clock,
		over: (end: WaitOver) => void,
		onMessage: OnMessage = () => {},
		earlierTurns: readonly string[] = [],
	) {
		this.#known = new KnownMessages(earlierTurns);
		this.#settings = settings;
		this.#clock = clock;
		this.#over = over;
		this.#onMessage = onMessage;
		const limits = { messages: settings.maxMessages, bytes: maxBytes };
		this.#held = new HeldMessages(clock, limits, () => {
			this.caughtUp();
		});
	}

	/** Whether the end has come, even if the call is not answered yet. */
	get isComplete(): boolean {
		return this.#end !== undefined;
	}

	/** Digests of all messages that came, in the order of their arrival. */
	get arrived(): readonly string[] {
		return this.#known.arrived;
	}

	/** The call is being sent, possibly again after one that was not accepted: earlier messages are not its answer. */
	callSent(): void {
		this.#isSent = true;
		this.early.push(...this.messages.splice(0));
		this.#lastMessageAt = undefined;
		this.#end = undefined;
	}

	add(message: SessionMessage): void {
		if (this.#known.hasId(message)) this.#repeated(message);
		else if (this.#held.isHolding) this.#held.add({ message, isEarly: !this.#isSent });
		else if (this.#isSent) this.#take(message);
		else this.#comesEarly(message);
	}

	/** The channel is lost: silence has no meaning now. */
	lost(): void {
		this.caughtUp();
		this.#isLost = true;
		this.#cancelSilence();
	}

	/** A channel is open, for the first time or again. */
	opened(): void {
		if (!this.isComplete) this.#held.begin();
	}

	/** The server has sent all repeated messages. */
	caughtUp(): void {
		const held = this.#held.release();
		if (!held) return;
		this.#isLost = false;
		const repeated = this.#known.repeatedIn(held.map(({ message }) => message));
		if (this.#lastMessageAt !== undefined) this.#lastMessageAt = this.#clock.monotonicMilliseconds();
		for (const { message } of held.slice(0, repeated)) this.#repeated(message);
		for (const { message, isEarly } of held.slice(repeated)) {
			if (isEarly) this.#comesEarly(message);
			else this.#take(message);
		}
		this.#watchSilence();
	}

	/** The service closed the channel. */
	closed(): void {
		this.caughtUp();
		if (this.#isSent && this.#settings.end.by === 'close') this.#ends('close');
	}

	/** The call has been answered. */
	answered(): void {
		this.#isAnswered = true;
		if (this.#end !== undefined) {
			this.#over(this.#end);
			return;
		}
		this.#cancelLimit = this.#clock.after(this.#settings.timeoutSeconds * 1000, () => {
			this.caughtUp();
			this.#ends('timeout');
		});
		this.#watchSilence();
	}

	/** Leaves no timer. */
	stop(): void {
		this.#held.stop();
		this.#cancelLimit();
		this.#cancelSilence();
	}

	/** Shown once, as something that was before the call, if an earlier turn had it. */
	#repeated(message: SessionMessage): void {
		if (this.#known.firstOfEarlierTurn(message)) this.#keepEarly(message);
	}

	#take(message: SessionMessage): void {
		this.#known.add(message);
		if (this.isComplete) return;
		const { end, failure, maxMessages } = this.#settings;
		this.#bytes += heldBytes(message);
		if (this.messages.length >= maxMessages || this.#bytes > maxBytes) {
			this.#ends('limit');
			return;
		}
		this.messages.push(message);
		this.#lastMessageAt = this.#clock.monotonicMilliseconds();
		this.#onMessage(message);
		if (failure !== undefined && hasOneOf(message, failure)) this.#ends('failure');
		else if (end.by === 'match' && hasOneOf(message, end)) this.#ends('match');
		else if (end.by === 'count' && this.messages.length >= end.count) this.#ends('count');
		else this.#watchSilence();
	}

	#comesEarly(message: SessionMessage): void {
		this.#known.add(message);
		this.#keepEarly(message);
	}

	/** If a long session is repeated, its beginning matters least. */
	#keepEarly(message: SessionMessage): void {
		this.early.push(message);
		this.#bytes += heldBytes(message);
		while (this.early.length > this.#settings.maxMessages || this.#bytes > maxBytes / 2) {
			const oldest = this.early.shift();
			this.#bytes -= oldest ? heldBytes(oldest) : 0;
		}
	}

	#watchSilence(): void {
		const { end } = this.#settings;
		if (end.by !== 'silence' || !this.#isAnswered || this.#lastMessageAt === undefined) return;
		if (this.#isLost || this.isComplete) return;
		this.#cancelSilence();
		const silent = this.#clock.monotonicMilliseconds() - this.#lastMessageAt;
		this.#cancelSilence = this.#clock.after(Math.max(0, end.milliseconds - silent), () => {
			this.#ends('silence');
		});
	}

	#ends(end: WaitOver): void {
		if (this.#end !== undefined) return;
		this.#end = end;
		this.stop();
		if (this.#isAnswered) this.#over(end);
	}
}
