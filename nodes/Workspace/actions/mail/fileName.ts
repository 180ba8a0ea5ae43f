import { extension } from 'mime-types';

/** A name for a file that has none: recipients' programs go by the ending. */
export function fileNameFor(stem: string, mimeType: string | undefined): string {
	const ending = mimeType === undefined ? false : extension(mimeType);
	return ending === false ? stem : `${stem}.${ending}`;
}
