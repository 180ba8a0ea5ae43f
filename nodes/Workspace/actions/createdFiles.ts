import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { ignoreNotFound, NodeError } from '../../core/errors';
import { type Field, quoteField, textType } from '../../fields/field';
import { type KeyHashes, hashKeyUse, createKeyReusedError } from '../idempotency';
import { buildFileLocator } from '../locators';
import type { Item, CreatedFile } from '../operation';

type File = drive_v3.Schema$File;
type Properties = Readonly<Record<string, string>>;

/** The beginning of the MIME types of Google's own files. */
export const googleTypePrefix = 'application/vnd.google-apps.';

/** Hashes the idempotency key and what the file is created from. Returns undefined if there is no key. */
export function hashFileKey(
	operation: string,
	{
		idempotencyKey: key,
		parentFolder,
	}: { readonly idempotencyKey: string; readonly parentFolder: string },
	content: readonly string[],
): KeyHashes | undefined {
	// The folder `root` is My Drive, as is an empty field.
	const target = parentFolder === 'root' ? '' : parentFolder;
	return hashKeyUse({ key, operation, target }, content);
}

/** The steps to a result of the type `R`. `C` is what `fillContent` hands over to `readResult`. */
interface CreationSteps<R, C> {
	/** The ID of the file that an earlier request for this item created, if Google's response to that request did not arrive. */
	readonly recoveredId?: string;
	/** Creates a file with these private properties. If an existing file takes its place, returns the result for that file. */
	readonly create: (
		appProperties: Properties,
	) => Promise<Pick<File, 'id'> | { readonly existingResult: R }>;
	/** Gives the file its content, unless it is finished. Another execution may be doing the same for this file. */
	readonly fillContent: (
		file: File,
		state: Readonly<{ isOwn: boolean; isFinished: boolean }>,
	) => Promise<C>;
	/** Runs when the file is marked as finished: if it fails, the next run must not replace a template's placeholders again. */
	readonly readResult: (file: File, filled: C) => R | Promise<R>;
}

// Names of private properties. Drive stores them, so they must not change, nor the states: `made` is an unfinished file, `done` a finished one.
const keyProperty = 'idempotencyMark';
const contentProperty = 'idempotencyContent';
const stateProperty = 'idempotencyState';

/**
 * Creates one file for an idempotency key, across executions. Drive does not refuse a second file, so each execution searches for files
 * with the key after it has created its own. All executions keep the same file: a finished one, or the oldest if none is finished. They
 * move the other unfinished files, which no execution has returned yet, to the trash.
 * @param fields the fields of the file that the steps need, as in Google's parameter `fields`
 * @returns the result, with `repeated` if another item or execution created the file
 */
export async function createOnce<R extends object, C>(
	drive: drive_v3.Drive,
	fields: string,
	{ keyHash, contentHash }: KeyHashes,
	{ recoveredId, create, fillContent, readResult }: CreationSteps<R, C>,
): Promise<R & { readonly repeated?: true }> {
	const allFields = `${fields},createdTime,appProperties`;
	const findByKey = async () =>
		await findFiles(drive, buildPropertySearch(keyProperty, keyHash), allFields);
	let ownId = recoveredId;
	let files = await findByKey();
	if (files.length === 0) {
		const created = await create({
			[keyProperty]: keyHash,
			[contentProperty]: contentHash,
			[stateProperty]: 'made',
		});
		if ('existingResult' in created) return created.existingResult;
		ownId = created.id ?? '';
		files = await addOwnFile(drive, await findByKey(), ownId, allFields);
	}
	const file = await keepOneFile(drive, files);
	if (file.appProperties?.[contentProperty] !== contentHash)
		throw createKeyReusedError(`the file ${file.id ?? ''}`);
	const state = { isOwn: file.id === ownId, isFinished: isFinished(file) };
	const filled = await fillContent(file, state);
	if (!state.isFinished)
		await updateFile(drive, file, { appProperties: { [stateProperty]: 'done' } });
	const result = await readResult(file, filled);
	return state.isOwn ? result : { ...result, repeated: true };
}

/** Moves the other unfinished files to the trash. @returns the file that all executions keep */
async function keepOneFile(drive: drive_v3.Drive, files: readonly File[]): Promise<File> {
	const [keptFile, ...otherFiles] = files.toSorted(compareRank);
	if (!keptFile)
		throw new NodeError({
			code: 503,
			message: `Another execution with the same ${quoteField('idempotencyKey')} put the new file into the trash`,
			description: 'Its own file cannot be found yet. Run this again.',
		});
	for (const file of otherFiles)
		if (!isFinished(file)) await updateFile(drive, file, { trashed: true });
	return keptFile;
}

/** Adds the new file, which Drive's search may not list yet, unless another execution has moved it to the trash. */
async function addOwnFile(drive: drive_v3.Drive, files: File[], fileId: string, fields: string) {
	if (files.some(({ id }) => id === fileId)) return files;
	const request = { fileId, supportsAllDrives: true, fields: `${fields},trashed` };
	const { data } = await drive.files.get(request);
	return data.trashed ? files : [...files, data];
}

const isFinished = ({ appProperties }: File) => appProperties?.[stateProperty] === 'done';

