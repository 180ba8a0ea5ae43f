import type { IExecuteFunctions } from 'n8n-workflow';

import { toError } from '../../core/errors';
import { isTool } from '../../core/modelAnswer';
import type { SessionMessage } from '../session/messages';
import type { AgentCall } from './call';
import { findAnswerText, TurnText } from './messageTexts';
import type { WaitEndReason } from './messageCollector';

/** Shows the agent's texts in the chat as they arrive. */
export function createLiveView(
	context: IExecuteFunctions,
	index: number,
	params: AgentCall['params'],
) {
	// The output of a tool is meant for the agent that called the tool, not for the chat.
	const isStreaming =
		params.enableStreaming && !isTool(context.getNode()) && context.isStreaming();
	const shownText = new TurnText(params.textPieces);
	/**
	 * Settles when the last chunk is sent. Chunks are sent one after another, because a worker
	 * sends each chunk through Redis.
	 */
	let lastChunk: Promise<unknown> = Promise.resolve();

	/**
	 * Shows the text of a message, unless the message reports a failure.
	 * @param endReason how the message ends the wait
	 */
	function showMessage(message: SessionMessage, endReason?: WaitEndReason): void {
		if (endReason === 'failure') return;
		const isFinal = endReason === 'match';
		const text = findAnswerText(message, params, isFinal);
		if (text !== undefined) showText(text, isFinal);
	}

	/** Shows the whole answer, if nothing of it is shown yet. */
	function showOutput(output: string): void {
		if (shownText.text === '') showText(output, true);
	}

	function showText(text: string, isFinal: boolean): void {
		if (!isStreaming) return;
		const isFirst = shownText.text === '';
		const addedText = shownText.add(text, isFinal);
		if (addedText === '') return;
		if (isFirst) sendChunk('begin');
		sendChunk('item', addedText);
	}

	/** Settles when all chunks are sent, and never rejects. */
	async function end(): Promise<void> {
		if (shownText.text !== '') sendChunk('end');
		await lastChunk;
	}

	function sendChunk(type: 'begin' | 'item' | 'end', content?: string): void {
		// n8n's types hide that `sendChunk` returns a promise. The promise settles when the chunk
		// is sent.
		const streaming: { sendChunk: (...chunk: unknown[]) => unknown } = context as never;
		const send = () => streaming.sendChunk(type, index, content);
		lastChunk = lastChunk.then(send).catch((error: unknown) => {
			// The chat may be closed. That is no error of the item.
			context.logger.debug(
				`Agent Execute: a chunk could not be sent: ${toError(error).message}`,
			);
		});
	}

	return { showMessage, showOutput, end };
}

export type LiveView = ReturnType<typeof createLiveView>;
