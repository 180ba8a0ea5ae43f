import WebSocket from 'ws';

import type { RestartableN8n } from '../dev/n8n/startRestartableN8n.ts';
import { until } from './n8n.ts';

interface Answer {
	readonly id?: number;
	readonly result?: { readonly result?: { readonly value?: unknown } };
	readonly error?: { readonly message: string };
}

/** Evaluates code in a running n8n, through the inspector that every Node process opens on SIGUSR1. */
export class Inspector {
	readonly #socket: WebSocket;
	#calls = 0;

	static async open(n8n: RestartableN8n): Promise<Inspector> {
		process.kill(n8n.pid, 'SIGUSR1');
		const address = () => /Debugger listening on (ws:\S+)/.exec(n8n.output())?.[1];
		await until('the inspector of n8n', () => address() !== undefined);
		const socket = new WebSocket(address() ?? '');
		await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
		return new Inspector(socket);
	}

	constructor(socket: WebSocket) {
		this.#socket = socket;
	}

	/** @returns the JSON value of an expression */
	async evaluate<T>(expression: string): Promise<T> {
		const { result } = await this.#call('Runtime.evaluate', {
			expression,
			returnByValue: true,
		});
		return result?.result?.value as T;
	}

	/** Memory usage after garbage collection. */
	async memory(): Promise<NodeJS.MemoryUsage> {
		// The second time collects what the first one released.
		for (let time = 0; time < 2; time++) await this.#call('HeapProfiler.collectGarbage');
		return await this.evaluate('process.memoryUsage()');
	}

	close(): void {
		this.#socket.close();
	}

	async #call(method: string, params: object = {}): Promise<Answer> {
		const id = ++this.#calls;
		const answered = new Promise<Answer>((resolve) => {
			const look = (data: WebSocket.RawData) => {
				const answer = JSON.parse((data as Buffer).toString()) as Answer;
				if (answer.id !== id) return;
				this.#socket.off('message', look);
				resolve(answer);
			};
			this.#socket.on('message', look);
		});
		this.#socket.send(JSON.stringify({ id, method, params }));
		const answer = await answered;
		if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
		return answer;
	}
}
