import { once } from 'node:events';
import WebSocket from 'ws';

import type { N8nApi } from './n8nApi.ts';

/** Listens to n8n like an open editor. */
export class Reloads {
	private readonly socket: WebSocket;
	private waiting: Array<() => void> = [];

	private constructor(socket: WebSocket) {
		this.socket = socket;
		socket.on('message', (data: Buffer) => {
			if (!data.toString().includes('"nodeDescriptionUpdated"')) return;
			for (const resolve of this.waiting.splice(0)) resolve();
		});
	}

	static async of(api: N8nApi): Promise<Reloads> {
		const url = `${api.url.replace(/^http/, 'ws')}/rest/push?pushRef=dev-reload`;
		const socket = new WebSocket(url, { headers: { cookie: api.cookie }, origin: api.url });
		const reloads = new Reloads(socket);
		await once(socket, 'open');
		return reloads;
	}

	/** Resolves when n8n next tells its editors that there are new node descriptions. */
	async next(): Promise<void> {
		await new Promise<void>((resolve) => this.waiting.push(resolve));
	}

	close(): void {
		this.socket.terminate();
	}
}
