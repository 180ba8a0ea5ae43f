import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { NodeError } from '../../core/errors';

type ListRequest = drive_v3.Params$Resource$Files$List & { readonly q: string };

interface Search extends Pick<ListRequest, 'q' | 'orderBy' | 'fields'> {
	/** Whether a search of only some drives may find nothing, without an error. */
	readonly mayMissFiles?: boolean;
}

/**
 * Finds the files of the first page that has any. Google may return empty pages before it.
 * @param search its `fields` are those of each file
 * @throws NodeError 503 if there are none, and Google did not search all drives
 */
export async function findFirstFiles(
	drive: drive_v3.Drive,
	{ mayMissFiles, q, orderBy, fields: fileFields }: Search,
): Promise<drive_v3.Schema$File[]> {
	const fields = `nextPageToken,incompleteSearch,files(${fileFields})`;
	let isIncomplete = false;
	let pageToken: string | undefined;
	do {
		const page = await listFiles(drive, { q, orderBy, pageToken, fields });
		if (page.files?.length) return page.files;
		isIncomplete ||= page.incompleteSearch === true;
		pageToken = page.nextPageToken ?? undefined;
	} while (pageToken);
	if (!isIncomplete || mayMissFiles) return [];
	throw new NodeError({
		code: 503,
		message: 'Google Drive did not search all drives',
		description: 'So it is not known whether the file already exists. Run this again later.',
	});
}

/**
 * Lists a page of files in My Drive and all shared drives of the account, but not in the trash.
 * @param request its `q` is a query in Drive's search language
 */
export async function listFiles(drive: drive_v3.Drive, request: ListRequest) {
	const { data } = await drive.files.list({
		...request,
		q: `${request.q} and trashed = false`,
		corpora: 'allDrives',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	return data;
}

export const quoteSearchText = (text: string) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
