import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import type { Message, Order, Report } from './uploadGoogle.ts';

/** The process of the stand-in. */
export class GoogleProcess {
	readonly url: string;
	private readonly child: ChildProcess;

	private constructor(child: ChildProcess, url: string) {
		this.child = child;
		this.url = url;
	}

	static async start(): Promise<GoogleProcess> {
		const child = fork(path.join(import.meta.dirname, 'uploadGoogle.ts'));
		const [message] = (await once(child, 'message')) as [Message];
		if (message.kind !== 'listening') throw new Error('The stand-in did not start');
		return new GoogleProcess(child, message.url);
	}

	/** Clears everything and starts counting. */
	async begin(order: Omit<Order & { order: 'start' }, 'order'> = {}): Promise<void> {
		await this.ask({ order: 'start', ...order });
	}

	async report(): Promise<Report> {
		const message = await this.ask({ order: 'report' });
		if (message.kind !== 'report') throw new Error(`The stand-in answered ${message.kind}`);
		return message;
	}

	/** Resolves at the first request after `begin({ announceFirst: true })`. */
	async firstRequest(): Promise<void> {
		await once(this.child, 'message');
	}

	stop(): void {
		this.child.disconnect();
	}

	private async ask(order: Order): Promise<Message> {
		this.child.send(order);
		const [message] = (await once(this.child, 'message')) as [Message];
		return message;
	}
}
