import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { buildErrorReply } from './envelope.ts';
import type { LoggedRequest } from './requestLog.ts';
import { ApiError, type Reply } from './service.ts';

/** What happens to the connection instead of a proper answer. */
export type ConnectionFault =
	/** The connection is reset, and nothing is carried out. */
	| 'resetBefore'
	/** The request is carried out, and then the connection is reset, so that the client cannot know the outcome. */
	| 'resetAfter'
	/** There is no answer, and nothing is carried out. */
	| 'blackHole'
	/** The request is carried out, but there is no answer. */
	| 'blackHoleAfter'
	/** The answer comes a few bytes at a time. */
	| 'slowDrip'
	/** The answer is cut in the middle by a reset. */
	| 'cutBody'
	/** The answer is complete according to HTTP, but contains only half of its text. */
	| 'halfBody';

export interface Fault {
	/** A method ID, or a test of the request. If absent, every request matches. */
	readonly match?: string | ((request: LoggedRequest) => boolean);
	/** The number of the first matching request that is affected, from 1. The default is 1. */
	readonly nth?: number;
	/** How many matching requests are affected. The default is 1. */
	readonly times?: number;
	/** HTTP status of an error answer in the envelope of the API's family. */
	readonly status?: number;
	readonly message?: string;
	/** The value of `errors[].reason` or `details[].reason`. */
	readonly reason?: string;
	/** The body in place of an envelope. A text or bytes are sent unchanged. */
	readonly body?: unknown;
	/** Headers that override those of the answer. */
	readonly headers?: Readonly<Record<string, string>>;
	/** Seconds, or an HTTP date. */
	readonly retryAfter?: number | string;
	/** Whether the request is carried out although `status` is an error, so that the client cannot know the outcome. */
	readonly carriedOut?: boolean;
	readonly delayMilliseconds?: number;
	readonly connection?: ConnectionFault;
	/** Turns the JSON of an answer into another. */
	readonly rewrite?: (body: unknown, request: LoggedRequest) => unknown;
	/** For `slowDrip`: the wait between two pieces of 16 bytes. The default is 100. */
	readonly dripMilliseconds?: number;
}

interface WaitingFault {
	readonly fault: Fault;
	seen: number;
	hits: number;
}

/** The faults that have not occurred yet. */
export class Faults {
	private waiting: WaitingFault[] = [];

	add(fault: Fault): void {
		this.waiting.push({ fault, seen: 0, hits: 0 });
	}

	clear(): void {
		this.waiting = [];
	}

	/** Returns the fault that affects this request, if any. Every matching fault counts the request. */
	take(request: LoggedRequest): Fault | undefined {
		const dueFaults = this.waiting.filter((entry) => {
			if (!matches(entry.fault, request)) return false;
			entry.seen++;
			return entry.seen >= (entry.fault.nth ?? 1);
		});
		const [firstFault] = dueFaults;
		if (!firstFault) return undefined;
		firstFault.hits++;
		if (firstFault.hits >= (firstFault.fault.times ?? 1)) {
			this.waiting = this.waiting.filter((entry) => entry !== firstFault);
		}
		return firstFault.fault;
	}
}

function matches({ match }: Fault, request: LoggedRequest): boolean {
	if (match === undefined) return true;
	return typeof match === 'string' ? request.method === match : match(request);
}

/** Returns the answer of a fault, or undefined if the fault affects only the connection or the timing. */
export function buildFaultReply(
	{ status, message, reason, body, headers, retryAfter }: Fault,
	id: string,
): Reply | undefined {
	if (status === undefined && body === undefined) return undefined;
	const code = status ?? 200;
	const reply =
		body === undefined
			? buildErrorReply(id, new ApiError(code, message ?? getStandardText(code), { reason }))
			: { body };
	return {
		status: code,
		body: reply.body,
		headers: {
			...reply.headers,
			...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
			...headers,
		},
	};
}

const standardTexts: Readonly<Record<number, string>> = {
	401: 'Request had invalid authentication credentials.',
	403: 'The caller does not have permission',
	404: 'Requested entity was not found.',
	408: 'The request timed out.',
	409: 'The operation was aborted.',
	429: 'Quota exceeded for quota metric and limit per minute per user.',
};

function getStandardText(code: number): string {
	const usual = 'Request contains an invalid argument.';
	return standardTexts[code] ?? (code >= 500 ? 'The service is currently unavailable.' : usual);
}

/** The answer of the service, as far as a fault leaves it as it is. */
export function disturbReply(reply: Reply, fault: Fault, request: LoggedRequest): Reply {
	const headers = { ...reply.headers, ...fault.headers };
	const isJson = typeof reply.body === 'object' && !Buffer.isBuffer(reply.body);
	if (!isJson || !fault.rewrite) return { ...reply, headers };
	return { ...reply, headers, body: fault.rewrite(reply.body, request) };
}

/** Sends a few bytes at a time. */
export async function drip(
	response: ServerResponse,
	bytes: Buffer,
	milliseconds: number,
): Promise<void> {
	for (let position = 0; position < bytes.length && !response.destroyed; position += 16) {
		response.write(bytes.subarray(position, position + 16));
		await sleep(milliseconds);
	}
	response.end();
}

/** Sends half of the bytes and resets the connection. */
export async function cut(response: ServerResponse, bytes: Buffer): Promise<void> {
	const half = bytes.subarray(0, Math.floor(bytes.length / 2));
	await new Promise((resolve) => response.write(half, resolve));
	response.socket?.resetAndDestroy();
}
