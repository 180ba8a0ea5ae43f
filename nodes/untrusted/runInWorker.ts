import { on, once } from 'node:events';
import path from 'node:path';
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';

import type {
	WorkerOutput,
	TaskInput,
	WorkerInput,
	TaskResult,
	TaskName,
} from './untrusted.worker';

/** The code of the thread. The build writes this file next to the sources and into the package. */
const workerFile = path.join(__dirname, 'untrusted.worker.js');

/** Most characters that each task accepts. No Google document and no email is longer. */
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
/** V8's limits are far above ours, because an allocation beyond V8's limit can end the whole process (Node 20 and 24). */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
const heapCheckMilliseconds = 50;
const maxLoadSeconds = 30;
/** An ordinary text needs some milliseconds. A long text gets more time, so that only a malicious one is stopped. */
const timeLimit = { baseSeconds: 3, charactersPerExtraSecond: 100_000, maxSeconds: 30 };

/** The only thread for untrusted text in this process. Another thread replaces it after it exceeded a limit or stopped. */
let currentThread: Worker | undefined;
const runOneAtATime = pLimit(1);

/** Runs a task in the thread for untrusted text. @throws the signal's reason */
export async function runInWorker<T extends TaskName>(
	task: T,
	input: TaskInput<T>,
	signal: AbortSignal | undefined,
	/** Must be given if the input is an object. */
	characters = typeof input === 'string' ? input.length : 0,
): Promise<WorkerOutput<TaskResult<T>>> {
	const limit = maxCharacters[task];
	if (characters > limit)
		return { problem: `it is longer than ${limit.toLocaleString('en-US')} characters` };
	const extraSeconds = Math.floor(characters / timeLimit.charactersPerExtraSecond);
	const maxSeconds = Math.min(timeLimit.maxSeconds, timeLimit.baseSeconds + extraSeconds);
	// The cast is safe, because the thread returns the result of the task that it was given.
	return (await runOneAtATime(askThread, { task, input }, maxSeconds, signal)) as WorkerOutput<
		TaskResult<T>
	>;
}

async function askThread(workerInput: WorkerInput, maxSeconds: number, signal?: AbortSignal) {
	signal?.throwIfAborted();
	const controller = new AbortController();
	const options = { signal: controller.signal };
	try {
		// This throws if the system cannot start another thread.
		const worker = (currentThread ??= startThread());
		worker.ref();
		const messages = on(worker, 'message', options);
		worker.postMessage(workerInput);
		const stopEvents = [once(worker, 'exit', options)];
		if (signal) stopEvents.push(once(signal, 'abort', options));
		const stops = stopEvents.map(async (event) => {
			await event;
			throw new Error('Stopped');
		});
		const receiveMessage = async (seconds: number, ...limits: Array<Promise<never>>) =>
			await Promise.race([
				messages.next(),
				...stops,
				rejectWhenLate(seconds, options),
				...limits,
			]);
		// The first message says that the thread has loaded the code of the task. The second message is the output.
		await receiveMessage(maxLoadSeconds);
		const { value } = await receiveMessage(maxSeconds, rejectWhenLarge(worker, options));
		return (value as [WorkerOutput])[0];
	} catch (error) {
		const failedThread = currentThread;
		currentThread = undefined;
		await failedThread?.terminate();
		signal?.throwIfAborted();
		return { problem: describeProblem(error) };
	} finally {
		controller.abort();
		currentThread?.unref();
	}
}

function startThread(): Worker {
	// A thread that reads untrusted text needs neither n8n's environment, which contains secrets, nor its flags.
	const worker = new Worker(workerFile, { resourceLimits, env: {}, execArgv: [] });
	// An error without a listener would end n8n. `askThread` also gets the error.
	worker.on('error', () => undefined);
	worker.once('exit', () => (currentThread = undefined));
	return worker;
}

class LimitExceeded extends Error {}

const memoryProblem = `reading it takes more than ${maxHeapMegabytes} MB of memory`;

function describeProblem(error: unknown): string {
	if (error instanceof LimitExceeded) return error.message;
	const isTooLarge =
		error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
	return isTooLarge ? memoryProblem : 'the worker thread that reads it stopped';
}

async function rejectWhenLate(seconds: number, options: { signal: AbortSignal }): Promise<never> {
	await sleep(seconds * 1000, undefined, options);
	// If n8n's main thread was busy, the output may already be there. It is handled before this promise rejects.
	await sleep(0, undefined, options);
	await yieldToEventLoop(undefined, options);
	throw new LimitExceeded(`reading it takes longer than ${seconds} s`);
}

async function rejectWhenLarge(worker: Worker, options: { signal: AbortSignal }): Promise<never> {
	for (;;) {
		await sleep(heapCheckMilliseconds, undefined, options);
		// Only Node 22.16+ and 24 have this method. In other versions, V8's limits apply.
		if (!('getHeapStatistics' in worker)) continue;
		const { used_heap_size: heap, external_memory: buffers } = await worker.getHeapStatistics();
		if (heap + buffers > maxHeapMegabytes * 1024 * 1024) throw new LimitExceeded(memoryProblem);
	}
}
