import pLimit from 'p-limit';

import type { TaskName } from './tasks';
import { Thread } from './thread';
import type { Answer, Question } from './foreign.worker';

/** Longer texts are not begun: more than a document of Google's can hold, or than anybody writes into a mail. */
const maxCharacters: Readonly<Record<TaskName, number>> = {
	textOfHtml: 10_000_000,
	htmlOfMarkdown: 2_000_000,
	contentOfMarkdown: 2_000_000,
	markdownOfTabs: 100_000_000,
};

const leastMilliseconds = 3_000;
const millisecondsPerCharacter = 0.01;
const mostMilliseconds = 30_000;
/** Where text after text takes too long, somebody wants it to: each gets half the time of the one before. */
const mostHalvings = 2;

const oneAtATime = pLimit(1);
const thread = new Thread();
let lateInARow = 0;

/**
 * Has the process's one thread for foreign text do a task. However long it takes, nothing waits for it but other foreign texts.
 * @throws the signal's reason
 */
export async function readForeign(
	task: TaskName,
	text: string,
	signal: AbortSignal | undefined,
): Promise<Answer> {
	const most = maxCharacters[task];
	if (text.length > most) return { trouble: `it is longer than ${most.toLocaleString('en-US')} characters` };
	return await oneAtATime(asked, { task, text }, signal);
}

async function asked(question: Question, signal: AbortSignal | undefined): Promise<Answer> {
	signal?.throwIfAborted();
	const own = Math.min(mostMilliseconds, leastMilliseconds + question.text.length * millisecondsPerCharacter);
	const milliseconds = Math.ceil(own / 2 ** Math.min(lateInARow, mostHalvings) / 100) * 100;
	const begun = performance.now();
	const answer = await thread.ask(question, { milliseconds, signal });
	lateInARow = performance.now() - begun >= milliseconds ? lateInARow + 1 : 0;
	return answer;
}
