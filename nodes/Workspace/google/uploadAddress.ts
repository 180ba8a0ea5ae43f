import type { ResumableUploadRequest } from './upload';

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
