import { Readable } from 'node:stream';

import { Failure } from '../../items/failure';

import { apiNames } from './advice';
import type { FullResponse } from '../../http/attempt';
import { readBody, readErrorBody } from '../../http/body';
import { Room } from '../../http/room';
import { faultOfAnswer } from './errors';
import type { FailedCall } from './failedCall';
import { Fault } from '../../http/fault';

export interface ClientAnswer {
	readonly status: number;
	/** Names in lower case. */
	readonly headers: Readonly<Record<string, string>>;
	/**
	 * Parsed JSON; a Buffer or Readable if the call asked for `arraybuffer` or `stream`; '' for an empty
	 * body.
	 */
	readonly data: unknown;
}

/** The form in which a call wants its answer. */
export interface Expected {
	readonly responseType?: string;
	/** Statuses that count as success: 2xx and 304 by default. */
	validateStatus?(status: number): boolean;
}

/**
 * The answer in the form that the generated client expects. The client treats every returned answer as a
 * success, so a status that it did not ask for is thrown here.
 * @throws Fault, BodyError
 */
export async function answerOf(
	response: FullResponse,
	expected: Expected,
	call: FailedCall,
	signal: AbortSignal,
): Promise<ClientAnswer> {
	const { statusCode: status, body } = response;
	const headers = plainHeaders(response.headers);
	const succeeded = expected.validateStatus?.(status) ?? (status >= 200 && status < 300);
	if (!succeeded) {
		throw faultOfAnswer({ status, headers, body: await readErrorBody(body, signal) }, call);
	}
	if (expected.responseType === 'stream') {
		return { status, headers, data: body instanceof Readable ? body : Readable.from([body]) };
	}
	const announcedBytes = Number(headers['content-length'] ?? 0);
	const room = new Room();
	try {
		const bytes = await readBody(body, { signal, announcedBytes, room });
		return { status, headers, data: await dataOf(bytes, expected, call, room) };
	} finally {
		room.release();
	}
}

async function dataOf(
	bytes: Buffer,
	{ responseType }: Expected,
	{ api }: FailedCall,
	room: Room,
): Promise<unknown> {
	if (responseType === 'arraybuffer') return bytes;
	if (responseType === 'text') return bytes.toString('utf8');
	if (bytes.length === 0) return '';
	await room.holdParsed(bytes);
	try {
		return JSON.parse(bytes.toString('utf8')) as unknown;
	} catch {
		const message = `${apiNames[api]} returned a response that is not JSON`;
		const description = 'Check the API bases in the credential and any proxy in between.';
		throw notJson(message, description);
	}
}

function notJson(message: string, description: string): Fault {
	return new Fault('unknown', new Failure({ code: 502, message, description }));
}

function plainHeaders(headers: FullResponse['headers']): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).flatMap(([name, value]) =>
			typeof value === 'string' || typeof value === 'number' ? [[name.toLowerCase(), String(value)]] : [],
		),
	);
}
