import pLimit from 'p-limit';

import type { Input, Result, TaskName } from './tasks';
import { Thread } from './thread';
import type { Answer, Question } from './untrusted.worker';

/** More is refused. No Google document can hold more, and no email contains as much. */
const maxCharacters: Readonly<Record<TaskName, number>> = {
	textOfHtml: 10_000_000,
	htmlOfMarkdown: 2_000_000,
	contentOfMarkdown: 2_000_000,
	textOfTabs: 100_000_000,
	markdownOfTabs: 100_000_000,
	readMail: 70_000_000,
	rawPart: 70_000_000,
};

const leastMilliseconds = 3_000;
const millisecondsPerCharacter = 0.01;
const mostMilliseconds = 30_000;

/** Limit for all texts of one list that take too long. */
const patienceMilliseconds = 15_000;

/** Time wasted on texts that belong together, such as the emails of one list. */
export class Patience {
	#spent = 0;

	get isOver(): boolean {
		return this.#spent >= patienceMilliseconds;
	}

	spend(milliseconds: number): void {
		this.#spent += milliseconds;
	}
}

const oneAtATime = pLimit(1);
const thread = new Thread();

interface Limits {
	/** Shared by texts that belong together. */
	readonly patience?: Patience;
	/** How much is to be read, if the input is not a text itself. */
	readonly characters?: number;
}

/**
 * Runs a task in the process's only thread for untrusted text. A slow task delays only other untrusted texts.
 * @throws the signal's reason
 */
export async function runInWorker<T extends TaskName>(
	task: T,
	input: Input<T>,
	signal: AbortSignal | undefined,
	{ patience = new Patience(), characters = lengthOf(input) }: Limits = {},
): Promise<Answer<Result<T>>> {
	const most = maxCharacters[task];
	if (characters > most) return { trouble: `it is longer than ${most.toLocaleString('en-US')} characters` };
	const answer = await oneAtATime(asked, { task, input }, characters, patience, signal);
	// The thread returns what the task does.
	return answer as Answer<Result<T>>;
}

function lengthOf(input: unknown): number {
	return typeof input === 'string' ? input.length : 0;
}

async function asked(
	question: Question,
	characters: number,
	patience: Patience,
	signal: AbortSignal | undefined,
): Promise<Answer> {
	signal?.throwIfAborted();
	if (patience.isOver) return { trouble: 'too many others before it took too long to read' };
	const own = Math.min(mostMilliseconds, leastMilliseconds + characters * millisecondsPerCharacter);
	const milliseconds = Math.ceil(own / 100) * 100;
	const begun = performance.now();
	const answer = await thread.ask(question, { milliseconds, signal });
	if (performance.now() - begun >= milliseconds) patience.spend(milliseconds);
	return answer;
}
