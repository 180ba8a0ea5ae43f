import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { NodeError, isNodeError } from '../../core/errors';
import { type RetryPolicy, withRetries } from '../../http/retry';
import { checkBasesAdvice } from './advice';
import type { Transport } from './transport';

/** @param outcome `unknown` if the last byte was sent, so that the file may exist */
export function createIncompleteUploadError(
	outcome: 'notDone' | 'unknown',
	cause?: unknown,
): NodeError {
	return new NodeError({
		code: 503,
		message: 'Google Drive ended the upload before it was complete',
		description:
			outcome === 'unknown'
				? 'The file may still exist. Look for it in Google Drive before you upload it again.'
				: 'Try again later.',
		outcome,
		cause,
	});
}

/** In place of the range of sent bytes: nothing is sent, and Drive reports which bytes it has. */
const progressOnly = '*';

/**
 * The resumable upload of one file. Drive gives the upload an address, and reports after each part of the file how many bytes Drive has. If
 * this number is not the expected one, the upload continues from there.
 */
export class ResumableUpload {
	/** How many bytes Drive has, as far as it has reported. */
	storedBytes = 0;
	/** Whether Drive no longer knows the upload. */
	isLost = false;
	#file: drive_v3.Schema$File | undefined;
	/** Whether the last request got no response. Drive must then be asked which bytes it has. */
	#mustAskProgress = false;
	/** Whether the last byte of the file was sent at least once. */
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

	/** Sends what Drive lacks of the chunk at this position of the file. @returns false if Drive lacks bytes before it */
	async send(chunk: Buffer, position: number): Promise<boolean> {
		const end = position + chunk.length;
		while (this.storedBytes >= position && this.storedBytes < end) {
			// Drive creates the file when it has all bytes. Until the last byte is sent, the user sees no change, so no outcome is unknown.
			const mayCompleteFile = end === this.#totalBytes || this.#hasSentLastByte;
			const effect = { isRepeatable: true, mayChange: mayCompleteFile };
			await withRetries(() => this.#sendPart(chunk, position), effect, this.#policy);
			if (this.storedBytes > end) {
				const message = `Google Drive reported ${this.storedBytes} stored bytes, but ${end} were sent`;
				throw createProgressError(message, checkBasesAdvice);
			}
		}
		return this.storedBytes >= end;
	}

	/** Returns the file after all bytes were sent. Drive completes an empty file when it is asked for the progress. */
	async finish(): Promise<drive_v3.Schema$File> {
		const effect = { isRepeatable: true, mayChange: true };
		if (!this.#file) await withRetries(() => this.#put(progressOnly), effect, this.#policy);
		if (this.#file) return this.#file;
		throw createProgressError(
			`Google Drive stored ${this.storedBytes} of ${this.#totalBytes} bytes but did not complete the file`,
			'Try again later.',
		);
	}

	/** Makes one attempt to send what Drive lacks of the chunk. If the last response was lost, first asks what Drive has. */
	async #sendPart(chunk: Buffer, position: number): Promise<void> {
		const knownBytes = this.storedBytes;
		if (this.#mustAskProgress) await this.#put(progressOnly);
		// Some bytes had arrived. Returning ends this series of attempts, and `send` starts a full series for the other bytes.
		if (this.storedBytes > knownBytes) return;
		const start = this.storedBytes;
		const end = position + chunk.length;
		if (start < position) return;
		this.#hasSentLastByte ||= end === this.#totalBytes;
		await this.#put(`${start}-${end - 1}`, chunk.subarray(start - position));
		if (this.storedBytes >= position && this.storedBytes <= start) {
			const message = 'Google Drive did not store any of the bytes that were sent';
			throw new NodeError({
				code: 503,
				message,
				description: 'Try again later.',
				retryable: true,
			});
		}
	}

	/** Sends one request. @param range the range of the sent bytes, such as 0-41, or `progressOnly` @throws NodeError */
	async #put(range: string, bytes?: Buffer): Promise<void> {
		this.#mustAskProgress = true;
		const { status, headers, data } = await this.#transport({
			url: this.#address,
			method: 'PUT',
			headers: { 'content-range': `bytes ${range}/${this.#totalBytes}` },
			data: bytes,
			validateStatus: (statusCode) =>
				statusCode === 308 || (statusCode >= 200 && statusCode < 300),
			// The transport must not repeat this. After a failure, the upload first asks Drive which bytes have arrived.
			retryConfig: { retry: 0 },
		}).catch((error: unknown) => {
			this.isLost = isNodeError(error) && (error.code === 404 || error.code === 410);
			const outcome = this.#hasSentLastByte ? 'unknown' : 'notDone';
			throw this.isLost ? createIncompleteUploadError(outcome, error) : error;
		});
		this.#mustAskProgress = false;
		if (status !== 308) this.#file = data as drive_v3.Schema$File;
		// `bytes=0-41` means 42 bytes. Without a range, Drive has no bytes.
		const lastPosition = /^bytes=0-(\d+)$/.exec(String(headers['range']))?.[1] ?? -1;
		this.storedBytes = this.#file ? this.#totalBytes : Number(lastPosition) + 1;
	}
}

const createProgressError = (message: string, description: string) =>
	new NodeError({ code: 502, message, description, outcome: 'unknown' });
