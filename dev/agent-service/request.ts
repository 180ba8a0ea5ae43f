import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/** An execute request as it arrived. */
export interface ReceivedRequest {
	readonly method: string;
	/** With the query. */
	readonly url: string;
	readonly headers: IncomingHttpHeaders;
	/** The parsed JSON; undefined if the body is not JSON. */
	readonly body: unknown;
	/** Milliseconds since 1970. */
	readonly receivedAt: number;
	/** What is wrong with the request, as far as the service is known. Empty if nothing is. */
	readonly faults: readonly string[];
}

/** The seven fields of the execute call. */
export interface ExecuteFields {
	readonly sessionId: string;
	readonly userId: string;
	readonly userPublicKey: string;
	readonly initialPayload: string;
	readonly startStepName: string;
	readonly signature: string;
	readonly timestamp: number;
}

const textFields = [
	'sessionId',
	'userId',
	'userPublicKey',
	'initialPayload',
	'startStepName',
	'signature',
];
/** A time in 1973, in milliseconds. A current time in seconds is a smaller number, so it is refused. */
const minTimestamp = 1e11;

export async function receiveRequest(request: IncomingMessage): Promise<ReceivedRequest> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	const body = parseJson(Buffer.concat(chunks).toString());
	const { method = '', url = '', headers } = request;
	const faults = findFaults(headers, body);
	return { method, url, headers, body, receivedAt: Date.now(), faults };
}

export function isExecuteFields(
	request: ReceivedRequest,
): request is ReceivedRequest & { body: ExecuteFields } {
	return request.faults.length === 0;
}

function findFaults(headers: IncomingHttpHeaders, body: unknown): string[] {
	const faults: string[] = [];
	if (!/^application\/json\b/.test(headers['content-type'] ?? ''))
		faults.push('Content-Type is not application/json');
	if (!isObject(body)) return [...faults, 'the body is not a JSON object'];
	for (const key of textFields)
		if (typeof body[key] !== 'string') faults.push(`${key} is not a string`);
	const { timestamp, initialPayload } = body;
	if (!Number.isInteger(timestamp) || Number(timestamp) < minTimestamp) {
		faults.push('timestamp is not an integer of milliseconds');
	}
	if (typeof initialPayload === 'string' && !isObject(parseJson(initialPayload))) {
		faults.push('initialPayload is not the JSON of an object');
	}
	const unknownKeys = Object.keys(body).filter(
		(key) => key !== 'timestamp' && !textFields.includes(key),
	);
	return unknownKeys.length === 0 ? faults : [...faults, `unknown: ${unknownKeys.join(', ')}`];
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
	const text = JSON.stringify(body);
	response.writeHead(status, {
		'Content-Type': 'application/json',
		'Content-Length': Buffer.byteLength(text),
	});
	response.end(text);
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// A text that is not JSON is reported as a fault of the request.
		return undefined;
	}
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
