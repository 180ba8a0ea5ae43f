import { parentPort } from 'node:worker_threads';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { textOfTabs } from './document/plainText';
import { textOfHtml } from './html/textOfHtml';
import { rawPart } from './mail/rawPart';
import { readMail } from './mail/readMail';
import { contentOfMarkdown } from './markdown/contentOfMarkdown';
import { htmlOfMarkdown, proportionate } from './markdown/parseMarkdown';
import { markdownOfTabs } from './markdown/markdownOfTabs';

/** The thread's tasks: pure functions of texts and plain objects. */
const tasks = {
	textOfHtml,
	htmlOfMarkdown: (markdown: string) => htmlOfMarkdown(proportionate(markdown)),
	/** Returns a `Content` as JSON. */
	contentOfMarkdown: (markdown: string) => JSON.stringify(contentOfMarkdown(proportionate(markdown))),
	/** These take the tabs of a document as JSON. */
	textOfTabs: (json: string) => textOfTabs(JSON.parse(json) as docs_v1.Schema$DocumentTab[]),
	markdownOfTabs: (json: string) => markdownOfTabs(JSON.parse(json) as docs_v1.Schema$DocumentTab[]),
	readMail,
	rawPart,
} satisfies Record<string, (input: never) => unknown>;

type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
export type Input<T extends TaskName> = Parameters<Tasks[T]>[0];
export type Result<T extends TaskName> = ReturnType<Tasks[T]>;

/** A question to the thread. It receives one at a time. */
export interface Question {
	readonly task: TaskName;
	readonly input: unknown;
}

export type Answer<R = unknown> = { readonly result: R } | { readonly trouble: string };

/** Times that a result may be as long as its text, beyond what every result may have. */
const growth = 20;
const freeCharacters = 1_000_000;

function answerTo({ task, input }: Question): Answer {
	try {
		const work: (input: never) => unknown = tasks[task];
		const result = work(input as never);
		const most = typeof input === 'string' ? freeCharacters + growth * input.length : Infinity;
		const isTooLong = typeof result === 'string' && result.length > most;
		return isTooLong ? { trouble: 'the result is too long' } : { result };
	} catch (error) {
		// Any parser error, such as nesting that is too deep. Its message is not used because it may quote
		// the text.
		const isDeep = error instanceof RangeError && /stack/.test(error.message);
		return { trouble: isDeep ? 'it is nested too deeply' : 'the parser cannot read it' };
	}
}

// Nobody sees the stack of an error here, and emails may name any number of charsets that do not exist.
Error.stackTraceLimit = 0;
parentPort?.on('message', (question: Question) => parentPort?.postMessage(answerTo(question)));
// Loading takes a while, which must not count against the first text.
parentPort?.postMessage('ready');
