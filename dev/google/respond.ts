import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import { cut, drip, type Fault } from './faults.ts';
import type { Reply } from './service.ts';

/** In bytes. Like Google, the stand-in does not compress smaller answers. */
const minCompressedBytes = 1024;

/** Sends a reply, with the fault if there is one. */
export async function respond(
	request: IncomingMessage,
	response: ServerResponse,
	{ status = 200, headers, body }: Reply,
	{ connection, dripMilliseconds = 100 }: Fault = {},
): Promise<void> {
	const allBytes = toBytes(body);
	const plain =
		connection === 'halfBody' ? allBytes.subarray(0, Math.ceil(allBytes.length / 2)) : allBytes;
	const isCompressed =
		/\bgzip\b/.test(String(request.headers['accept-encoding'])) &&
		plain.length >= minCompressedBytes &&
		!Buffer.isBuffer(body);
	const bytes = isCompressed ? gzipSync(plain, { level: 1 }) : plain;
	response.writeHead(status, {
		...(body !== undefined && { 'Content-Type': getContentType(body) }),
		...(isCompressed && { 'Content-Encoding': 'gzip' }),
		'Content-Length': bytes.length,
		...headers,
	});
	if (connection === 'slowDrip') await drip(response, bytes, dripMilliseconds);
	else if (connection === 'cutBody') await cut(response, bytes);
	else response.end(bytes);
}

function toBytes(body: unknown): Buffer {
	if (Buffer.isBuffer(body)) return body;
	if (body === undefined) return Buffer.alloc(0);
	return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function getContentType(body: unknown): string {
	if (Buffer.isBuffer(body)) return 'application/octet-stream';
	const type = typeof body === 'string' ? 'text/html' : 'application/json';
	return `${type}; charset=UTF-8`;
}
