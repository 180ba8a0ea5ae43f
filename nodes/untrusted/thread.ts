import { once } from 'node:events';
import path from 'node:path';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import type { Answer, Question } from './untrusted.worker';

/** Bundled separately, both here and in the package. */
const code = path.join(__dirname, 'untrusted.worker.js');
const megabyte = 1024 * 1024;
/** Bytes. A text for which the thread needs more memory is abandoned. */
const maxHeapBytes = 384 * megabyte;
/**
 * V8's own limit is much higher. A single large allocation beyond it, such as for a growing array, ends the
 * whole process and not only the thread (seen with Node 20 and 24).
 */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
const heapCheckMilliseconds = 50;
const maxStartMilliseconds = 30_000;

interface Limits {
	readonly milliseconds: number;
	readonly signal: AbortSignal | undefined;
}

/**
 * A thread that is started with the first question and replaced after a question that it could not answer.
 */
export class Thread {
	private worker: Promise<Worker> | undefined;

	/** Answers one question at a time. @throws the signal's reason */
	async ask(question: Question, limits: Limits): Promise<Answer> {
		this.worker ??= this.start();
		try {
			return await answerOf(await this.worker, question, limits);
		} catch (error) {
			const worker = await this.worker.catch(() => undefined);
			this.worker = undefined;
			await worker?.terminate();
			limits.signal?.throwIfAborted();
			return { trouble: troubleOf(error) };
		}
	}

	private async start(): Promise<Worker> {
		// A thread that reads untrusted text needs neither n8n's environment, which contains secrets, nor its
		// flags.
		const worker = new Worker(code, { resourceLimits, env: {}, execArgv: [] });
		// The waiting caller also gets the error. Without a listener, it would end n8n.
		worker.on('error', () => undefined);
		worker.once('exit', () => (this.worker = undefined));
		await once(worker, 'message', { signal: AbortSignal.timeout(maxStartMilliseconds) });
		worker.unref();
		return worker;
	}
}

/** The text is not worth more time or memory. */
class GivenUp extends Error {}

function troubleOf(error: unknown): string {
	if (error instanceof GivenUp) return error.message;
	const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
	return isMemory ? tooMuchMemory : 'the worker thread that reads it stopped';
}

const tooMuchMemory = `reading it takes more than ${maxHeapBytes / megabyte} MB of memory`;

/** @throws GivenUp, the signal's reason, or the error that ended the thread */
async function answerOf(
	worker: Worker,
	question: Question,
	{ milliseconds, signal }: Limits,
): Promise<Answer> {
	const waiting = new AbortController();
	const ends = { signal: waiting.signal };
	signal?.throwIfAborted();
	worker.ref();
	try {
		const answered = once(worker, 'message', ends);
		worker.postMessage(question);
		const [answer] = (await Promise.race([
			answered,
			once(worker, 'exit', ends).then(() =>
				Promise.reject(new GivenUp('the worker thread that reads it stopped')),
			),
			...(signal ? [aborted(signal, ends)] : []),
			tooLate(milliseconds, ends),
			tooLarge(worker, ends),
		])) as [Answer];
		return answer;
	} finally {
		waiting.abort();
		worker.unref();
	}
}

async function aborted(signal: AbortSignal, ends: { signal: AbortSignal }): Promise<void> {
	await once(signal, 'abort', ends);
	signal.throwIfAborted();
}

async function tooLate(milliseconds: number, ends: { signal: AbortSignal }): Promise<never> {
	await sleep(milliseconds, undefined, ends);
	// If n8n itself was busy, the answer may be queued behind this timer.
	await sleep(0, undefined, ends);
	await immediate(undefined, ends);
	throw new GivenUp(`reading it takes longer than ${milliseconds / 1000} s`);
}

async function tooLarge(worker: Worker, ends: { signal: AbortSignal }): Promise<never> {
	for (;;) {
		await sleep(heapCheckMilliseconds, undefined, ends);
		// Only Node 22.16+ and 24 can report this.
		if (!('getHeapStatistics' in worker)) continue;
		const { used_heap_size: heap, external_memory: buffers } = await worker.getHeapStatistics();
		if (heap + buffers > maxHeapBytes) throw new GivenUp(tooMuchMemory);
	}
}
