import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';
import type { INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import { NodeError } from '../../core/errors';
import type { SignIn } from '../google/advice';

/** What a picker asks, and what its sign-in may see. */
export interface Picker {
	readonly drive: drive_v3.Drive;
	readonly signIn: SignIn;
}

/**
 * A page of choices; the filter is what the user typed, the token comes from the page before. Empty where the filter fits nothing: n8n
 * takes the search box away from a picker that fails.
 * @throws NodeError 404 without a filter where there is nothing to choose from: n8n shows its message in the list, and asks again when
 * the list is opened the next time, as after a new sign-in
 */
export type Search = (
	picker: Picker,
	filter?: string,
	paginationToken?: string,
) => Promise<INodeListSearchResult>;

export interface Kind {
	/** In the plural, as in a sentence. */
	readonly noun: string;
	readonly mimeType: string;
	/** Drive's sort keys. */
	readonly orderBy: string;
}

const pageSize = 100;

/** A picker of Drive files of one kind. */
export function searchOf(kind: Kind): Search {
	return async (picker, filter, paginationToken) => {
		const { files, nextPageToken } = await listFiles(picker, kind, filter, paginationToken);
		const nothing = files.length === 0 && !nextPageToken && !paginationToken && !filter?.trim();
		if (nothing) throw emptyList(kind, picker.signIn);
		return pageOf(files, nextPageToken);
	};
}

/** The words are those of n8n's buttons. No hyphens: n8n cuts the message of a list at each of them. */
function emptyList({ noun }: Kind, { authentication, driveAccess }: SignIn): NodeError {
	const message = `Google lists no ${noun} for this account.`;
	if (authentication === 'serviceAccount') {
		return new NodeError({
			code: 404,
			message: `${message} Share some with the email of the service account.`,
		});
	}
	const byUrl = 'To use one anyway, choose By URL above.';
	const reason =
		driveAccess === 'appFiles'
			? 'With Drive Access set to App Files, Google lists only what this app created. For all of them, change Drive Access in the credential, save it, and click Switch account.'
			: 'If Drive Access was changed in the credential, save it and click Switch account there.';
	return new NodeError({ code: 404, message: `${message} ${reason} ${byUrl}` });
}

async function listFiles(
	{ drive, signIn: { driveAccess } }: Picker,
	{ mimeType, orderBy }: Kind,
	filter?: string,
	paginationToken?: string,
): Promise<{ readonly files: drive_v3.Schema$File[]; readonly nextPageToken: string | undefined }> {
	const terms = [`mimeType = ${quoted(mimeType)}`, 'trashed = false'];
	if (filter?.trim()) terms.push(`name contains ${quoted(filter.trim())}`);
	const { data } = await drive.files.list({
		q: terms.join(' and '),
		fields: 'nextPageToken,files(id,name,webViewLink,isAppAuthorized)',
		orderBy,
		pageSize,
		pageToken: paginationToken || undefined,
		corpora: driveAccess === 'appFiles' ? 'user' : 'allDrives',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	return { files: data.files ?? [], nextPageToken: data.nextPageToken ?? undefined };
}

function pageOf(files: drive_v3.Schema$File[], paginationToken: string | undefined): INodeListSearchResult {
	return { results: files.flatMap(choice), paginationToken };
}

function choice({ id, name, webViewLink }: drive_v3.Schema$File): INodeListSearchItems[] {
	return id ? [{ name: name ?? id, value: id, url: webViewLink ?? undefined }] : [];
}

/** A string in Drive's search language. */
function quoted(text: string): string {
	return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

export const searchDocuments = searchOf({
	noun: 'documents',
	mimeType: 'application/vnd.google-apps.document',
	orderBy: 'viewedByMeTime desc,name_natural',
});

export const searchSpreadsheets = searchOf({
	noun: 'spreadsheets',
	mimeType: 'application/vnd.google-apps.spreadsheet',
	orderBy: 'viewedByMeTime desc,name_natural',
});

const folders: Kind = {
	noun: 'folders',
	mimeType: 'application/vnd.google-apps.folder',
	orderBy: 'name_natural',
};

const myDrive: INodeListSearchItems = {
	name: 'My Drive',
	value: 'root',
	url: 'https://drive.google.com/drive/my-drive',
};

/**
 * My Drive and, with access to all files, the shared drives; then the folders, page by page. A sign-in that may only see the names of
 * other folders cannot put anything into them, so they are left out.
 */
export const searchFolders: Search = async (picker, filter, paginationToken) => {
	const { files, nextPageToken } = await listFiles(picker, folders, filter, paginationToken);
	const isUsable = ({ isAppAuthorized }: drive_v3.Schema$File) =>
		isAppAuthorized === true || picker.signIn.driveAccess !== 'appFilesAndNames';
	const page = pageOf(files.filter(isUsable), nextPageToken);
	if (paginationToken) return page;
	const drives = [myDrive, ...(await sharedDrives(picker))].filter(matches(filter));
	return { ...page, results: [...drives, ...page.results] };
};

/** Google lists shared drives only to a sign-in with access to all files. */
async function sharedDrives({ drive, signIn }: Picker): Promise<INodeListSearchItems[]> {
	if (signIn.driveAccess !== 'allFiles') return [];
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
