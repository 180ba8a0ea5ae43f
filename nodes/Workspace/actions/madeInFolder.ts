import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { named } from '../../fields/naming';
import type { Item } from '../operation';

/** Advice if Google does not find the parent folder. */
export const missingFolder = `Check that ${named('parentFolder')} exists and that this account can access it.`;

/** A property that other apps cannot see. */
const tokenKey = 'creationToken';

export interface EmptyFile {
	/** One of Google's own types, such as `application/vnd.google-apps.document`. */
	readonly mimeType: string;
	readonly title: string;
	/** Folder ID; '' for the top level of My Drive. */
	readonly folder: string;
	/** Further private properties. */
	readonly appProperties?: Readonly<Record<string, string>>;
}

/**
 * Creates an empty document or spreadsheet in a folder, which the Docs and Sheets APIs cannot do. A private
 * property distinguishes it from all other files.
 * @returns its ID
 */
export async function makeInFolder(
	drive: drive_v3.Drive,
	{ mimeType, title, folder, appProperties: more }: EmptyFile,
	item: Item,
): Promise<string> {
	const appProperties = { [tokenKey]: item.token, ...more };
	const parents = folder === '' ? undefined : [folder];
	const { data } = await drive.files.create({
		requestBody: { name: title, mimeType, parents, appProperties },
		supportsAllDrives: true,
		fields: 'id',
	});
	return data.id ?? '';
}

/** The ID of the file that `makeInFolder` created for the item although no answer arrived. */
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
