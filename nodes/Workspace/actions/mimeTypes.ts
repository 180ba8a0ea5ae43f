import { extension, lookup } from 'mime-types';

/** Finds the MIME type for a file name's extension. The library's table is large, so this module is loaded on first use only. */
export const findMimeType = (name: string) => lookup(name) || undefined;

/** Builds a file name with the extension of the MIME type, on which the recipients' programs rely. */
export function buildFileName(stem: string, mimeType = ''): string {
	const ending = extension(mimeType);
	return ending === false ? stem : `${stem}.${ending}`;
}
