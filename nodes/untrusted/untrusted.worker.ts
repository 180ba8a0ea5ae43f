import { parentPort } from 'node:worker_threads';

import type { DocumentInput } from './document/readDocument';
import type { MailInput } from './mail/readMail';

/**
 * The tasks of the thread, which are pure functions of a text or of bytes. Some take or return
 * JSON. The first use of a task loads its code.
 */
const tasks = {
	htmlToText: async (html: string) => (await import('./html/htmlToText')).htmlToText(html),
	markdownToHtml: async (markdown: string) =>
		(await import('./markdown/parseMarkdown')).markdownToHtml(markdown),
	/** Returns a `DocumentContent` as JSON. */
	markdownToBlocks: async (markdown: string) => {
		const { markdownToBlocks } = await import('./markdown/markdownToBlocks');
		return JSON.stringify(markdownToBlocks(markdown));
	},
	readDocument: async (json: string, bytes: Buffer) => {
		const { readDocument } = await import('./document/readDocument');
		return await readDocument(bytes, JSON.parse(json) as DocumentInput);
	},
	readMail: async (json: string) =>
		(await import('./mail/readMail')).readMail(JSON.parse(json) as MailInput),
} satisfies Record<string, (text: string, bytes: Buffer) => Promise<unknown>>;

type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
export type TaskResult<T extends TaskName> = Awaited<ReturnType<Tasks[T]>>;

/** What the thread gets from its caller. The next input follows only after the output. */
export interface WorkerInput {
	readonly task: TaskName;
	readonly text: string;
	/** Google's response, or nothing. The thread parses it, because this would block n8n. */
	readonly bytes: Uint8Array;
}

/**
 * `problem` completes a sentence such as "The email could not be read: the result is too long".
 */
export type WorkerOutput<R = unknown> = { readonly result: R } | { readonly problem: string };

/**
 * Returns whether a result has more than 20 characters for each that came in, and a million. n8n's
 * main thread must copy it.
 */
function isTooLong(result: unknown, input: WorkerInput): boolean {
	const hasContent = typeof result === 'object' && result !== null && 'content' in result;
	const text = hasContent ? result.content : result;
	const maxLength = 1_000_000 + 20 * (input.text.length + input.bytes.length);
	return typeof text === 'string' && text.length > maxLength;
}

async function respond(input: WorkerInput): Promise<WorkerOutput> {
	try {
		const { task, text, bytes } = input;
		const { buffer, byteOffset, length } = bytes;
		const result = await tasks[task](text, Buffer.from(buffer, byteOffset, length));
		return isTooLong(result, input) ? { problem: 'the result is too long' } : { result };
	} catch {
		// The parser's message is not passed on, because it may quote the text.
		return {
			problem: 'the parser cannot read it, for example because it is nested too deeply',
		};
	}
}

// Errors get no stacks, because nobody reads them here. Stacks cost time, and an email with unknown
// charset names may cause many errors.
Error.stackTraceLimit = 0;
parentPort?.on('message', (input: WorkerInput) => {
	void respond(input).then((output) => parentPort?.postMessage(output));
});
