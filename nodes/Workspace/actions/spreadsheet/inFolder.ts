import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import type { Item } from '../../operation';

const spreadsheetType = 'application/vnd.google-apps.spreadsheet';

/** Visible to no other app. */
const tokenKey = 'creationToken';

/**
 * An empty spreadsheet; Sheets cannot create in a folder, Drive can. A private property tells it from all others.
 * @returns its id
 */
export async function makeInFolder(
	drive: drive_v3.Drive,
	title: string,
	folder: string,
	item: Item,
): Promise<string> {
	const { data } = await drive.files.create({
		requestBody: {
			name: title,
			mimeType: spreadsheetType,
			parents: [folder],
			appProperties: { [tokenKey]: item.token },
		},
		supportsAllDrives: true,
		fields: 'id',
	});
	return data.id ?? '';
}

/** What `makeInFolder` made for the item although no answer came. */
export async function findMade(drive: drive_v3.Drive, item: Item): Promise<string | undefined> {
	const { data } = await drive.files.list({
		q: `appProperties has { key='${tokenKey}' and value='${item.token}' } and trashed = false`,
		fields: 'files(id)',
		corpora: 'allDrives',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	return data.files?.[0]?.id ?? undefined;
}
