import { randomUUID } from 'node:crypto';
import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import type { Source } from '../source';
import { sourceChanged } from './chunks';
import { Md5 } from './md5';
import type { ResumableUploadRequest, UploadedFile } from './upload';
import type { Transport } from './transport';
import { uploadAddress } from './uploadAddress';

/**
 * Uploads metadata and bytes in one request. The body is one Buffer, because n8n repeats it after refreshing
 * a token; it could not repeat the stream that googleapis would create. Repeating is harmless, because either
 * the metadata has an `id` or an existing file is replaced.
 */
export async function uploadInOneRequest(
	transport: Transport,
	request: ResumableUploadRequest,
): Promise<UploadedFile> {
	const { metadata, mimeType, source, signal, onProgress } = request;
	const bytes = await bytesOf(source);
	const boundary = randomUUID();
	const { data } = await transport({
		...uploadAddress('multipart', request),
		headers: { 'content-type': `multipart/related; boundary=${boundary}` },
		data: multipartBody(boundary, metadata, mimeType, bytes),
		retryConfig: { httpMethodsToRetry: ['POST', 'PATCH'] },
		signal,
	});
	onProgress?.(bytes.length, bytes.length);
	const hash = new Md5();
	hash.update(bytes);
	return { file: data as drive_v3.Schema$File, md5: hash.digest() };
}

function multipartBody(
	boundary: string,
	metadata: drive_v3.Schema$File,
	mimeType: string,
	bytes: Buffer,
): Buffer {
	const head = [
		`--${boundary}`,
		'Content-Type: application/json; charset=UTF-8',
		'',
		JSON.stringify(metadata),
		`--${boundary}`,
		`Content-Type: ${mimeType}`,
		'',
		'',
	].join('\r\n');
	return Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

async function bytesOf(source: Source): Promise<Buffer> {
	const pieces: Buffer[] = [];
	let size = 0;
	for await (const piece of await source.open()) {
		pieces.push(piece as Buffer);
		size += (piece as Buffer).length;
		if (size > source.size) break;
	}
	if (size !== source.size) throw sourceChanged(size, source.size);
	return Buffer.concat(pieces, size);
}
