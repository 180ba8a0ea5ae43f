import { extension } from 'mime-types';

/** A name for a file without one. Recipients' programs rely on the extension. */
export function fileNameFor(stem: string, mimeType: string | undefined): string {
	const ending = mimeType === undefined ? false : extension(mimeType);
	return ending === false ? stem : `${stem}.${ending}`;
}
