import { parentPort } from 'node:worker_threads';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

const parseTabs = (json: string) => JSON.parse(json) as docs_v1.Schema$DocumentTab[];

/** The tasks of the thread, which are pure functions of texts and plain objects. The first use of a task loads its code. */
const tasks = {
	htmlToText: async () => (await import('./html/htmlToText')).htmlToText,
	markdownToHtml: async () => (await import('./markdown/parseMarkdown')).markdownToHtml,
	/** Returns a `DocumentContent` as JSON. */
	markdownToBlocks: async () => {
		const { markdownToBlocks } = await import('./markdown/markdownToBlocks');
		return (markdown: string) => JSON.stringify(markdownToBlocks(markdown));
	},
	/** Takes the tabs of a document as JSON, as does `documentTabsToMarkdown`. */
	documentTabsToText: async () => {
		const { documentTabsToText } = await import('./document/documentTabsToText');
		return (json: string) => documentTabsToText(parseTabs(json));
	},
	documentTabsToMarkdown: async () => {
		const { documentTabsToMarkdown } = await import('./markdown/documentTabsToMarkdown');
		return (json: string) => documentTabsToMarkdown(parseTabs(json));
	},
	readMail: async () => (await import('./mail/readMail')).readMail,
	readRawPart: async () => (await import('./mail/readRawPart')).readRawPart,
} satisfies Record<string, () => Promise<(input: never) => unknown>>;

type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
type TaskFunction<T extends TaskName> = Awaited<ReturnType<Tasks[T]>>;
export type TaskInput<T extends TaskName> = Parameters<TaskFunction<T>>[0];
export type TaskResult<T extends TaskName> = ReturnType<TaskFunction<T>>;

/** What the thread gets from its caller. The next input follows only after the output. */
export interface WorkerInput {
	readonly task: TaskName;
	readonly input: unknown;
}

/** `problem` completes a sentence such as "The email could not be read: it is nested too deeply". */
export type WorkerOutput<R = unknown> = { readonly result: R } | { readonly problem: string };

/** Most characters of the result for an empty text. */
const baseCharacters = 1_000_000;
/** For each character of the text, the result may have this many more. */
const maxGrowth = 20;

async function respond({ task, input }: WorkerInput): Promise<void> {
	const taskFunction = await tasks[task]();
	// The time limit of the task begins with this message, so the time to load the code does not count.
	parentPort?.postMessage('ready');
	parentPort?.postMessage(runTask(taskFunction, input));
}

function runTask(taskFunction: (input: never) => unknown, input: unknown): WorkerOutput {
	try {
		const result = taskFunction(input as never);
		const maxLength =
			typeof input === 'string' ? baseCharacters + maxGrowth * input.length : Infinity;
		const isTooLong = typeof result === 'string' && result.length > maxLength;
		return isTooLong ? { problem: 'the result is too long' } : { result };
	} catch (error) {
		// The parser's message is not passed on, because it may quote the text.
		const isStackOverflow = error instanceof RangeError && /stack/.test(error.message);
		return {
			problem: isStackOverflow ? 'it is nested too deeply' : 'the parser cannot read it',
		};
	}
}

// Errors get no stacks, because nobody reads them here. Stacks cost time, and an email with unknown charset names may cause many errors.
Error.stackTraceLimit = 0;
parentPort?.on('message', (workerInput: WorkerInput) => void respond(workerInput));