/** Compares files so that all executions keep the same one. Finished files come first, then older ones. The ID decides between equal times. */
function compareRank(a: File, b: File): number {
	if (isFinished(a) !== isFinished(b)) return isFinished(a) ? -1 : 1;
	const buildSortKey = ({ createdTime, id }: File) => `${createdTime ?? ''} ${id ?? ''}`;
	return buildSortKey(a) < buildSortKey(b) ? -1 : 1;
}

/** Updates a file. The request may be repeated, because a second update has no further effect. */
async function updateFile(drive: drive_v3.Drive, { id }: File, requestBody: File): Promise<void> {
	const request = { fileId: id ?? '', requestBody, supportsAllDrives: true, fields: 'id' };
	const update = drive.files.update(request, { retryConfig: { httpMethodsToRetry: ['PATCH'] } });
	// Another execution may have removed the file already.
	await (requestBody.trashed ? ignoreNotFound(update) : update);
}

export const missingFolderAdvice = `Check that ${quoteField('parentFolder')} exists and that this account can access it.`;

/** The private property that marks a file with the marker ID of its item. Drive stores its name. Other apps cannot see it. */
const markerProperty = 'creationToken';

interface NewFile<R, C> extends Pick<CreatedFile, 'kind'> {
	/** One of Google's own types, such as `application/vnd.google-apps.document`. */
	readonly mimeType: string;
	readonly buildUrl: (id: string) => string;
	readonly title: string;
	/** The ID of the folder; '' for the top level of My Drive. */
	readonly parentFolder: string;
	/** The ID of a file to copy. Without it, the new file is empty. */
	readonly templateId?: string;
	readonly keyHashes: KeyHashes | undefined;
	readonly recoveredId: string | undefined;
	/** As in `CreationSteps`. With an idempotency key, several executions may call it for the same file. */
	readonly fillContent: (id: string) => Promise<C | undefined>;
	/** As in `CreationSteps`. `filled` is undefined if the file was already finished. */
	readonly readResult: (id: string, filled: C | undefined) => Promise<R>;
}

/** Creates a document or spreadsheet in a folder, from a template or with a key. Only Drive can do this, not the Docs or Sheets API. */
export async function createInDrive<R extends object, C>(
	drive: drive_v3.Drive,
	file: NewFile<R, C>,
	item: Item,
): Promise<R & { readonly repeated?: true }> {
	const { kind, keyHashes, recoveredId, fillContent, readResult } = file;
	const record = (id: string) => {
		item.recordCreated({ kind, id, url: file.buildUrl(id) });
		return { id };
	};
	const create = async (appProperties = {}) =>
		record(recoveredId ?? (await createOrCopyFile(drive, file, item, appProperties)));
	if (!keyHashes) {
		const { id } = await create();
		return await readResult(id, await fillContent(id));
	}
	return await createOnce(drive, 'id', keyHashes, {
		recoveredId,
		create,
		async fillContent({ id }, { isFinished }) {
			if (isFinished || !id) return undefined;
			// The file was not recorded before if Google's response did not arrive.
			record(id);
			return await fillContent(id);
		},
		readResult: async ({ id }, filled) => await readResult(id ?? '', filled),
	});
}

async function createOrCopyFile(
	drive: drive_v3.Drive,
	{ mimeType, title, parentFolder, templateId }: Omit<NewFile<unknown, unknown>, 'readResult'>,
	{ markerId }: Item,
	keyProperties: Properties,
): Promise<string> {
	// A copy without a parent would be created in the folder of the template.
	const parents = parentFolder || templateId ? [parentFolder || 'root'] : undefined;
	const appProperties = { ...buildMarkerProperty(markerId), ...keyProperties };
	const requestBody = { name: title, parents, appProperties };
	const request = { supportsAllDrives: true, fields: 'id' };
	const { data } = templateId
		? await drive.files.copy({ ...request, fileId: templateId, requestBody })
		: await drive.files.create({ ...request, requestBody: { ...requestBody, mimeType } });
	return data.id ?? '';
}

/** Finds the ID of the file that `createInDrive` created for the item. Needed if Google's response did not arrive. */
export const findCreatedId = async (drive: drive_v3.Drive, { markerId }: Item) =>
	(await findFileOfItem(drive, markerId, 'id'))?.id ?? undefined;

export const buildMarkerProperty = (markerId: string) => ({ [markerProperty]: markerId });

/** Finds the file that was created for an item. Returns undefined if Google does not list the file, or not yet. */
export async function findFileOfItem(drive: drive_v3.Drive, markerId: string, fields: string) {
	return (await findFiles(drive, buildPropertySearch(markerProperty, markerId), fields))[0];
}

/** Finds up to 100 files in My Drive and all shared drives of the account, but not in the trash. @param q a query in Drive's search language */
export async function findFiles(
	drive: drive_v3.Drive,
	q: string,
	fields: string,
	orderBy?: string,
) {
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

export const quoteSearchText = (text: string) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

/** Builds a query for a private property. @param value a text without quotes or backslashes */
const buildPropertySearch = (key: string, value: string) =>
	`appProperties has { key='${key}' and value='${value}' }`;

export const titleField = {
	displayName: 'Title',
	name: 'title',
	...textType,
	required: true,
} as const satisfies Field;

/** Builds the field for the folder or shared drive of a new file. Empty means My Drive. */
export const buildParentFolderField = (description: string) =>
	({
		displayName: 'Parent Folder',
		name: 'parentFolder',
		...buildFileLocator('folder', 'searchFolders'),
		description,
	}) as const satisfies Field;
