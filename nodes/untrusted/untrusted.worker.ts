import { parentPort } from 'node:worker_threads';

import { tasks, type TaskName } from './tasks';

/** A question to the thread. It receives one at a time. */
export interface Question {
	readonly task: TaskName;
	readonly input: unknown;
}

export type Answer<R = unknown> = { readonly result: R } | { readonly trouble: string };

/**
 * Allowed characters of an answer per character of the text, in addition to those that every answer may have.
 * This is needed because strings have no memory limit.
 */
const growth = 20;
const freeCharacters = 1_000_000;

function answerTo({ task, input }: Question): Answer {
	try {
		const work: (input: never) => unknown = tasks[task];
		const result = work(input as never);
		const isTooLong =
			typeof result === 'string' &&
			typeof input === 'string' &&
			result.length > freeCharacters + growth * input.length;
		return isTooLong ? { trouble: 'the result is too long' } : { result };
	} catch (error) {
		// Any parser error, such as nesting that is too deep. Its message is not used because it may quote
		// the text.
		const isDeep = error instanceof RangeError && /stack/.test(error.message);
		return { trouble: isDeep ? 'it is nested too deeply' : 'the parser cannot read it' };
	}
}

parentPort?.on('message', (question: Question) => parentPort?.postMessage(answerTo(question)));
// Loading takes a while, which must not count against the first text.
parentPort?.postMessage('ready');
