import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

/** Finds up to 100 files, as `listFiles` does. @param fields of each file */
export async function findFiles(
	drive: drive_v3.Drive,
	q: string,
	fields: string,
	orderBy?: string,
) {
	const { files = [] } = await listFiles(drive, { q, orderBy, fields: `files(${fields})` });
	return files;
}

/**
 * Lists a page of files in My Drive and all shared drives of the account, but not in the trash.
 * @param request its `q` is a query in Drive's search language
 */
export async function listFiles(
	drive: drive_v3.Drive,
	request: drive_v3.Params$Resource$Files$List,
) {
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
