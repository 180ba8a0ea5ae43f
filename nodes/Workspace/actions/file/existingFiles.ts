import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { Failure } from '../../../core/failure';
import { named } from '../../../fields/naming';
import type { Clients } from '../../operation';
import { resultFields } from './result';

/** Where the file goes and what it becomes there. */
export interface Destination {
	readonly name: string;
	/** '' for the top of My Drive. */
	readonly parentFolder: string;
	/** Type of Google's own that the content is converted to. */
	readonly target: string | undefined;
}

const folderType = 'application/vnd.google-apps.folder';

/** The files of that name in the folder, as far as the sign-in sees them; the newest first. */
export async function filesNamed(
	{ drive }: Clients,
	{ name, parentFolder }: Destination,
): Promise<drive_v3.Schema$File[]> {
	const folder = parentFolder || 'root';
	const { data } = await drive.files.list({
		q: `name = ${quoted(name)} and ${quoted(folder)} in parents and mimeType != '${folderType}' and trashed = false`,
		fields: `files(${resultFields})`,
		orderBy: 'createdTime desc',
		corpora: 'allDrives',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	// Whether Drive compares names by letter case is not documented.
	return (data.files ?? []).filter((file) => file.name === name);
}

/** @throws Failure 409 where it is not clear which file is meant, or its kind is another */
export function replaceable(
	[file, ...more]: readonly drive_v3.Schema$File[],
	{ name, target }: Destination,
): string | undefined {
	if (!file) return undefined;
	if (more.length > 0) {
		const message = `The folder has ${more.length + 1} files named "${name}"`;
		throw conflict(message, 'Nothing was uploaded. Rename or remove all except the one to replace.');
	}
	const { mimeType } = file;
	const isGoogles = mimeType?.startsWith('application/vnd.google-apps.');
	if (mimeType === target || (target === undefined && !isGoogles)) return file.id ?? undefined;
	throw conflict(
		`The existing file "${name}" has a different type (${mimeType ?? ''})`,
		`Nothing was uploaded. A Google file can only be replaced by one of the same type. Choose that type in ${named('convertTo')}, or use another name.`,
	);
}

export function existsAlready(file: drive_v3.Schema$File): Failure {
	const { id, name, webViewLink } = file;
	return conflict(
		`The folder already has a file named "${name ?? ''}"`,
		`Nothing was uploaded. The existing file is ${id ?? ''}${webViewLink ? ` (${webViewLink})` : ''}.`,
	);
}

function conflict(message: string, description: string): Failure {
	return new Failure({ code: 409, message, description });
}

/** A text of Drive's search language. */
function quoted(text: string): string {
	return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
