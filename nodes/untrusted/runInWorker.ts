import { on, once } from 'node:events';
import path from 'node:path';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';

import type { Answer, Input, Question, Result, TaskName } from './untrusted.worker';

/** The thread's code, which is bundled separately, both beside the sources and in the package. */
const code = path.join(__dirname, 'untrusted.worker.js');

/** Most characters that each task accepts. No Google document and no email has more. */
const longest: Readonly<Record<TaskName, number>> = {
	textOfHtml: 10_000_000,
	htmlOfMarkdown: 2_000_000,
	contentOfMarkdown: 2_000_000,
	textOfTabs: 100_000_000,
	markdownOfTabs: 100_000_000,
	readMail: 70_000_000,
	rawPart: 70_000_000,
};

const maxHeapMegabytes = 384;
/** V8's own limit is much higher: one large allocation beyond it ends the whole process, not only the thread (Node 20 and 24). */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
const heapCheckMilliseconds = 50;
const maxLoadSeconds = 30;

/** The process's only thread for untrusted text. It is replaced after it exceeded a limit or stopped. */
let thread: Worker | undefined;
const oneAtATime = pLimit(1);

/**
 * Runs a task in the thread for untrusted text. A slow task delays only other untrusted texts.
 * @param characters length of the text in the input, if the input is not itself a text
 * @throws the signal's reason
 */
export async function runInWorker<T extends TaskName>(
	task: T,
	input: Input<T>,
	signal: AbortSignal | undefined,
	characters = typeof input === 'string' ? input.length : 0,
): Promise<Answer<Result<T>>> {
	const most = longest[task];
	if (characters > most) return { trouble: `it is longer than ${most.toLocaleString('en-US')} characters` };
	const seconds = Math.min(30, 3 + Math.floor(characters / 100_000));
	const answer = await oneAtATime(ask, { task, input }, seconds, signal);
	// The thread returns what the task does.
	return answer as Answer<Result<T>>;
}

async function ask(question: Question, seconds: number, signal: AbortSignal | undefined): Promise<Answer> {
	signal?.throwIfAborted();
	const over = new AbortController();
	const ends = { signal: over.signal };
	try {
		// This throws if the system has no thread left.
		const worker = (thread ??= start());
		worker.ref();
		const messages = on(worker, 'message', ends);
		worker.postMessage(question);
		const stops = [once(worker, 'exit', ends), ...(signal ? [once(signal, 'abort', ends)] : [])].map(
			async (stop) => await stop.then(() => Promise.reject(new Error('Stopped'))),
		);
		const next = async (most: number, ...limits: Array<Promise<never>>) =>
			await Promise.race([messages.next(), ...stops, tooLate(most, ends), ...limits]);
		// The first message says that the thread has loaded the task's code; the second is the answer.
		await next(maxLoadSeconds);
		return ((await next(seconds, tooLarge(worker, ends))).value as [Answer])[0];
	} catch (error) {
		const failed = thread;
		thread = undefined;
		await failed?.terminate();
		signal?.throwIfAborted();
		return { trouble: troubleOf(error) };
	} finally {
		over.abort();
		thread?.unref();
	}
}

function start(): Worker {
	// A thread that reads untrusted text needs neither n8n's environment, which contains secrets, nor its flags.
	const worker = new Worker(code, { resourceLimits, env: {}, execArgv: [] });
	// The waiting caller also gets the error. Without a listener, it would end n8n.
	worker.on('error', () => undefined);
	worker.once('exit', () => (thread = undefined));
	return worker;
}

/** Reading a text took more time or memory than it may. */
class GivenUp extends Error {}

const tooMuchMemory = `reading it takes more than ${maxHeapMegabytes} MB of memory`;

function troubleOf(error: unknown): string {
	if (error instanceof GivenUp) return error.message;
	const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
	return isMemory ? tooMuchMemory : 'the worker thread that reads it stopped';
}

async function tooLate(seconds: number, ends: { signal: AbortSignal }): Promise<never> {
	await sleep(seconds * 1000, undefined, ends);
	// If n8n's main thread was busy, the answer may already wait behind this timer, so messages are handled first.
	await sleep(0, undefined, ends);
	await immediate(undefined, ends);
	throw new GivenUp(`reading it takes longer than ${seconds} s`);
}

async function tooLarge(worker: Worker, ends: { signal: AbortSignal }): Promise<never> {
	for (;;) {
		await sleep(heapCheckMilliseconds, undefined, ends);
		// Only Node 22.16+ and 24 can report this.
		if (!('getHeapStatistics' in worker)) continue;
		const { used_heap_size: heap, external_memory: buffers } = await worker.getHeapStatistics();
		if (heap + buffers > maxHeapMegabytes * 1024 * 1024) throw new GivenUp(tooMuchMemory);
	}
}
