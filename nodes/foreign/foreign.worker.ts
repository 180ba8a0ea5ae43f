import { parentPort } from 'node:worker_threads';

import { tasks, type TaskName } from './tasks';

/** What the thread is asked, one at a time. */
export interface Question {
	readonly task: TaskName;
	readonly text: string;
}

export type Answer = { readonly text: string } | { readonly trouble: string };

/** Characters that an answer may have for one of the text, beyond what any answer may have: strings have no memory limit. */
const growth = 20;
const freeCharacters = 1_000_000;

function answerTo({ task, text }: Question): Answer {
	try {
		const made = tasks[task](text);
		const isTooLong = made.length > freeCharacters + growth * text.length;
		return isTooLong ? { trouble: 'the result is too long' } : { text: made };
	} catch (error) {
		// Any parser error, such as nesting that is too deep. Its message may quote the text.
		const isDeep = error instanceof RangeError && /stack/.test(error.message);
		return { trouble: isDeep ? 'it is nested too deeply' : 'the parser cannot read it' };
	}
}

parentPort?.on('message', (question: Question) => parentPort?.postMessage(answerTo(question)));
// Loading takes a while, which must not count against the first text.
parentPort?.postMessage('ready');
