import { parentPort } from 'node:worker_threads';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

const parseTabs = (json: string) => JSON.parse(json) as docs_v1.Schema$DocumentTab[];

/** The thread's tasks: pure functions of texts and plain objects. Their code is loaded at the first text that needs it. */
const tasks = {
	htmlToText: async () => (await import('./html/htmlToText')).htmlToText,
	markdownToHtml: async () => (await import('./markdown/parseMarkdown')).markdownToHtml,
	/** Returns a `DocumentContent` as JSON. */
	markdownToBlocks: async () => {
		const { markdownToBlocks } = await import('./markdown/markdownToBlocks');
		return (markdown: string) => JSON.stringify(markdownToBlocks(markdown));
	},
	/** This task and the next take the tabs of a document as JSON. */
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

/** A task for the thread, which gets one at a time. */
export interface WorkerQuestion {
	readonly task: TaskName;
	readonly input: unknown;
}

export type WorkerAnswer<R = unknown> = { readonly result: R } | { readonly trouble: string };

/** A result may have this many characters for each one of its text, in addition to those that every result may have. */
const maxGrowth = 20;
const allowedCharacters = 1_000_000;

async function respond({ task, input }: WorkerQuestion): Promise<void> {
	const work = await tasks[task]();
	// The time limit for the text begins with this message, so that loading does not count.
	parentPort?.postMessage('ready');
	parentPort?.postMessage(runTask(work, input));
}

function runTask(work: (input: never) => unknown, input: unknown): WorkerAnswer {
	try {
		const result = work(input as never);
		const most = typeof input === 'string' ? allowedCharacters + maxGrowth * input.length : Infinity;
		const isTooLong = typeof result === 'string' && result.length > most;
		return isTooLong ? { trouble: 'the result is too long' } : { result };
	} catch (error) {
		// Whatever the parser throws: its message may quote the text, so it is not passed on.
		const isDeep = error instanceof RangeError && /stack/.test(error.message);
		return { trouble: isDeep ? 'it is nested too deeply' : 'the parser cannot read it' };
	}
}

// Stacks cost time and nobody sees them here, while an email may cause any number of errors with charsets that do not exist.
Error.stackTraceLimit = 0;
parentPort?.on('message', (question: WorkerQuestion) => void respond(question));
