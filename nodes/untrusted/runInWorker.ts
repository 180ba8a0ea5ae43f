import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';

import type { TaskName, TaskResult, WorkerInput, WorkerOutput } from './untrusted.worker';

/** The code of the thread. The build writes this file next to the sources and into the package. */
const workerFile = path.join(__dirname, 'untrusted.worker.js');

/** No Google document and no email is longer. */
const maxCharacters = 100_000_000;
const maxMegabytes = 384;
/**
 * V8's limits are far above ours, because an allocation beyond V8's limit can end the whole process
 * (Node 20 and 24).
 */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
/**
 * An ordinary text needs some milliseconds. A long text gets more time, so that only a malicious
 * one is stopped.
 */
const timeLimit = { baseSeconds: 3, charactersPerExtraSecond: 100_000, maxSeconds: 30 };
/** Starting the thread and loading the code of a task count, too. */
const checksPerSecond = 20;

/**
 * A thread for untrusted text, which does one task at a time. A new one replaces it after it
 * exceeded a limit or stopped.
 */
interface Lane {
	readonly runOneAtATime: ReturnType<typeof pLimit>;
	worker?: Worker;
}

/**
 * Texts that get no extra time have a thread of their own, so that they do not wait for long ones.
 */
const shortLane: Lane = { runOneAtATime: pLimit(1) };
const longLane: Lane = { runOneAtATime: pLimit(1) };

/**
 * Runs a task in a thread for untrusted text.
 * @param input the text, or what is to be sent to the thread as JSON
 * @param bytes Google's response, if the task reads one
 * @throws the signal's reason
 */
export async function runInWorker<T extends TaskName>(
	task: T,
	input: string | object,
	signal: AbortSignal | undefined,
	bytes: Uint8Array = new Uint8Array(),
): Promise<WorkerOutput<TaskResult<T>>> {
	const text = typeof input === 'string' ? input : JSON.stringify(input);
	const length = text.length + bytes.length;
	if (length > maxCharacters)
		return { problem: `it is longer than ${maxCharacters.toLocaleString('en-US')} characters` };
	const extraSeconds = Math.floor(length / timeLimit.charactersPerExtraSecond);
	const seconds = Math.min(timeLimit.maxSeconds, timeLimit.baseSeconds + extraSeconds);
	const lane = extraSeconds === 0 ? shortLane : longLane;
	const output = await lane.runOneAtATime(ask, lane, { task, text, bytes }, seconds, signal);
	signal?.throwIfAborted();
	// The cast is safe, because the thread returns the result of the task that it was given.
	return output as WorkerOutput<TaskResult<T>>;
}

async function ask(lane: Lane, input: WorkerInput, seconds: number, signal?: AbortSignal) {
	signal?.throwIfAborted();
	const end = new AbortController();
	try {
		// This throws if the system cannot start another thread.
		const worker = (lane.worker ??= startThread(lane));
		worker.ref();
		worker.postMessage(input);
		const stop = signal ? AbortSignal.any([signal, end.signal]) : end.signal;
		const [output] = await Promise.race([
			// This also ends with an error of the thread.
			once(worker, 'message', { signal: stop }) as Promise<[WorkerOutput]>,
			rejectAtExit(worker, end.signal),
			rejectAtLimit(worker, seconds, end.signal),
		]);
		worker.unref();
		return output;
	} catch (error) {
		// A late answer must not reach the next task.
		await lane.worker?.terminate();
		return { problem: describeProblem(error) };
	} finally {
		end.abort();
	}
}

class LimitExceeded extends Error {}

const memoryProblem = `reading it takes more than ${maxMegabytes} MB of memory`;

function describeProblem(error: unknown): string {
	if (error instanceof LimitExceeded) return error.message;
	const { code } = error as NodeJS.ErrnoException;
	if (code === 'ERR_WORKER_OUT_OF_MEMORY') return memoryProblem;
	return 'the worker thread that reads it stopped';
}

function startThread(lane: Lane): Worker {
	// A thread that reads untrusted text needs neither n8n's environment, which contains secrets,
	// nor its flags.
	const worker = new Worker(workerFile, { resourceLimits, env: {}, execArgv: [] });
	// An error without a listener would end n8n.
	worker.on('error', () => undefined);
	worker.once('exit', () => {
		lane.worker = undefined;
	});
	return worker;
}

/** A thread that ends without an error sends no answer either. */
async function rejectAtExit(worker: Worker, signal: AbortSignal): Promise<never> {
	await once(worker, 'exit', { signal });
	throw new Error('The thread ended.');
}

/**
 * Counts checks and not time, because the output may be there already if n8n's main thread was
 * busy.
 */
async function rejectAtLimit(worker: Worker, seconds: number, signal: AbortSignal): Promise<never> {
	for (let checks = 0; checks < seconds * checksPerSecond; checks++) {
		await sleep(1000 / checksPerSecond, undefined, { signal });
		if ((await measureMegabytes(worker)) > maxMegabytes) throw new LimitExceeded(memoryProblem);
	}
	throw new LimitExceeded(`reading it takes longer than ${seconds} s`);
}

async function measureMegabytes(worker: Worker): Promise<number> {
	// Only Node 22.16+ and 24 have this method. In other versions, V8's limits apply.
	if (!('getHeapStatistics' in worker)) return 0;
	// It fails while the thread starts, and once it has ended, which its exit tells.
	const statistics = await worker.getHeapStatistics().catch(() => undefined);
	if (!statistics) return 0;
	return (statistics.used_heap_size + statistics.external_memory) / 1024 / 1024;
}
