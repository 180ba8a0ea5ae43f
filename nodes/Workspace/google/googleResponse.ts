import { Readable } from 'node:stream';

import { NodeError } from '../../core/errors';

import { apiNames, type FailedCall } from './advice';
import type { FullResponse } from '../../http/request';
import { BodyError, readBody, readErrorBody } from '../../http/body';
import { MemoryBudget } from '../../http/memoryBudget';
import { errorOfAnswer } from './errors';
import { RequestError } from '../../http/retry';

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
 * @throws RequestError, BodyError
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
		throw errorOfAnswer({ status, headers, body: await readErrorBody(body, signal) }, call);
	}
	if (expected.responseType === 'stream') {
		return { status, headers, data: body instanceof Readable ? body : Readable.from([body]) };
	}
	const announcedBytes = Number(headers['content-length'] ?? 0);
	const memory = new MemoryBudget();
	try {
		const bytes = await readBody(body, { signal, announcedBytes, memory });
		return { status, headers, data: await dataOf(bytes, expected, call, memory) };
	} finally {
		memory.release();
	}
}

async function dataOf(
	bytes: Buffer,
	{ responseType }: Expected,
	{ api }: FailedCall,
	memory: MemoryBudget,
): Promise<unknown> {
	if (responseType === 'arraybuffer') return bytes;
	if (responseType === 'text') return bytes.toString('utf8');
	if (bytes.length === 0) return '';
	await memory.holdParsed(bytes);
	const text = bytes.toString('utf8');
	try {
		return JSON.parse(text) as unknown;
	} catch {
		throw unreadable(text, api);
	}
}

function unreadable(text: string, api: FailedCall['api']): RequestError | BodyError {
	// n8n's client takes packed data that ends in the middle for complete.
	if (endsTooEarly(text)) return new BodyError('cutShort');
	const message = `${apiNames[api]} returned a response that is not JSON`;
	const description = 'Check the API bases in the credential and any proxy in between.';
	return new RequestError('unknown', new NodeError({ code: 502, message, description }));
}

/** Whether a text is the beginning of a JSON object or array. */
function endsTooEarly(text: string): boolean {
	if (!/^\s*[[{]/.test(text)) return false;
	let open = 0;
	let isInString = false;
	for (let at = 0; at < text.length; at++) {
		const character = text[at] ?? '';
		if (isInString && character === '\\') at++;
		else if (character === '"') isInString = !isInString;
		else if (!isInString && '{['.includes(character)) open++;
		else if (!isInString && '}]'.includes(character)) open--;
	}
	return isInString || open > 0;
}

function plainHeaders(headers: FullResponse['headers']): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).flatMap(([name, value]) =>
			typeof value === 'string' || typeof value === 'number' ? [[name.toLowerCase(), String(value)]] : [],
		),
	);
}
