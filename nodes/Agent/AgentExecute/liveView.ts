import type { IExecuteFunctions } from 'n8n-workflow';

import { toError } from '../../core/errors';
import { isTool } from '../../core/modelAnswer';
import type { ExecuteParams } from './parameters';

export type LiveView = ReturnType<typeof createLiveView>;

/** Shows the agent's texts in the chat as they arrive. */
export function createLiveView(
	context: IExecuteFunctions,
	index: number,
	{ enableStreaming, textPieces }: ExecuteParams,
) {
	// The output of a tool is meant for the agent that called the tool, not for the chat.
	const isStreaming = enableStreaming && !isTool(context.getNode()) && context.isStreaming();
	const separator = textPieces === 'last' ? '\n\n' : '';
	let hasBegun = false;
	/**
	 * Settles when the last chunk is sent. Chunks are sent one after another, because a worker
	 * sends each chunk through Redis.
	 */
	let lastChunk: Promise<unknown> = Promise.resolve();

	function showText(text: string): void {
		if (!isStreaming || text === '') return;
		if (!hasBegun) sendChunk('begin');
		sendChunk('item', hasBegun ? separator + text : text);
		hasBegun = true;
	}

	/** Shows the whole answer, if nothing of it is shown yet. */
	function showOutput(output: string): void {
		if (!hasBegun) showText(output);
	}

	/** Settles when all chunks are sent, and never rejects. */
	async function end(): Promise<void> {
		if (hasBegun) sendChunk('end');
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

	return { showText, showOutput, end };
}
