import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import type { Source } from '../../source';

export interface ResumableUploadRequest {
	/** With an `id`, repeating is harmless: Drive answers 409 once the file exists. */
	readonly metadata: drive_v3.Schema$File;
	/** Media type of the bytes. The metadata's `mimeType` is that of the target. */
	readonly mimeType: string;
	readonly source: Source;
	/**
	 * ID of the file whose content is replaced; it keeps its ID, links and sharing. Repeating this changes
	 * nothing.
	 */
	readonly replaces?: string;
	/** Fields of the answer, in the syntax of Drive's `fields`. */
	readonly fields: string;
	readonly signal: AbortSignal | undefined;
	/** Called after each chunk with the number of bytes that Drive has. */
	readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
	/**
	 * Called before the upload restarts without an `id` that prevents a second file. Returns the file if it
	 * exists after all.
	 */
	readonly findExisting?: () => Promise<drive_v3.Schema$File | undefined>;
}

export interface UploadedFile {
	readonly file: drive_v3.Schema$File;
	/** MD5 of the sent bytes, lower-case hex. */
	readonly md5: string;
}

export type ResumableUpload = (request: ResumableUploadRequest) => Promise<UploadedFile>;

/** Drive's upload address. The transport replaces Google's base with the credential's. */
export function uploadAddress(
	uploadType: 'multipart' | 'resumable',
	{ fields, replaces }: Pick<ResumableUploadRequest, 'fields' | 'replaces'>,
): { readonly url: string; readonly method: 'POST' | 'PATCH' } {
	const query = new URLSearchParams({ uploadType, supportsAllDrives: 'true', fields });
	const file = replaces === undefined ? '' : `/${replaces}`;
	const url = `https://www.googleapis.com/upload/drive/v3/files${file}?${query.toString()}`;
	return { url, method: replaces === undefined ? 'POST' : 'PATCH' };
}
