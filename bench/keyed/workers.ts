import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { Bundled } from './bundled.ts';

export interface Run {
	readonly number: number;
	readonly resource: 'mail' | 'spreadsheet' | 'document' | 'file';
	readonly operation: string;
	/** Values as entered in the form. */
	readonly given: Readonly<Record<string, unknown>>;
}

export interface Answer {
	readonly number: number;
	readonly repeated?: boolean;
	/** JSON. */
	readonly result?: string;
	readonly error?: string;
}

/** A process that may be killed at any time. */
export class Worker {
	private readonly child: ChildProcess;
	private readonly waiting = new Map<number, (answer: Answer | undefined) => void>();

	constructor(child: ChildProcess) {
		this.child = child;
		child.on('message', (answer: Answer) => {
			this.end(answer.number, answer);
		});
		child.on('error', () => {
			// It was killed while a run was on its way to it; `exit` ends the run.
		});
		child.once('exit', () => {
			for (const number of this.waiting.keys()) this.end(number, undefined);
		});
	}

	/** @returns undefined if the process was killed before the run ended */
	run(run: Run): Promise<Answer | undefined> {
		return new Promise((resolve) => {
			this.waiting.set(run.number, resolve);
			if (this.child.connected) this.child.send(run);
			else this.end(run.number, undefined);
		});
	}

	kill(): void {
		this.child.kill('SIGKILL');
	}

	stop(): void {
		if (this.child.connected) this.child.disconnect();
	}

	private end(number: number, answer: Answer | undefined): void {
		this.waiting.get(number)?.(answer);
		this.waiting.delete(number);
	}
}

/** The product's operations, bundled once for separate processes. */
export class Workers {
	private readonly worker: Bundled;
	private readonly url: string;

	private constructor(worker: Bundled, url: string) {
		this.worker = worker;
		this.url = url;
	}

	/** @param url address of the stand-in, which accepts the token `bench` */
	static async build(url: string): Promise<Workers> {
		return new Workers(await Bundled.build('bench/keyed/worker.ts'), url);
	}

	async start(): Promise<Worker> {
		const child = fork(this.worker.file, [this.url]);
		await once(child, 'message');
		return new Worker(child);
	}

	remove(): void {
		this.worker.remove();
	}
}
