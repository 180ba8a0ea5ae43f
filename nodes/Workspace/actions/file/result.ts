import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { Failure } from '../../../core/failure';
import type { UploadedFile } from '../../google/upload';
import type { Item } from '../../operation';

const keys = [
	'id',
	'name',
	'mimeType',
	'size',
	'webViewLink',
	'webContentLink',
	'md5Checksum',
	'parents',
	'createdTime',
] as const satisfies ReadonlyArray<keyof drive_v3.Schema$File>;

/** The fields requested from Drive. */
export const resultFields = keys.join(',');

/** The file as Drive gives it, without the keys that it does not give. */
export type FileResult = Pick<drive_v3.Schema$File, (typeof keys)[number]>;

/**
 * The result, once Drive's checksum is the one of the bytes that were sent. Converted files have none.
 * @throws Failure that names the file
 */
export function verified({ file, md5 }: UploadedFile, item: Item): FileResult {
	const { id, md5Checksum, webViewLink } = file;
	if (id) item.made({ kind: 'file', id, url: webViewLink ?? undefined });
	if (md5Checksum && md5Checksum.toLowerCase() !== md5) {
		throw new Failure({
			code: 500,
			message: `The file ${id ?? ''} in Google Drive differs from the bytes that were sent: its checksum is ${md5Checksum}, not ${md5}`,
			description: 'Delete the file in Google Drive and upload it again.',
		});
	}
	return resultOf(file);
}

export function resultOf(file: drive_v3.Schema$File): FileResult {
	const given = keys.flatMap((key) => (file[key] == null ? [] : [[key, file[key]] as const]));
	return Object.fromEntries(given);
}
