import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import type { StoredFile } from '../files.ts';
import type { Call } from '../service.ts';
import type { Content } from './content.ts';
import { importFormats, isWorkspaceType, webViewLink } from './types.ts';

/** My Drive's own ID. Requests may use `root` instead. */
export const rootId = '0AStandInOfMyDriveUk9PVA';

/**
 * A file as Drive returns it to this caller. `appProperties` are returned only to the client that set them.
 */
export function fileOut(
	file: StoredFile,
	content: Content | undefined,
	call: Pick<Call, 'clientId'>,
): drive_v3.Schema$File {
	const { id, name, mimeType, trashed, createdTime, description, driveId } = file;
	return withoutUndefined({
		kind: 'drive#file',
		id,
		name,
		mimeType,
		description,
		driveId,
		teamDriveId: driveId,
		trashed,
		explicitlyTrashed: trashed,
		createdTime,
		modifiedTime: createdTime,
		parents: file.parents.map((parent) => (parent === 'root' ? rootId : parent)),
		properties: someOf(file.properties),
		isAppAuthorized: call.clientId === file.clientId,
		appProperties: call.clientId === file.clientId ? someOf(file.appProperties) : undefined,
		spaces: ['drive'],
		webViewLink: webViewLink(id, mimeType),
		...(isWorkspaceType(mimeType) ? ofWorkspaceFile(id, mimeType) : ofBytes(file, content)),
	});
}

function ofWorkspaceFile(id: string, mimeType: string): drive_v3.Schema$File {
	const formats = importFormats[mimeType];
	if (formats === undefined) return {};
	const host = 'https://docs.google.com/feeds/download/export/Export';
	const links = formats.map((format) => [format, `${host}?id=${id}&exportFormat=${format}`]);
	return { size: '1024', exportLinks: Object.fromEntries(links) as Record<string, string> };
}

function ofBytes(file: StoredFile, content: Content | undefined): drive_v3.Schema$File {
	if (content === undefined) return {};
	return {
		size: String(content.size),
		quotaBytesUsed: String(content.size),
		md5Checksum: content.md5,
		originalFilename: file.name,
		webContentLink: `https://drive.google.com/uc?id=${file.id}&export=download`,
	};
}

function someOf(properties: Record<string, string>): Record<string, string> | undefined {
	return Object.keys(properties).length === 0 ? undefined : { ...properties };
}

function withoutUndefined<T extends object>(value: T): T {
	return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T;
}
