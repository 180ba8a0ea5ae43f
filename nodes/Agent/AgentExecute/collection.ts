import { textOf } from '../session/givenValues';
import type { Clock } from '../session/clock';
import { valueAt } from '../session/dotPath';
import type { SessionMessage } from '../session/messages';
import type { WaitSettings } from './waitSettings';

export type EndedBy = 'match' | 'count' | 'close' | 'silence' | 'timeout' | 'limit';

/** Of all messages that one item collects: like the answer to the call itself. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Collects messages until their end. What comes before the call is answered counts, but the collection is not over before
 * that; the time limit starts with the answer.
 */
export class Collection {
	readonly messages: SessionMessage[] = [];
	readonly #settings: Pick<WaitSettings, 'end' | 'maxMessages' | 'timeoutSeconds'>;
	readonly #clock: Clock;
	readonly #over: (endedBy: EndedBy) => void;
	#bytes = 0;
	#lastMessageAt: number | undefined;
	#endedBy: EndedBy | undefined;
	#isAnswered = false;
	#cancelLimit = () => {};
	#cancelSilence = () => {};

	/** @param over called once, when the call is answered and the end has come */
	constructor(
		settings: Pick<WaitSettings, 'end' | 'maxMessages' | 'timeoutSeconds'>,
		clock: Clock,
		over: (endedBy: EndedBy) => void,
	) {
		this.#settings = settings;
		this.#clock = clock;
		this.#over = over;
	}

	/** Whether the end has come, even if the call is not answered yet. */
	get isComplete(): boolean {
		return this.#endedBy !== undefined;
	}

	add(message: SessionMessage): void {
		if (this.isComplete) return;
		const { end, maxMessages } = this.#settings;
		this.#bytes += message.byteLength;
		if (this.messages.length >= maxMessages || this.#bytes > maxBytes) {
			this.#end('limit');
			return;
		}
		this.messages.push(message);
		this.#lastMessageAt = this.#clock.monotonicMilliseconds();
		if (end.by === 'match' && isMatch(message, end)) this.#end('match');
		else if (end.by === 'count' && this.messages.length >= end.count) this.#end('count');
		else this.#watchSilence();
	}

	/** The service closed the channel. */
	closed(): void {
		if (this.#settings.end.by === 'close') this.#end('close');
	}

	/** The call is answered. */
	answered(): void {
		this.#isAnswered = true;
		if (this.#endedBy !== undefined) {
			this.#over(this.#endedBy);
			return;
		}
		this.#cancelLimit = this.#clock.after(this.#settings.timeoutSeconds * 1000, () => {
			this.#end('timeout');
		});
		this.#watchSilence();
	}

	/** Leaves no timer. */
	stop(): void {
		this.#cancelLimit();
		this.#cancelSilence();
	}

	#watchSilence(): void {
		const { end } = this.#settings;
		if (end.by !== 'silence' || !this.#isAnswered || this.#lastMessageAt === undefined) return;
		this.#cancelSilence();
		const silent = this.#clock.monotonicMilliseconds() - this.#lastMessageAt;
		this.#cancelSilence = this.#clock.after(Math.max(0, end.milliseconds - silent), () => {
			this.#end('silence');
		});
	}

	#end(endedBy: EndedBy): void {
		if (this.#endedBy !== undefined) return;
		this.#endedBy = endedBy;
		this.stop();
		if (this.#isAnswered) this.#over(endedBy);
	}
}

function isMatch({ message }: SessionMessage, { field, value }: { field: string; value: string }): boolean {
	const found = valueAt(message, field);
	return found !== undefined && textForm(found) === value;
}

const textForm = (value: unknown): string => (value === null ? 'null' : textOf(value));
