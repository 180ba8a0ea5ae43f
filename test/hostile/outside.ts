import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { onLoopback, type Listening } from '../../dev/loopback';
import { answerMakers } from './answers';
import { documentMakers, documentResource } from './documents';
import { mailMakers, mailResource, storedText } from './mails';
import { made } from './random';
import { rowMakers } from './rows';

export interface Asked {
	/** Milliseconds since 1970. */
	readonly at: number;
	readonly what: string;
}

/** Starts Gmail, Docs, Sheets and an agent service in one server, all hostile. A number in the request decides which text comes. */
export async function startOutside(seed: number): Promise<Outside & Listening> {
	const outside = new Outside(seed);
	const server = createServer((request, response) => {
		outside.serve(request, response).catch(() => request.socket.destroy());
	});
	return Object.assign(outside, await onLoopback(server));
}

/** Mails of each list. */
export const listLength = 5;

export function mailId(number: number): string {
	return `18c0000000${String(number).padStart(6, '0')}`;
}

class Outside {
	readonly asked: Asked[] = [];
	/** Formats of the messages that started an execution. */
	readonly frames: string[] = [];
	readonly #seed: number;

	constructor(seed: number) {
		this.#seed = seed;
	}

	async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const body = await text(request);
		const { pathname, searchParams } = new URL(request.url ?? '/', 'http://outside');
		const last = pathname.split('/').at(-1) ?? '';
		const number = Number.parseInt(last.slice(-6), 10);
		if (pathname === '/frames') {
			this.frames.push(searchParams.get('format') ?? '');
			response.end();
		} else if (pathname.includes('/execute')) this.#execute(body, response);
		else if (request.method === 'GET' && pathname.includes('/messages/')) {
			this.asked.push({ at: Date.now(), what: `mail ${number || last}` });
			sendJson(response, this.#mail(last, searchParams.get('format')));
		} else if (request.method === 'GET' && pathname.endsWith('/messages')) {
			const first = Number(/\d+/.exec(searchParams.get('q') ?? '')?.[0]) * listLength;
			const ids = Array.from({ length: listLength }, (_, at) => mailId(first + at));
			sendJson(
				response,
				JSON.stringify({ messages: ids.map((id) => ({ id, threadId: id })) }),
			);
		} else if (request.method === 'GET' && pathname.includes('/documents/hostile')) {
			this.asked.push({ at: Date.now(), what: `document ${number}` });
			sendJson(response, documentResource(last, made(documentMakers, this.#seed, number)));
		} else if (request.method === 'GET' && pathname.includes('/values/')) {
			const sheet = Number(/hostile-\w+-(\d+)/.exec(pathname)?.[1]);
			this.asked.push({ at: Date.now(), what: `rows ${sheet}` });
			const values = made(rowMakers, this.#seed, sheet);
			sendJson(
				response,
				JSON.stringify({ range: 'Sheet1!A1', majorDimension: 'ROWS', values }),
			);
		} else {
			// What is written is accepted and forgotten.
			sendJson(
				response,
				JSON.stringify({
					id: '18c0000000000000',
					threadId: '18c0000000000000',
					labelIds: ['SENT'],
				}),
			);
		}
	}

	#mail(id: string, format: string | null): string {
		const number = Number.parseInt(id.slice(-6), 10);
		if (Number.isNaN(number))
			return JSON.stringify({ data: made([storedText], this.#seed, this.asked.length) });
		const part = made(mailMakers, this.#seed, number);
		return mailResource(
			id,
			format === 'metadata' ? { ...part, body: { size: 0 }, parts: [] } : part,
		);
	}

	#execute(body: string, response: ServerResponse): void {
		const { sessionId } = JSON.parse(body) as { sessionId: string };
		this.asked.push({ at: Date.now(), what: `answer ${sessionId}` });
		response.socket?.end(made(answerMakers, this.#seed, Number(sessionId)));
	}
}

function sendJson(response: ServerResponse, json: string): void {
	response.setHeader('Content-Type', 'application/json').end(json);
}
