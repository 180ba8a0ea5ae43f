import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Reply = (request: string, response: ServerResponse, path: string) => void;

/** A server that keeps all that it is sent, word by word. */
export class Stranger {
	readonly received: string[] = [];
	readonly #server;

	constructor(reply: Reply = (_request, response) => response.end()) {
		this.#server = createServer((request, response) => {
			void this.#take(request).then((all) => {
				reply(all, response, request.url ?? '');
			});
		});
	}

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	async listen(): Promise<void> {
		this.#server.listen(0, '127.0.0.1');
		await once(this.#server, 'listening');
	}

	async close(): Promise<void> {
		this.#server.closeAllConnections();
		this.#server.close();
		await once(this.#server, 'close');
	}

	async #take(request: IncomingMessage): Promise<string> {
		const lines = [`${request.method} ${request.url}`, ...request.rawHeaders, await text(request)];
		const all = lines.join('\n');
		this.received.push(all);
		return all;
	}
}
