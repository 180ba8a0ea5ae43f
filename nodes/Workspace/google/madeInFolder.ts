import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { named } from '../../parameters/naming';
import type { Item } from '../operation';

/** What to look at when Google does not find what something is made in. */
export const missingFolder = `Check that ${named('parentFolder')} exists and that this account can access it.`;

/** Visible to no other app. */
const tokenKey = 'creationToken';

export interface EmptyFile {
	/** A type of Google's own, such as `application/vnd.google-apps.document`. */
	readonly mimeType: string;
	readonly title: string;
	/** Id; '' for the top of My Drive. */
	readonly folder: string;
	/** Further private properties. */
	readonly appProperties?: Readonly<Record<string, string>>;
}

/**
 * An empty document or spreadsheet in a folder, which Docs and Sheets themselves cannot do. A private property tells it from all
 * others.
 * @returns its id
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
