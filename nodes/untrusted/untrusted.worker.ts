import { parentPort } from 'node:worker_threads';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

const tabsIn = (json: string) => JSON.parse(json) as docs_v1.Schema$DocumentTab[];

/** The thread's tasks: pure functions of texts and plain objects. Their code is loaded at the first text that needs it. */
const tasks = {
	textOfHtml: async () => (await import('./html/textOfHtml')).textOfHtml,
	htmlOfMarkdown: async () => (await import('./markdown/parseMarkdown')).htmlOfMarkdown,
	/** Returns a `DocumentContent` as JSON. */
	contentOfMarkdown: async () => {
		const { contentOfMarkdown } = await import('./markdown/contentOfMarkdown');
		return (markdown: string) => JSON.stringify(contentOfMarkdown(markdown));
	},
	/** This task and the next take the tabs of a document as JSON. */
	textOfTabs: async () => {
		const { textOfTabs } = await import('./document/plainText');
		return (json: string) => textOfTabs(tabsIn(json));
	},
	markdownOfTabs: async () => {
		const { markdownOfTabs } = await import('./markdown/markdownOfTabs');
		return (json: string) => markdownOfTabs(tabsIn(json));
	},
	readMail: async () => (await import('./mail/readMail')).readMail,
	rawPart: async () => (await import('./mail/rawPart')).rawPart,
} satisfies Record<string, () => Promise<(input: never) => unknown>>;

type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
type Task<T extends TaskName> = Awaited<ReturnType<Tasks[T]>>;
export type Input<T extends TaskName> = Parameters<Task<T>>[0];
export type Result<T extends TaskName> = ReturnType<Task<T>>;

/** A task for the thread, which gets one at a time. */
export interface Question {
	readonly task: TaskName;
	readonly input: unknown;
}

export type Answer<R = unknown> = { readonly result: R } | { readonly trouble: string };

/** A result may have this many characters for each one of its text, in addition to those that every result may have. */
const growth = 20;
const freeCharacters = 1_000_000;

async function respond({ task, input }: Question): Promise<void> {
	const work = await tasks[task]();
	// The time limit for the text begins with this message, so that loading does not count.
	parentPort?.postMessage('ready');
	parentPort?.postMessage(answerOf(work, input));
}

function answerOf(work: (input: never) => unknown, input: unknown): Answer {
	try {
		const result = work(input as never);
		const most = typeof input === 'string' ? freeCharacters + growth * input.length : Infinity;
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
parentPort?.on('message', (question: Question) => void respond(question));
