import type { IExecuteFunctions } from 'n8n-workflow';

import type { SessionMessage } from '../session/messages';
import { textIn } from './text';

export interface LiveSettings {
	/** Dot path of the text in a JSON message. */
	readonly textField: string;
	/** Whether texts go out as they come, when the execution streams. */
	readonly enableStreaming: boolean;
}

/** n8n's types do not say that it settles when the chunk is out. */
interface Streaming {
	sendChunk(type: 'begin' | 'item' | 'end', itemIndex: number, content?: string): unknown;
}

/** What of a message the editor shows while the node waits. */
const mostShown = 10_000;

/** Shows the agent's messages during the wait: in the chat and in the editor's console. */
export class LiveView {
	readonly #context: IExecuteFunctions;
	readonly #streaming: Streaming;
	readonly #index: number;
	readonly #textField: string;
	readonly #isStreaming: boolean;
	/** Chunks go out one after another; on a worker each takes its way through Redis. */
	#sent: Promise<unknown> = Promise.resolve();
	#hasBegun = false;

	constructor(context: IExecuteFunctions, index: number, { textField, enableStreaming }: LiveSettings) {
		this.#context = context;
		this.#streaming = context;
		this.#index = index;
		this.#textField = textField;
		// The output of a tool is for its agent, not for the person in the chat.
		const isTool = context.getNode().type.endsWith('Tool');
		this.#isStreaming = enableStreaming && !isTool && context.isStreaming();
	}

	message(message: SessionMessage): void {
		this.#show(message);
		const text = textIn(message.message, this.#textField);
		if (!this.#isStreaming || text === undefined) return;
		if (!this.#hasBegun) this.#send('begin');
		this.#hasBegun = true;
		this.#send('item', text);
	}

	/** Settles when everything is out; never rejects. */
	async end(): Promise<void> {
		if (this.#hasBegun) this.#send('end');
		await this.#sent;
	}

	/** Only in manual executions: n8n itself takes care of that. */
	#show({ sessionId, sequence, format, message, byteLength }: SessionMessage): void {
		const shown =
			format === 'binary' || byteLength > mostShown ? `(${byteLength} bytes, ${format})` : message;
		this.#context.sendMessageToUI({ sessionId, sequence, message: shown });
	}

	#send(type: 'begin' | 'item' | 'end', content?: string): void {
		this.#sent = this.#sent
			.then(() => this.#streaming.sendChunk(type, this.#index, content))
			.catch((error: unknown) => {
				// The listener may be gone; the item continues anyway.
				const reason = error instanceof Error ? error.message : String(error);
				this.#context.logger.debug(`Agent Execute: a chunk could not be sent: ${reason}`);
			});
	}
}
