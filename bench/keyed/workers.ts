import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Run {
	readonly number: number;
	readonly resource: 'mail' | 'spreadsheet' | 'document' | 'file';
	readonly operation: string;
	/** As in the form. */
	readonly given: Readonly<Record<string, unknown>>;
}

export interface Answer {
	readonly number: number;
	readonly repeated?: boolean;
	/** As JSON. */
	readonly result?: string;
	readonly error?: string;
}

type Bundle = (options: {
	root: string;
	entries: string[];
	target: string;
	split: boolean;
}) => Promise<unknown>;

/** A process that may be killed at any time. */
export class Worker {
	private readonly child: ChildProcess;
	private readonly waiting = new Map<number, (answer: Answer | undefined) => void>();

	constructor(child: ChildProcess) {
		this.child = child;
		child.on('message', (answer: Answer) => {
			this.end(answer.number, answer);
		});
		child.once('exit', () => {
			for (const number of this.waiting.keys()) this.end(number, undefined);
		});
	}

	/** @returns undefined when the process was killed before the run ended */
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

/** The product's operations, bundled once, for processes of their own. */
export class Workers {
	private readonly folder: string;
	private readonly url: string;

	private constructor(folder: string, url: string) {
		this.folder = folder;
		this.url = url;
	}

	/** @param url of the stand-in, which knows the token `bench` */
	static async build(url: string): Promise<Workers> {
		const root = path.join(import.meta.dirname, '../..');
		const { bundle } = createRequire(import.meta.url)('../../build/bundle.js') as { bundle: Bundle };
		const folder = mkdtempSync(path.join(tmpdir(), 'keyed-'));
		await bundle({ root, entries: ['bench/keyed/worker.ts'], target: folder, split: false });
		symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
		return new Workers(folder, url);
	}

	async start(): Promise<Worker> {
		const child = fork(path.join(this.folder, 'bench/keyed/worker.js'), [this.url]);
		await once(child, 'message');
		return new Worker(child);
	}

	remove(): void {
		rmSync(this.folder, { recursive: true, force: true });
	}
}
