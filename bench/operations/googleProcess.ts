import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import type { Message, Order, Seeded } from './google.ts';

/** The process of the stand-in. */
export class GoogleProcess {
	readonly url: string;
	private readonly child: ChildProcess;

	private constructor(child: ChildProcess, url: string) {
		this.child = child;
		this.url = url;
	}

	static async start(latencyMilliseconds: number): Promise<GoogleProcess> {
		const file = path.join(import.meta.dirname, 'google.ts');
		const child = fork(file, [String(latencyMilliseconds)], { execArgv: ['--expose-gc'] });
		const [message] = (await once(child, 'message')) as [Message];
		if (message.kind !== 'listening') throw new Error('The stand-in did not start');
		return new GoogleProcess(child, message.url);
	}

	async seed(order: Order): Promise<Seeded> {
		const message = await this.ask(order);
		if (message.kind !== 'seeded') throw new Error(`The stand-in answered ${message.kind}`);
		return message;
	}

	async requests(): Promise<number> {
		const message = await this.ask('count');
		if (message.kind !== 'counted') throw new Error(`The stand-in answered ${message.kind}`);
		return message.requests;
	}

	stop(): void {
		this.child.disconnect();
	}

	private async ask(order: Order | 'count'): Promise<Message> {
		this.child.send(order);
		const [message] = (await once(this.child, 'message')) as [Message];
		return message;
	}
}
