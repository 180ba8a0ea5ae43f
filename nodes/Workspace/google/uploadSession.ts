import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { NodeError, isNodeError } from '../../core/errors';
import { type RetryPolicy, withRetries } from '../../http/retry';
import { checkBasesAdvice } from './advice';
import type { Transport } from './transport';

/**
 * The failure when Drive no longer knows a session.
 * @param sentLast the last bytes were sent and no answer came back, so the file may exist
 */
export function createSessionLostError(sentLast: boolean, cause?: unknown): NodeError {
	return new NodeError({
		code: 503,
		message: 'Google Drive ended the upload before it was complete',
		description: sentLast
			? 'The file may still exist. Look for it in Google Drive before you upload it again.'
			: 'Try again later.',
		outcome: sentLast ? 'unknown' : 'notDone',
		cause,
	});
}

/** One resumable upload to an address of Drive's. If Drive reports different progress than expected, Drive is right. */
export class UploadSession {
	/** Number of bytes that Drive has. */
	storedBytes = 0;
	isLost = false;
	#file: drive_v3.Schema$File | undefined;
	/** True if the previous request got no answer, so that Drive must be asked what it has. */
	#mustAskProgress = false;
	/** True if the last byte was sent at least once. */
	#hasSentLastByte = false;
	readonly #transport: Transport;
	readonly #address: string;
	readonly #totalBytes: number;
	readonly #policy: RetryPolicy;

	constructor(transport: Transport, address: string, totalBytes: number, policy: RetryPolicy) {
		this.#transport = transport;
		this.#address = address;
		this.#totalBytes = totalBytes;
		this.#policy = policy;
	}

	/**
	 * Sends the part of a chunk that Drive does not have.
	 * @param from position of the chunk in the file
	 * @returns false if Drive wants bytes from before the chunk
	 * @throws NodeError
	 */
	async send(chunk: Buffer, from: number): Promise<boolean> {
		const end = from + chunk.length;
		while (this.storedBytes >= from && this.storedBytes < end) {
			// The last part may create the file, so without an answer the outcome is unknown.
			const isRead = end !== this.#totalBytes && !this.#hasSentLastByte;
			await withRetries(() => this.#sendRest(chunk, from), { isHarmless: true, isRead }, this.#policy);
			if (this.storedBytes > end) {
				const message = `Google Drive reported ${this.storedBytes} stored bytes, but ${end} were sent`;
				throw createProgressError(message, checkBasesAdvice);
			}
		}
		return this.storedBytes >= end;
	}

	/** The file, once all bytes were sent. An empty file is complete as soon as Drive is asked. */
	async finish(): Promise<drive_v3.Schema$File> {
		if (!this.#file)
			await withRetries(() => this.#put('*'), { isHarmless: true, isRead: false }, this.#policy);
		if (this.#file) return this.#file;
		throw createProgressError(
			`Google Drive stored ${this.storedBytes} of ${this.#totalBytes} bytes but did not complete the file`,
			'Try again later.',
		);
	}

	async #sendRest(chunk: Buffer, from: number): Promise<void> {
		const known = this.storedBytes;
		if (this.#mustAskProgress) await this.#put('*');
		// Something arrived, so the count of tries restarts.
		if (this.storedBytes > known) return;
		const start = this.storedBytes;
		const end = from + chunk.length;
		if (start < from) return;
		this.#hasSentLastByte ||= end === this.#totalBytes;
		await this.#put(`${start}-${end - 1}`, chunk.subarray(start - from));
		if (this.storedBytes >= from && this.storedBytes <= start) {
			const message = 'Google Drive did not store any of the bytes that were sent';
			throw new NodeError({ code: 503, message, description: 'Try again later.', retryable: true });
		}
	}

	/** @param range of the bytes; * asks what Drive has @throws NodeError */
	async #put(range: string, bytes?: Buffer): Promise<void> {
		this.#mustAskProgress = true;
		const { status, headers, data } = await this.#transport({
			url: this.#address,
			method: 'PUT',
			headers: { 'content-range': `bytes ${range}/${this.#totalBytes}` },
			data: bytes,
			validateStatus: (code) => code === 308 || (code >= 200 && code < 300),
			// After a failure, Drive must be asked what arrived: the session itself tries again.
			retryConfig: { retry: 0 },
		}).catch((error: unknown) => {
			this.isLost = isNodeError(error) && (error.code === 404 || error.code === 410);
			throw this.isLost ? createSessionLostError(this.#hasSentLastByte, error) : error;
		});
		this.#mustAskProgress = false;
		if (status !== 308) this.#file = data as drive_v3.Schema$File;
		// `bytes=0-41` means 42 bytes. No range means that Drive has nothing.
		const last = /^bytes=0-(\d+)$/.exec(String(headers['range']))?.[1] ?? -1;
		this.storedBytes = this.#file ? this.#totalBytes : Number(last) + 1;
	}
}

function createProgressError(message: string, description: string): NodeError {
	return new NodeError({ code: 502, message, description, outcome: 'unknown' });
}
