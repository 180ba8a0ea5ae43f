import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import type { Source } from '../operation';

export interface ResumableUploadRequest {
	readonly metadata: drive_v3.Schema$File;
	/** Media type of the bytes (the metadata's `mimeType` is the target's). */
	readonly mimeType: string;
	readonly source: Source;
	/** Fields of the answer, as in Drive's `fields`. */
	readonly fields: string;
	readonly signal: AbortSignal | undefined;
	/** Called after each chunk with the bytes that Drive has. */
	onProgress?(sentBytes: number, totalBytes: number): void;
}

export interface UploadedFile {
	readonly file: drive_v3.Schema$File;
	/** MD5 of the bytes that were sent, lower-case hex. */
	readonly md5: string;
}

export type ResumableUpload = (request: ResumableUploadRequest) => Promise<UploadedFile>;
