import type { ResumableUploadRequest } from './upload';

/** Where Drive takes a file; the transport puts the credential's base in place of Google's. */
export function uploadAddress(
	uploadType: 'multipart' | 'resumable',
	{ fields, replaces }: Pick<ResumableUploadRequest, 'fields' | 'replaces'>,
): { readonly url: string; readonly method: 'POST' | 'PATCH' } {
	const query = new URLSearchParams({ uploadType, supportsAllDrives: 'true', fields });
	const file = replaces === undefined ? '' : `/${replaces}`;
	const url = `https://www.googleapis.com/upload/drive/v3/files${file}?${query.toString()}`;
	return { url, method: replaces === undefined ? 'POST' : 'PATCH' };
}
