import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { onLoopback, type Listening } from '../../../dev/loopback';

export type Reply = (request: string, response: ServerResponse, path: string) => void;

/** A server that keeps all that it is sent, word by word. */
export interface Stranger extends Listening {
	readonly received: string[];
}

export async function startStranger(
	reply: Reply = (_request, response) => response.end(),
): Promise<Stranger> {
	const received: string[] = [];
	const server = createServer((request, response) => {
		const { method, url = '', rawHeaders } = request;
		void text(request).then((body) => {
			const all = [`${method} ${url}`, ...rawHeaders, body].join('\n');
			received.push(all);
			reply(all, response, url);
		});
	});
	return { received, ...(await onLoopback(server)) };
}
