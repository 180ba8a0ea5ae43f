import type { NodeError } from '../../../core/errors';
import { maxResponseBytes as maxMessagesBytes } from '../../../http/body';
import type { EndedChannel } from '../../session/connection';
import { meetsCondition, type SessionMessage } from '../../session/messages';
import { Answer } from './answer';
import type { WaitSettings } from '../parameters';

/**
 * Why a wait ends. `failure` means that the agent reported one: a message met the failure
 * condition. The call has not failed.
 */
export type WaitEndReason = WaitSettings['waitUntil'] | 'timeout' | 'limit' | 'failure';

/**
 * How many messages a turn may have. All of them together may take 64 MiB, as much as one response.
 */
export const maxMessages = 10_000;

/** What has happened since the call was sent. Messages from before belong to an earlier turn. */
export class Turn {
	readonly messages: SessionMessage[] = [];
	readonly answer: Answer;
	/** Whether the filter has left out messages. */
	hasLeftOut = false;
	/** What has ended the wait. It may be set before the call has ended. */
	endReason: WaitEndReason | undefined;
	/** The error with which the channel was last lost. If it is set, messages may be missing. */
	gapCause: NodeError | undefined;
	/** The last close frame before the end of the wait. */
	closeFrame: { readonly code: number; readonly reason: string } | undefined;
	/** The failure of a call whose awaited messages arrived nevertheless. */
	callFailure: NodeError | undefined;
	readonly #settings: WaitSettings;
	#heldBytes = 0;
	#lastMessageAt = Infinity;

	constructor(settings: WaitSettings) {
		this.#settings = settings;
		this.answer = new Answer(settings);
	}

	/**
	 * When the silence that ends the wait is over, unless a message arrives before. It also runs
	 * while the channel is closed, because a service may close the channel after its last message.
	 * Infinity if silence does not end the wait, or before the first message.
	 */
	get silentAt(): number {
		const { waitUntil, silenceSeconds } = this.#settings;
		return waitUntil === 'silence' ? this.#lastMessageAt + silenceSeconds * 1000 : Infinity;
	}

	/**
	 * Must not be called after the end of the wait.
	 * @param arrivedAt in monotonic milliseconds
	 * @returns what the message adds to the answer
	 */
	add(message: SessionMessage, arrivedAt: number): string {
		this.#heldBytes += message.heldBytes;
		if (this.messages.length >= maxMessages || this.#heldBytes > maxMessagesBytes) {
			this.endReason = 'limit';
			return '';
		}
		this.messages.push(message);
		this.#lastMessageAt = arrivedAt;
		this.endReason = this.#findEndReason(message);
		if (this.endReason === 'failure') return '';
		return this.answer.add(message, this.endReason === 'match');
	}

	/**
	 * Ends the wait if a message was too large, or if Wait Until is set to the close of the
	 * channel.
	 */
	handleChannelEnd({ closeReason, wasOpen, failure }: EndedChannel): void {
		if (this.endReason !== undefined) return;
		if (closeReason.kind === 'tooLarge') this.endReason = 'limit';
		if (closeReason.kind === 'closeFrame') {
			this.closeFrame = closeReason;
			if (this.#settings.waitUntil === 'close') this.endReason = 'close';
		}
		// A close that ends the wait is no gap in it.
		if (wasOpen && this.endReason !== 'close') this.gapCause = failure;
	}

	#findEndReason(message: SessionMessage): WaitEndReason | undefined {
		const { failureCondition, matchCondition, waitUntil, messageCount } = this.#settings;
		if (meetsCondition(message, failureCondition)) return 'failure';
		if (meetsCondition(message, matchCondition)) return 'match';
		const hasAllMessages = waitUntil === 'count' && this.messages.length >= messageCount;
		return hasAllMessages ? 'count' : undefined;
	}
}
