import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { ifFound, NodeError } from '../../core/errors';
import { type Field, named } from '../../fields/field';
import { usedBefore } from '../idempotency';
import type { Item } from '../operation';

type File = drive_v3.Schema$File;

/** What a file carries in properties that are private to this app, so that its key creates it only once. */
export interface FileKey {
	/** Hash of the key, the operation and the folder. */
	readonly mark: string;
	/** Hash of what the file is created from. */
	readonly content: string;
}

interface Steps<R> {
	readonly key: FileKey;
	/** ID of a file that this execution is known to have created although no answer confirmed it. */
	readonly ownId?: string;
	/**
	 * Creates the file with these private properties.
	 * @returns undefined if no file is to be created after all
	 */
	readonly make: (appProperties: Record<string, string>) => Promise<File | undefined>;
	/**
	 * Does what is still missing in an existing file. Must be safe to repeat, even in parallel executions.
	 */
	readonly complete: (file: File) => Promise<void>;
	/** The result for a complete file. @param isOwn this execution created it */
	readonly result: (file: File, isOwn: boolean) => Promise<R>;
}

const rankFields = 'createdTime,appProperties';
const markKey = 'idempotencyMark';
const contentKey = 'idempotencyContent';
const stateKey = 'idempotencyState';

/**
 * Creates a file once for a key, across executions. Drive cannot refuse a second one, so each execution looks
 * again after it created its own. All executions agree on the file that stays (a complete one, otherwise the
 * oldest) and move their own other files to the trash. No such file has been reported to anyone yet.
 * @param fields of the files that the steps receive
 * @returns undefined if there is no file and none was to be created
 */
export async function madeOnce<R extends object>(
	drive: drive_v3.Drive,
	fields: string,
	{ key, ownId, make, complete, result }: Steps<R>,
): Promise<(R & { readonly repeated?: true }) | undefined> {
	const known = await filesOf(drive, key, fields);
	const made =
		known.length > 0
			? undefined
			: await make({ [markKey]: key.mark, [contentKey]: key.content, [stateKey]: 'made' });
	if (known.length === 0 && !made) return undefined;
	const all = made ? await withOwn(drive, await filesOf(drive, key, fields), made, fields) : known;
	const [kept, ...others] = all.toSorted(byRank);
	if (!kept) throw putAway(made);
	await removeUnfinished(drive, others);
	if (kept.appProperties?.[contentKey] !== key.content) throw usedBefore(`the file ${kept.id ?? ''}`);
	if (!isDone(kept)) {
		await complete(kept);
		await update(drive, kept, { appProperties: { [stateKey]: 'done' } });
	}
	const isOwn = kept.id === (made?.id ?? ownId);
	const value = await result(kept, isOwn);
	return isOwn ? value : { ...value, repeated: true };
}

async function filesOf(drive: drive_v3.Drive, { mark }: FileKey, fields: string): Promise<File[]> {
	return await findFiles(drive, { q: hasProperty(markKey, mark), fields: `${fields},${rankFields}` });
}

/** The search may not list the new file yet, or no longer: another execution may have trashed it. */
async function withOwn(
	drive: drive_v3.Drive,
	found: readonly File[],
	made: File,
	fields: string,
): Promise<readonly File[]> {
	if (found.some(({ id }) => id === made.id)) return found;
	const request = {
		fileId: made.id ?? '',
		supportsAllDrives: true,
		fields: `${fields},${rankFields},trashed`,
	};
	const { data } = await drive.files.get(request);
	return data.trashed ? found : [...found, data];
}

function putAway(made: File | undefined): NodeError {
	return new NodeError({
		code: 503,
		message: `Another execution with the same ${named('idempotencyKey')} put the file ${made?.id ?? ''} into the trash`,
		description: 'Its own file cannot be found yet. Run this again.',
		settled: true,
	});
}

function isDone({ appProperties }: File): boolean {
	return appProperties?.[stateKey] === 'done';
}

