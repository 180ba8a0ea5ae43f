import { extension, lookup } from 'mime-types';

/** The MIME type for the extension of a file name. The table behind it is large, so this file is loaded on first use only. */
export const findMimeType = (name: string) => lookup(name) || undefined;

/** A name for a file without one. Recipients' programs rely on the extension. */
export function buildFileName(stem: string, mimeType = ''): string {
	const ending = extension(mimeType);
	return ending === false ? stem : `${stem}.${ending}`;
}
