import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import type { Source } from '../source';

export interface ResumableUploadRequest {
	/** With an `id` a repetition is harmless: Drive answers 409 once the file exists. */
	readonly metadata: drive_v3.Schema$File;
	/** Media type of the bytes (the metadata's `mimeType` is the target's). */
	readonly mimeType: string;
	readonly source: Source;
	/** Id of the file whose content is replaced; it keeps its id, links and sharing. Doing it twice changes nothing. */
	readonly replaces?: string;
	/** Fields of the answer, as in Drive's `fields`. */
	readonly fields: string;
	readonly signal: AbortSignal | undefined;
	/** Called after each chunk with the bytes that Drive has. */
	readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
	/** Asked before the upload restarts, where no `id` keeps a second file away: the file, if it exists after all. */
	readonly findExisting?: () => Promise<drive_v3.Schema$File | undefined>;
}

export interface UploadedFile {
	readonly file: drive_v3.Schema$File;
	/** MD5 of the bytes that were sent, lower-case hex. */
	readonly md5: string;
}

export type ResumableUpload = (request: ResumableUploadRequest) => Promise<UploadedFile>;
