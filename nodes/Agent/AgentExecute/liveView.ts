import type { IExecuteFunctions } from 'n8n-workflow';

import { isTool, toError } from '../../core/errors';
import { findText } from '../session/messageFields';
import type { SessionMessage } from '../session/messages';
import type { AgentCall } from './call';
import { TurnText } from './messageTexts';
import type { WaitEndReason } from './waitEnd';

/** Shows the agent's texts in the chat as they arrive. */
export class LiveView {
	readonly #context: IExecuteFunctions;
	readonly #index: number;
	readonly #textField: string;
	readonly #isStreaming: boolean;
	/** Settles when the last chunk is sent. Chunks are sent one after another, because a worker sends each chunk through Redis. */
	#lastChunk: Promise<unknown> = Promise.resolve();
	readonly #shownText: TurnText;

	constructor(context: IExecuteFunctions, index: number, params: AgentCall['params']) {
		this.#context = context;
		this.#index = index;
		this.#textField = params.textField;
		this.#shownText = new TurnText(params.textPieces);
		// The output of a tool is meant for the agent that called the tool, not for the chat.
		this.#isStreaming =
			params.enableStreaming && !isTool(context.getNode()) && context.isStreaming();
	}

	/** Shows the text of a message, unless the message reports a failure. @param endReason how the message ends the wait */
	readonly showMessage = ({ message }: SessionMessage, endReason?: WaitEndReason): void => {
		const text = findText(message, this.#textField);
		if (text !== undefined && endReason !== 'failure')
			this.showText(text, endReason === 'match');
	};

	/** @param isEnd whether the message ends the wait */
	showText(text: string, isEnd = true): void {
		if (!this.#isStreaming) return;
		const isFirst = this.#shownText.text === '';
		const addedText = this.#shownText.add(text, isEnd);
		if (addedText === '') return;
		if (isFirst) this.#sendChunk('begin');
		this.#sendChunk('item', addedText);
	}

	/** Settles when all chunks are sent, and never rejects. */
	async end(): Promise<void> {
		if (this.#shownText.text !== '') this.#sendChunk('end');
		await this.#lastChunk;
	}

	#sendChunk(type: 'begin' | 'item' | 'end', content?: string): void {
		// n8n's types hide that `sendChunk` returns a promise. The promise settles when the chunk is sent.
		const streaming: {
			sendChunk(...chunk: Parameters<IExecuteFunctions['sendChunk']>): unknown;
		} = this.#context;
		this.#lastChunk = this.#lastChunk
			.then(() => streaming.sendChunk(type, this.#index, content))
			.catch((error: unknown) => {
				// The chat may be closed. That is no error of the item.
				this.#context.logger.debug(
					`Agent Execute: a chunk could not be sent: ${toError(error).message}`,
				);
			});
	}
}
