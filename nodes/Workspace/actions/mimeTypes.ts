/**
 * MIME types and the file names that they have. Loaded on first use, because the library's table is
 * large.
 */
import { extension, lookup } from 'mime-types';

/** Finds the MIME type for a file name's extension. */
export const findMimeType = (name: string) => lookup(name) || undefined;

/**
 * Builds a file name with the extension of the MIME type, on which the recipients' programs rely.
 */
export function buildFileName(stem: string, mimeType = ''): string {
	const ending = extension(mimeType);
	return ending === false ? stem : `${stem}.${ending}`;
}
