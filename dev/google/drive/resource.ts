import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import type { StoredFile } from '../files.ts';
import type { Call } from '../service.ts';
import type { Content } from './content.ts';
import { importFormats, isWorkspaceType, buildWebViewLink } from './types.ts';

/** My Drive's own ID. Requests may use `root` instead. */
export const rootId = '0AStandInOfMyDriveUk9PVA';

/**
 * Renders a file as Drive returns it to this caller. `appProperties` are returned only to the client that set them.
 */
export function renderFile(
	file: StoredFile,
	content: Content | undefined,
	call: Pick<Call, 'clientId'>,
): drive_v3.Schema$File {
	const { id, name, mimeType, createdTime, description, driveId } = file;
	return removeUndefined({
		kind: 'drive#file',
		id,
		name,
		mimeType,
		description,
		driveId,
		teamDriveId: driveId,
		explicitlyTrashed: file.trashed,
		createdTime,
		modifiedTime: createdTime,
		parents: file.parents.map((parent) => (parent === 'root' ? rootId : parent)),
		properties: copyUnlessEmpty(file.properties),
		isAppAuthorized: call.clientId === file.clientId,
		appProperties:
			call.clientId === file.clientId ? copyUnlessEmpty(file.appProperties) : undefined,
		spaces: ['drive'],
		webViewLink: buildWebViewLink(id, mimeType),
		...(isWorkspaceType(mimeType)
			? describeWorkspaceFile(id, mimeType)
			: describeBytes(file, content)),
	});
}

function describeWorkspaceFile(id: string, mimeType: string): drive_v3.Schema$File {
	const formats = importFormats[mimeType];
	if (formats === undefined) return {};
	const host = 'https://docs.google.com/feeds/download/export/Export';
	const links = formats.map((format) => [format, `${host}?id=${id}&exportFormat=${format}`]);
	return { size: '1024', exportLinks: Object.fromEntries(links) as Record<string, string> };
}

function describeBytes(file: StoredFile, content: Content | undefined): drive_v3.Schema$File {
	if (content === undefined) return {};
	return {
		size: String(content.size),
		quotaBytesUsed: String(content.size),
		md5Checksum: content.md5,
		originalFilename: file.name,
		webContentLink: `https://drive.google.com/uc?id=${file.id}&export=download`,
	};
}

function copyUnlessEmpty(properties: Record<string, string>): Record<string, string> | undefined {
	return Object.keys(properties).length === 0 ? undefined : { ...properties };
}

function removeUndefined<T extends object>(value: T): T {
	return Object.fromEntries(
		Object.entries(value).filter(([, inner]) => inner !== undefined),
	) as T;
}
