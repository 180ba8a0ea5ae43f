import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import type { ExecuteStep } from './script.ts';

const chunkBytes = 64 * 1024;

/** Sends the body of a step, with the faults that the step asks for. */
export function sendAnswer(response: ServerResponse, step: ExecuteStep, answer: unknown): void {
	const { status = 200, retryAfter, fault } = step;
	const { bytes: plain, contentType } = encodeBody(step.body === undefined ? answer : step.body);
	const bytes = step.gzip ? gzipSync(plain) : plain;
	if (step.gzip) response.setHeader('Content-Encoding', 'gzip');
	if (step.untilClose) sendUntilClose(response);
	response.statusCode = status;
	response.setHeader('Content-Type', step.contentType ?? contentType);
	if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter));
	for (const [name, value] of Object.entries(step.headers ?? {})) {
		if (value !== undefined) response.setHeader(name, value);
	}
	if (step.bodyBytes !== undefined) writeSpaces(response, step.bodyBytes);
	else if (fault === 'cutBody' || fault === 'resetBody') writeHalf(response, bytes, fault);
	else if (step.dripMilliseconds !== undefined)
		writeSlowly(response, bytes, step.dripMilliseconds);
	else if (step.untilClose) response.end(bytes);
	else response.setHeader('Content-Length', bytes.length).end(bytes);
}

function sendUntilClose(response: ServerResponse): void {
	response.shouldKeepAlive = false;
	response.useChunkedEncodingByDefault = false;
}

function encodeBody(body: unknown): { bytes: Buffer; contentType: string } {
	if (Buffer.isBuffer(body)) return { bytes: body, contentType: 'application/octet-stream' };
	if (typeof body === 'string')
		return { bytes: Buffer.from(body), contentType: 'text/plain; charset=utf-8' };
	return { bytes: Buffer.from(JSON.stringify(body)), contentType: 'application/json' };
}

function writeSpaces(response: ServerResponse, byteCount: number): void {
	const chunk = Buffer.alloc(chunkBytes, ' ');
	let remainingBytes = byteCount;
	const writeMore = (): void => {
		while (remainingBytes > 0 && !response.destroyed) {
			const size = Math.min(remainingBytes, chunkBytes);
			remainingBytes -= size;
			if (!response.write(chunk.subarray(0, size))) {
				response.once('drain', writeMore);
				return;
			}
		}
		response.end();
	};
	writeMore();
}

function writeHalf(response: ServerResponse, bytes: Buffer, fault: 'cutBody' | 'resetBody'): void {
	if (response.useChunkedEncodingByDefault)
		response.setHeader('Content-Length', Math.max(2, bytes.length));
	const half = bytes.subarray(0, Math.max(1, Math.floor(bytes.length / 2)));
	response.write(half, () => {
		const end = (): void => {
			if (fault === 'cutBody') response.socket?.end();
			else response.socket?.resetAndDestroy();
		};
		// A client in this process has received the bytes by then, even if the process stood still meanwhile.
		afterTurns(20, end);
	});
}

/** Lets the event loop turn so often, about once a millisecond, and read what has arrived in each turn. */
function afterTurns(count: number, call: () => void): void {
	if (count === 0) {
		call();
		return;
	}
	setTimeout(() => {
		setImmediate(() => {
			afterTurns(count - 1, call);
		});
	}, 1);
}

function writeSlowly(response: ServerResponse, bytes: Buffer, milliseconds: number): void {
	response.setHeader('Content-Length', bytes.length);
	response.flushHeaders();
	let sentBytes = 0;
	const timer = setInterval(() => {
		if (sentBytes >= bytes.length) {
			clearInterval(timer);
			response.end();
			return;
		}
		response.write(bytes.subarray(sentBytes, ++sentBytes));
	}, milliseconds);
	response.on('close', () => {
		clearInterval(timer);
	});
}
