import { on, once } from 'node:events';
import path from 'node:path';
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';

import type { WorkerAnswer, TaskInput, WorkerQuestion, TaskResult, TaskName } from './untrusted.worker';

/** The thread's code, which is bundled separately, both beside the sources and in the package. */
const workerFile = path.join(__dirname, 'untrusted.worker.js');

/** Most characters that each task accepts. No Google document and no email has more. */
const maxCharacters: Readonly<Record<TaskName, number>> = {
	htmlToText: 10_000_000,
	markdownToHtml: 2_000_000,
	markdownToBlocks: 2_000_000,
	documentTabsToText: 100_000_000,
	documentTabsToMarkdown: 100_000_000,
	readMail: 70_000_000,
	readRawPart: 70_000_000,
};

const maxHeapMegabytes = 384;
/** Far above our own limit, because one allocation beyond V8's ends the whole process, not only the thread (Node 20 and 24). */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
const heapCheckMilliseconds = 50;
const maxLoadSeconds = 30;

/** The process's only thread for untrusted text. It is replaced after it exceeded a limit or stopped. */
let currentThread: Worker | undefined;
const oneAtATime = pLimit(1);

/**
 * Runs a task in the thread for untrusted text. A slow task delays only other untrusted texts.
 * @param characters length of the text in the input, if the input is not itself a text
 * @throws the signal's reason
 */
export async function runInWorker<T extends TaskName>(
	task: T,
	input: TaskInput<T>,
	signal: AbortSignal | undefined,
	characters = typeof input === 'string' ? input.length : 0,
): Promise<WorkerAnswer<TaskResult<T>>> {
	const limit = maxCharacters[task];
	if (characters > limit) return { trouble: `it is longer than ${limit.toLocaleString('en-US')} characters` };
	const seconds = Math.min(30, 3 + Math.floor(characters / 100_000));
	const answer = await oneAtATime(askThread, { task, input }, seconds, signal);
	// The cast is safe, because the thread answers with the result of the task that it was asked to run.
	return answer as WorkerAnswer<TaskResult<T>>;
}

async function askThread(
	question: WorkerQuestion,
	seconds: number,
	signal: AbortSignal | undefined,
): Promise<WorkerAnswer> {
	signal?.throwIfAborted();
	const done = new AbortController();
	const until = { signal: done.signal };
	try {
		// This throws if the system has no thread left.
		const worker = (currentThread ??= startThread());
		worker.ref();
		const messages = on(worker, 'message', until);
		worker.postMessage(question);
		const stops = [once(worker, 'exit', until), ...(signal ? [once(signal, 'abort', until)] : [])].map(
			async (stop) => await stop.then(() => Promise.reject(new Error('Stopped'))),
		);
		const waitForMessage = async (maxSeconds: number, ...limits: Array<Promise<never>>) =>
			await Promise.race([messages.next(), ...stops, rejectWhenLate(maxSeconds, until), ...limits]);
		// The first message says that the thread has loaded the task's code; the second is the answer.
		await waitForMessage(maxLoadSeconds);
		return ((await waitForMessage(seconds, rejectWhenLarge(worker, until))).value as [WorkerAnswer])[0];
	} catch (error) {
		const failed = currentThread;
		currentThread = undefined;
		await failed?.terminate();
		signal?.throwIfAborted();
		return { trouble: describeTrouble(error) };
	} finally {
		done.abort();
		currentThread?.unref();
	}
}

function startThread(): Worker {
	// A thread that reads untrusted text needs neither n8n's environment, which contains secrets, nor its flags.
	const worker = new Worker(workerFile, { resourceLimits, env: {}, execArgv: [] });
	// The waiting caller also gets the error. Without a listener, it would end n8n.
	worker.on('error', () => undefined);
	worker.once('exit', () => (currentThread = undefined));
	return worker;
}

/** Reading a text took more time or memory than it may. */
class LimitExceeded extends Error {}

const tooMuchMemory = `reading it takes more than ${maxHeapMegabytes} MB of memory`;

function describeTrouble(error: unknown): string {
	if (error instanceof LimitExceeded) return error.message;
	const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
	return isMemory ? tooMuchMemory : 'the worker thread that reads it stopped';
}

async function rejectWhenLate(seconds: number, until: { signal: AbortSignal }): Promise<never> {
	await sleep(seconds * 1000, undefined, until);
	// If n8n's main thread was busy, the answer may already wait behind this timer, so messages are handled first.
	await sleep(0, undefined, until);
	await yieldToEventLoop(undefined, until);
	throw new LimitExceeded(`reading it takes longer than ${seconds} s`);
}

async function rejectWhenLarge(worker: Worker, until: { signal: AbortSignal }): Promise<never> {
	for (;;) {
		await sleep(heapCheckMilliseconds, undefined, until);
		// Only Node 22.16+ and 24 can report this.
		if (!('getHeapStatistics' in worker)) continue;
		const { used_heap_size: heap, external_memory: buffers } = await worker.getHeapStatistics();
		if (heap + buffers > maxHeapMegabytes * 1024 * 1024) throw new LimitExceeded(tooMuchMemory);
	}
}
