import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';
import type { INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

/** What a picker asks, and how much of Drive its sign-in may see. */
export interface Picker {
	readonly drive: drive_v3.Drive;
	readonly driveAccess: 'appFiles' | 'allFiles';
}

/**
 * A page of choices; the filter is what the user typed, the token comes from the page before. Empty where nothing fits: n8n takes the
 * search box away from a picker that fails.
 */
export type Search = (
	picker: Picker,
	filter?: string,
	paginationToken?: string,
) => Promise<INodeListSearchResult>;

export interface Kind {
	readonly mimeType: string;
	/** Drive's sort keys. */
	readonly orderBy: string;
}

const pageSize = 100;

/** A picker of Drive files of one kind. */
export function searchOf(kind: Kind): Search {
	return async (picker, filter, paginationToken) => await listFiles(picker, kind, filter, paginationToken);
}

export async function listFiles(
	{ drive, driveAccess }: Picker,
	{ mimeType, orderBy }: Kind,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const terms = [`mimeType = ${quoted(mimeType)}`, 'trashed = false'];
	if (filter?.trim()) terms.push(`name contains ${quoted(filter.trim())}`);
	const { data } = await drive.files.list({
		q: terms.join(' and '),
		fields: 'nextPageToken,files(id,name,webViewLink)',
		orderBy,
		pageSize,
		pageToken: paginationToken || undefined,
		corpora: driveAccess === 'allFiles' ? 'allDrives' : 'user',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	return {
		results: (data.files ?? []).flatMap(choice),
		paginationToken: data.nextPageToken ?? undefined,
	};
}

function choice({ id, name, webViewLink }: drive_v3.Schema$File): INodeListSearchItems[] {
	return id ? [{ name: name ?? id, value: id, url: webViewLink ?? undefined }] : [];
}

/** A string in Drive's search language. */
function quoted(text: string): string {
	return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
