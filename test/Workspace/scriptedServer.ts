import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { onLoopback } from '../../dev/loopback';

export interface Received {
	readonly method: string;
	/** Path and query as they came, not decoded. */
	readonly url: string;
	readonly headers: IncomingMessage['headers'];
	readonly body: Buffer;
}

/** Answers one request, in whatever broken way the test wants. */
export type Answer = (response: ServerResponse, request: Received) => void;

export interface ScriptedServer {
	/** Without a trailing slash. */
	readonly url: string;
	readonly received: Received[];
	/** Most requests that were open at one time. */
	readonly mostAtOnce: number;
	close(): Promise<void>;
}

/** A loopback server that gives the answers of a script in order, the last one again and again. */
export async function startScriptedServer(...script: Answer[]): Promise<ScriptedServer> {
	const received: Received[] = [];
	let open = 0;
	let mostAtOnce = 0;
	const server = createServer((request, response) => {
		mostAtOnce = Math.max(mostAtOnce, ++open);
		response.once('close', () => open--);
		void buffer(request).then(
			(body) => {
				const { method = '', url = '', headers } = request;
				const entry = { method, url, headers, body };
				const answer = script[Math.min(received.push(entry), script.length) - 1];
				answer?.(response, entry);
			},
			// The client went away while it was sending.
			() => undefined,
		);
	});
	return {
		...(await onLoopback(server)),
		received,
		get mostAtOnce() {
			return mostAtOnce;
		},
	};
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
	return (response) => {
		response.writeHead(status, {
			'content-type': 'application/json; charset=UTF-8',
			...headers,
		});
		response.end(JSON.stringify(body));
	};
}

/** Google's error envelope. */
export function googleError(
	code: number,
	message: string,
	more: Record<string, unknown> = {},
	headers: Record<string, string> = {},
): Answer {
	return json({ error: { code, message, ...more } }, code, headers);
}

/** Resets the connection after the whole request arrived. */
export const reset: Answer = (response) => {
	response.socket?.resetAndDestroy();
};

/** Reads the request and never answers it. */
export const silence: Answer = () => undefined;
