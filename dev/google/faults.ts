import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { errorReply } from './envelope.ts';
import type { LoggedRequest } from './requestLog.ts';
import { ApiError, type Reply } from './service.ts';

/** What happens to the connection instead of a proper answer. */
export type ConnectionFault =
	/** Reset; nothing was carried out. */
	| 'resetBefore'
	/** Reset after the request was carried out: the ambiguous case. */
	| 'resetAfter'
	/** Never answered; nothing was carried out. */
	| 'blackHole'
	/** Never answered, but the request was carried out. */
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
	/** The first matching request to be affected, counted from 1 (default). */
	readonly nth?: number;
	/** How many matching requests are affected from there on; default 1. */
	readonly times?: number;
	/** HTTP status of an error answer in the envelope of the API's family. */
	readonly status?: number;
	readonly message?: string;
	/** The value of `errors[].reason` or `details[].reason`. */
	readonly reason?: string;
	/** Sent unchanged instead of an envelope; may also be text or bytes. */
	readonly body?: unknown;
	/** Headers that override those of the answer. */
	readonly headers?: Readonly<Record<string, string>>;
	/** Seconds, or an HTTP date. */
	readonly retryAfter?: number | string;
	/** If true, the request is carried out although `status` says otherwise: the ambiguous case. */
	readonly carriedOut?: boolean;
	readonly delayMilliseconds?: number;
	readonly connection?: ConnectionFault;
	/** For `slowDrip`: the wait between two pieces of 16 bytes; default 100. */
	readonly dripMilliseconds?: number;
}

interface Waiting {
	readonly fault: Fault;
	seen: number;
	hits: number;
}

/** Faults that have not occurred yet. */
export class Faults {
	private waiting: Waiting[] = [];

	add(fault: Fault): void {
		this.waiting.push({ fault, seen: 0, hits: 0 });
	}

	clear(): void {
		this.waiting = [];
	}

	/** The fault that affects this request, if any. Every matching fault counts the request. */
	take(request: LoggedRequest): Fault | undefined {
		const hitting = this.waiting.filter((entry) => {
			if (!matches(entry.fault, request)) return false;
			entry.seen++;
			return entry.seen >= (entry.fault.nth ?? 1);
		});
		const [first] = hitting;
		if (!first) return undefined;
		first.hits++;
		if (first.hits >= (first.fault.times ?? 1)) {
			this.waiting = this.waiting.filter((entry) => entry !== first);
		}
		return first.fault;
	}
}

function matches({ match }: Fault, request: LoggedRequest): boolean {
	if (match === undefined) return true;
	return typeof match === 'string' ? request.method === match : match(request);
}

/** The scripted answer of a fault; undefined if it only affects the connection or the timing. */
export function replyOf(
	{ status, message, reason, body, headers, retryAfter }: Fault,
	id: string,
): Reply | undefined {
	if (status === undefined && body === undefined) return undefined;
	const code = status ?? 200;
	const reply =
		body === undefined
			? errorReply(id, new ApiError(code, message ?? standardText(code), { reason }))
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

function standardText(code: number): string {
	if (code === 401) return 'Request had invalid authentication credentials.';
	if (code === 408) return 'The request timed out.';
	if (code === 409) return 'The operation was aborted.';
	if (code === 404) return 'Requested entity was not found.';
	if (code === 403) return 'The caller does not have permission';
	if (code === 429) return 'Quota exceeded for quota metric and limit per minute per user.';
	return code >= 500 ? 'The service is currently unavailable.' : 'Request contains an invalid argument.';
}

/** Sends a few bytes at a time. */
export async function drip(response: ServerResponse, bytes: Buffer, milliseconds: number): Promise<void> {
	for (let at = 0; at < bytes.length && !response.destroyed; at += 16) {
		response.write(bytes.subarray(at, at + 16));
		await sleep(milliseconds);
	}
	response.end();
}

/** Sends half of the bytes and resets the connection. */
export async function cut(response: ServerResponse, bytes: Buffer): Promise<void> {
	await new Promise<void>((resolve) => {
		response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => {
			resolve();
		});
	});
	response.socket?.resetAndDestroy();
}
