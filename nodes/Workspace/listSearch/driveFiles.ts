import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';
import type { INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import { refusal, type Failure } from '../../items/failure';

/** What a picker asks, and how much of Drive its sign-in may see. */
export interface Picker {
	readonly drive: drive_v3.Drive;
	readonly driveAccess: 'appFiles' | 'allFiles';
}

/** A page of choices; the filter is what the user typed, the token comes from the page before. */
export type Search = (
	picker: Picker,
	filter?: string,
	paginationToken?: string,
) => Promise<INodeListSearchResult>;

export interface Kind {
	readonly mimeType: string;
	/** As in "no spreadsheets". */
	readonly plural: string;
	/** Drive's sort keys. */
	readonly orderBy: string;
	/** What else the user may do when nothing is shown; a full sentence. */
	readonly otherwise: string;
}

const pageSize = 100;

/** A picker of Drive files of one kind. An empty list explains itself: n8n shows the failure in place of the list. */
export function searchOf(kind: Kind): Search {
	return async (picker, filter, paginationToken) => {
		const page = await listFiles(picker, kind, filter, paginationToken);
		if (page.results.length === 0 && page.paginationToken === undefined && !paginationToken) {
			throw nothingToChoose(picker, kind, filter);
		}
		return page;
	};
}

export async function listFiles(
	{ drive, driveAccess }: Picker,
	{ mimeType, orderBy }: Pick<Kind, 'mimeType' | 'orderBy'>,
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

/** The failure that says why nothing is shown */
export function nothingToChoose(
	{ driveAccess }: Picker,
	{ plural, otherwise }: Kind,
	filter?: string,
): Failure {
	const called = filter?.trim() ? ` with "${filter.trim()}" in the name` : '';
	if (driveAccess === 'allFiles') return refusal(`Google Drive has no ${plural}${called}`, otherwise);
	return refusal(
		`Google shows this sign-in no ${plural}${called}`,
		`This sign-in sees only what it made or was given. To see all ${plural}, set Drive Access to All Files in the credential and reconnect. ${otherwise}`,
	);
}

function choice({ id, name, webViewLink }: drive_v3.Schema$File): INodeListSearchItems[] {
	return id ? [{ name: name ?? id, value: id, url: webViewLink ?? undefined }] : [];
}

/** A string in Drive's search language. */
function quoted(text: string): string {
	return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
