import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';
import type { INodeListSearchItems } from 'n8n-workflow';

import { listFiles, type Kind, type Picker, type Search } from './driveFiles';

const folders: Kind = {
	mimeType: 'application/vnd.google-apps.folder',
	orderBy: 'name_natural',
};

const myDrive: INodeListSearchItems = {
	name: 'My Drive',
	value: 'root',
	url: 'https://drive.google.com/drive/my-drive',
};

/** My Drive and, with access to all files, the shared drives; then the folders, page by page. */
export const searchFolders: Search = async (picker, filter, paginationToken) => {
	const page = await listFiles(picker, folders, filter, paginationToken);
	if (paginationToken) return page;
	const drives = [myDrive, ...(await sharedDrives(picker))].filter(matches(filter));
	return { ...page, results: [...drives, ...page.results] };
};

/** Google lists shared drives only to a sign-in with access to all files. */
async function sharedDrives({ drive, driveAccess }: Picker): Promise<INodeListSearchItems[]> {
	if (driveAccess === 'appFiles') return [];
	const found: drive_v3.Schema$Drive[] = [];
	let pageToken: string | undefined;
	do {
		const { data } = await drive.drives.list({
			pageSize: 100,
			pageToken,
			fields: 'nextPageToken,drives(id,name)',
		});
		found.push(...(data.drives ?? []));
		pageToken = data.nextPageToken ?? undefined;
	} while (pageToken !== undefined);
	return found.flatMap(({ id, name }) =>
		id ? [{ name: name ?? id, value: id, url: `https://drive.google.com/drive/folders/${id}` }] : [],
	);
}

function matches(filter = ''): (choice: INodeListSearchItems) => boolean {
	const wanted = filter.trim().toLowerCase();
	return ({ name }) => name.toLowerCase().includes(wanted);
}
