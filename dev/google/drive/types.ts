/** Media types of Google's own files, and what Drive converts to them. */
const workspacePrefix = 'application/vnd.google-apps.';

export const folderType = `${workspacePrefix}folder`;

const office = 'application/vnd.openxmlformats-officedocument';
const openDocument = 'application/vnd.oasis.opendocument';

/** The types that Drive converts, by the type of the new file. */
export const importFormats: Readonly<Record<string, readonly string[]>> = {
	[`${workspacePrefix}document`]: [
		'text/plain',
		'text/html',
		'text/markdown',
		'text/rtf',
		'application/rtf',
		'application/pdf',
		'application/msword',
		'image/png',
		'image/jpeg',
		`${office}.wordprocessingml.document`,
		`${openDocument}.text`,
	],
	[`${workspacePrefix}spreadsheet`]: [
		'text/csv',
		'text/tab-separated-values',
		'application/vnd.ms-excel',
		`${office}.spreadsheetml.sheet`,
		`${openDocument}.spreadsheet`,
	],
	[`${workspacePrefix}presentation`]: [
		'application/vnd.ms-powerpoint',
		`${office}.presentationml.presentation`,
		`${openDocument}.presentation`,
	],
};

/** The types as which Drive exports its files: https://developers.google.com/workspace/drive/api/guides/ref-export-formats */
export const exportFormats: Readonly<Record<string, readonly string[]>> = {
	[`${workspacePrefix}document`]: [
		'application/pdf',
		'application/rtf',
		'application/zip',
		'application/epub+zip',
		'text/plain',
		'text/markdown',
		`${office}.wordprocessingml.document`,
		`${openDocument}.text`,
	],
	[`${workspacePrefix}spreadsheet`]: [
		'application/pdf',
		'text/csv',
		`${office}.spreadsheetml.sheet`,
	],
	[`${workspacePrefix}presentation`]: [
		'application/pdf',
		`${office}.presentationml.presentation`,
	],
	[`${workspacePrefix}drawing`]: ['application/pdf', 'image/png', 'image/jpeg', 'image/svg+xml'],
};

/** Whether a type is one of Google's own. Such files have no bytes and no checksum. */
export function isWorkspaceType(mimeType: string): boolean {
	return mimeType.startsWith(workspacePrefix);
}

/** Folders accept a generated ID; files of Docs editors and shortcuts do not. */
export function takesGeneratedId(mimeType: string): boolean {
	return !isWorkspaceType(mimeType) || mimeType === folderType;
}

const editors: Readonly<Record<string, string>> = {
	[`${workspacePrefix}document`]: 'document',
	[`${workspacePrefix}spreadsheet`]: 'spreadsheets',
	[`${workspacePrefix}presentation`]: 'presentation',
};

export function buildWebViewLink(id: string, mimeType: string): string {
	const editor = editors[mimeType];
	if (editor !== undefined) return `https://docs.google.com/${editor}/d/${id}/edit?usp=drivesdk`;
	if (mimeType === folderType) return `https://drive.google.com/drive/folders/${id}`;
	return `https://drive.google.com/file/d/${id}/view?usp=drivesdk`;
}
