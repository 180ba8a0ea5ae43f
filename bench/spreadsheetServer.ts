import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import type { Counted, Message, Order } from './spreadsheetGoogle.ts';

/** The process of the stand-in. */
export class Google {
	readonly url: string;
	private readonly child: ChildProcess;

	private constructor(child: ChildProcess, url: string) {
		this.child = child;
		this.url = url;
	}

	static async start(latencyMilliseconds: number): Promise<Google> {
		const file = path.join(import.meta.dirname, 'spreadsheetGoogle.ts');
		const child = fork(file, [String(latencyMilliseconds)], { execArgv: ['--expose-gc'] });
		const [message] = (await once(child, 'message')) as [Message];
		if (message.kind !== 'listening') throw new Error('The stand-in did not start');
		return new Google(child, message.url);
	}

	/** Clears everything and creates a sheet with this many rows. */
	async seed({ rows, columns }: Order): Promise<void> {
		const order: Order = { rows, columns };
		this.child.send(order);
		await once(this.child, 'message');
	}

	async counted(): Promise<Counted> {
		this.child.send('count');
		const [message] = (await once(this.child, 'message')) as [Message];
		if (message.kind !== 'counted') throw new Error(`The stand-in answered ${message.kind}`);
		return message;
	}

	stop(): void {
		this.child.disconnect();
	}
}
