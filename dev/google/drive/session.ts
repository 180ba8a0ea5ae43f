import type { IncomingMessage } from 'node:http';

import { ApiError, type Reply } from '../service.ts';
import { ContentSink, type Content } from './content.ts';

/** In bytes. Drive stores only multiples of this, except at the end of a file. */
const granularity = 262_144;

/** Faults of a session. Each is removed after it occurred. */
export interface SessionFaults {
	/** Keeps only this many bytes of the next chunk, rounded down to a multiple of 256 KiB. */
	keepOnly?: number;
	/** Offsets in the file at which the connection is reset, ascending. */
	resetAt: number[];
	/** The next request finds no session and gets 404 or 410. */
	lost?: 404 | 410;
	/** The next chunk is stored, and then the connection is reset instead of answered. */
	resetAfterNext?: boolean;
}

export interface SessionStart {
	readonly id: string;
	/** From `X-Upload-Content-Length`; undefined if the client does not know it. */
	readonly total: number | undefined;
	readonly keepContent: boolean;
	readonly faults: SessionFaults;
	/** Creates the file. Its answer ends the session. */
	finish(content: Content): Reply;
}

interface ContentRange {
	readonly first: number;
	/** Undefined for a status query. */
	readonly last: number | undefined;
	readonly total: number | undefined;
}

/** One resumable upload. */
export class UploadSession {
	/** How many bytes all received bodies had, including bytes that were not stored. */
	receivedBytes = 0;
	/** The `Content-Range` of each received body. */
	readonly ranges: string[] = [];
	readonly id: string;
	private readonly start: SessionStart;
	private readonly sink: ContentSink;
	private done: Reply | undefined;
	/** The number of the latest request. Bytes that an earlier, abandoned request still sends are not stored. */
	private latest = 0;

	constructor(start: SessionStart) {
		this.id = start.id;
		this.start = start;
		this.sink = new ContentSink(start.keepContent);
	}

	/** @returns undefined if the connection was cut, because nobody waits for an answer */
	async put(request: IncomingMessage): Promise<Reply | undefined> {
		const range = this.parseRange(request);
		this.latest++;
		if (this.done !== undefined) return this.done;
		if (range.last === undefined) return this.reportStatus(range.total);
		if (range.first > this.sink.size) throw createOffsetError(range.first, this.sink.size);
		if (!(await this.take(request, range))) return undefined;
		if (this.start.faults.resetAfterNext) {
			this.start.faults.resetAfterNext = false;
			this.reportStatus(range.total);
			request.socket.resetAndDestroy();
			return undefined;
		}
		return this.reportStatus(range.total);
	}

	private reportStatus(total: number | undefined): Reply {
		if (total !== undefined && this.sink.size === total) {
			this.done = this.start.finish(this.sink.finish());
			return this.done;
		}
		const headers: Record<string, string> = { 'X-GUploader-UploadID': this.id };
		if (this.sink.size > 0) headers['Range'] = `bytes=0-${this.sink.size - 1}`;
		return { status: 308, headers };
	}

	private parseRange(request: IncomingMessage): ContentRange {
		const text = request.headers['content-range'];
		const length = Number(request.headers['content-length'] ?? 0);
		const { total: announced } = this.start;
		if (text === undefined) return { first: 0, last: length - 1, total: announced ?? length };
		this.ranges.push(text);
		const [, first, last, total] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(text) ?? [];
		if (total === undefined)
			throw createBadRequestError(`Failed to parse Content-Range header.`);
		const range = {
			first: Number(first ?? 0),
			last: last === undefined ? undefined : Number(last),
			total: total === '*' ? undefined : Number(total),
		};
		const body = range.last === undefined ? 0 : range.last - range.first + 1;
		if (request.headers['content-length'] !== undefined && body !== length) {
			throw createBadRequestError('Content-Range does not agree with Content-Length.');
		}
		if (announced !== undefined && range.total !== undefined && range.total !== announced) {
			throw createBadRequestError('The total differs from X-Upload-Content-Length.');
		}
		return range;
	}

	/**
	 * Stores as much of a chunk as arrives. A remainder of less than 256 KiB is kept only at the end of the
	 * file.
	 */
	private async take(
		request: IncomingMessage,
		{ first, last, total }: ContentRange,
	): Promise<boolean> {
		const { faults } = this.start;
		const storedBytes = this.sink.size;
		const until = Math.min((last ?? 0) + 1, storedBytes + (faults.keepOnly ?? Infinity));
		faults.keepOnly = undefined;
		const pending: Buffer[] = [];
		let offset = first;
		const own = this.latest;
		for await (const chunk of readRequest(request)) {
			this.receivedBytes += chunk.length;
			if (own !== this.latest) return false;
			const newBytes = chunk.subarray(
				Math.max(0, storedBytes - offset),
				Math.max(0, until - offset),
			);
			offset += chunk.length;
			if (newBytes.length > 0) pending.push(newBytes);
			this.keepWhole(pending);
			if (offset >= (faults.resetAt[0] ?? Infinity)) {
				faults.resetAt.shift();
				request.socket.resetAndDestroy();
				return false;
			}
		}
		if (own !== this.latest || (request.destroyed && !request.complete)) return false;
		if (until === total) for (const chunk of pending.splice(0)) this.sink.take(chunk);
		return true;
	}

	private keepWhole(pending: Buffer[]): void {
		const size = pending.reduce((sum, chunk) => sum + chunk.length, 0);
		let usable = size - (size % granularity);
		while (usable > 0) {
			const chunk = pending.shift() ?? Buffer.alloc(0);
			this.sink.take(chunk.subarray(0, usable));
			if (chunk.length > usable) pending.unshift(chunk.subarray(usable));
			usable -= Math.min(usable, chunk.length);
		}
	}
}

/** Yields the body as it arrives. If the client cuts the connection, the body ends without an error. */
async function* readRequest(request: IncomingMessage): AsyncGenerator<Buffer> {
	try {
		for await (const chunk of request) yield chunk as Buffer;
	} catch (error) {
		if (!request.errored) throw error;
	}
}

function createBadRequestError(message: string): ApiError {
	return new ApiError(400, `Invalid request. ${message}`, { reason: 'badRequest' });
}

function createOffsetError(offset: number, size: number): ApiError {
	const message = `Invalid request. According to the Content-Range header, the upload offset is ${offset} byte(s), which exceeds already uploaded size of ${size} byte(s).`;
	return new ApiError(503, message, { reason: 'backendError' });
}