/** An order on which all executions agree. */
function byRank(a: File, b: File): number {
	if (isDone(a) !== isDone(b)) return isDone(a) ? -1 : 1;
	const rank = (file: File) => `${file.createdTime ?? ''} ${file.id ?? ''}`;
	return rank(a) < rank(b) ? -1 : 1;
}

async function removeUnfinished(drive: drive_v3.Drive, files: readonly File[]): Promise<void> {
	for (const file of files) if (!isDone(file)) await update(drive, file, { trashed: true });
}

/** Safe to repeat: a second update changes nothing. */
async function update(drive: drive_v3.Drive, { id }: File, requestBody: File): Promise<void> {
	const request = { fileId: id ?? '', requestBody, supportsAllDrives: true, fields: 'id' };
	const repeatable = { retryConfig: { httpMethodsToRetry: ['PATCH'] } };
	const updated = drive.files.update(request, repeatable);
	// The other execution may have been faster.
	await (requestBody.trashed ? ifFound(updated) : updated);
}

/** Advice if Google does not find the parent folder. */
export const missingFolder = `Check that ${named('parentFolder')} exists and that this account can access it.`;

/** A property that other apps cannot see. */
const tokenKey = 'creationToken';

interface EmptyFile {
	/** One of Google's own types, such as `application/vnd.google-apps.document`. */
	readonly mimeType: string;
	readonly title: string;
	/** Folder ID; '' for the top level of My Drive. */
	readonly folder: string;
	/** A file to copy; empty for none. */
	readonly templateId?: string;
	/** Further private properties. */
	readonly appProperties?: Readonly<Record<string, string>>;
}

/**
 * Creates an empty document or spreadsheet in a folder, or a copy of one, which the Docs and Sheets APIs cannot do. A private
 * property distinguishes it from all other files.
 * @returns its ID
 */
export async function makeInFolder(
	drive: drive_v3.Drive,
	{ mimeType, title, folder, templateId, appProperties: more }: EmptyFile,
	item: Item,
): Promise<string> {
	const appProperties = { ...itemProperty(item), ...more };
	if (templateId) {
		// Without a parent, the copy would go where the original is.
		const requestBody = { name: title, parents: [folder || 'root'], appProperties };
		const copy = { fileId: templateId, requestBody, supportsAllDrives: true, fields: 'id' };
		return (await drive.files.copy(copy)).data.id ?? '';
	}
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
	return (await fileOfItem(drive, item, 'id'))?.id ?? undefined;
}

/** Marks a file as the one that is created for an item. */
export function itemProperty({ token }: Item): Record<string, string> {
	return { [tokenKey]: token };
}

/** The file with an item's mark, if Google lists it already. */
export async function fileOfItem(
	drive: drive_v3.Drive,
	{ token }: Item,
	fields: string,
): Promise<File | undefined> {
	const [file] = await findFiles(drive, { q: hasProperty(tokenKey, token), fields });
	return file;
}

interface Search {
	/** In Drive's search language. */
	readonly q: string;
	/** Of a file. */
	readonly fields: string;
	readonly orderBy?: string;
}

/** The files in My Drive and in all shared drives, without the trash, as far as the sign-in sees them. */
export async function findFiles(drive: drive_v3.Drive, { q, fields, orderBy }: Search): Promise<File[]> {
	const { data } = await drive.files.list({
		q: `${q} and trashed = false`,
		fields: `files(${fields})`,
		orderBy,
		corpora: 'allDrives',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	return data.files ?? [];
}

/** A text in Drive's search language. */
export function searchText(text: string): string {
	return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}

/** A search for a private property whose value needs no quoting. */
function hasProperty(key: string, value: string): string {
	return `appProperties has { key='${key}' and value='${value}' }`;
}

/** Where a new file goes: a folder or shared drive, otherwise My Drive. */
export const parentFolder = (description: string) =>
	({
		displayName: 'Parent Folder',
		name: 'parentFolder',
		type: 'resourceLocator',
		default: { __rl: true, mode: 'list', value: '' },
		format: 'fileId',
		searchListMethod: 'searchFolders',
		description,
	}) as const satisfies Field;
