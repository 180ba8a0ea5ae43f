import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { ignoreNotFound, NodeError } from '../../core/errors';
import { compareNames } from '../../core/text';
import { quoteField } from '../../fields/field';
import { type KeyHashes, hashKeyUse, createKeyReusedError } from '../idempotency';
import { type CreatedFile, type Item, requireId } from '../operation';
import { findFirstFiles } from './driveSearch';

type File = drive_v3.Schema$File;
type Properties = Readonly<Record<string, string>>;

/** The beginning of the MIME types of Google's own files. */
export const googleTypePrefix = 'application/vnd.google-apps.';

/**
 * Hashes the idempotency key and what the file is created from. Returns undefined if there is no
 * key.
 */
export function hashFileKey(
	operation: string,
	params: { readonly idempotencyKey: string; readonly parentFolder: string },
	content: readonly string[],
): KeyHashes | undefined {
	const target = params.parentFolder || 'root';
	return hashKeyUse({ key: params.idempotencyKey, operation, target }, content);
}

// Names of private properties. Drive stores them, so they must not change, nor the states: `made`
// is an unfinished file, `done` a finished one.
const keyProperty = 'idempotencyMark';
const contentProperty = 'idempotencyContent';
const stateProperty = 'idempotencyState';

/** Builds the private properties of a file that is created with a key. */
export const buildKeyProperties = ({ keyHash, contentHash }: KeyHashes): Properties => ({
	[keyProperty]: keyHash,
	[contentProperty]: contentHash,
	[stateProperty]: 'made',
});

/**
 * Finds the file that all executions with a key keep.
 * @param ownId the file that this execution created. Drive does not refuse a second file, so each
 * execution also searches after it has created its own
 * @returns undefined if there is no key, or no file yet
 * @throws NodeError 409 if the key was used for other content
 */
export async function findKeptFile(
	drive: drive_v3.Drive,
	fields: string,
	keyHashes: KeyHashes | undefined,
	ownId?: string,
): Promise<File | undefined> {
	if (!keyHashes) return undefined;
	const files = await findKeyedFiles(drive, fields, keyHashes, ownId);
	if (files.length === 0 && ownId === undefined) return undefined;
	return await keepOneFile(drive, files, keyHashes);
}

/**
 * Finds the files with an idempotency key.
 * @param ownId the file that this execution created. Drive's search may not list it yet, so it is
 * added, unless it is in the trash
 */
async function findKeyedFiles(
	drive: drive_v3.Drive,
	fields: string,
	{ keyHash }: KeyHashes,
	ownId?: string,
) {
	const allFields = `${fields},createdTime,appProperties`;
	const q = buildPropertySearch(keyProperty, keyHash);
	const files = await findFirstFiles(drive, {
		q,
		fields: allFields,
		mayMissFiles: ownId !== undefined,
	});
	if (ownId === undefined || files.some(({ id }) => id === ownId)) return files;
	const { data } = await drive.files.get({
		fileId: ownId,
		supportsAllDrives: true,
		fields: `${allFields},explicitlyTrashed`,
	});
	return data.explicitlyTrashed ? files : [...files, data];
}

/**
 * Google puts a file into a folder that is in the trash, and deletes both after 30 days.
 * @throws NodeError 412 for a new file there
 */
export function refuseTrashed({ id, trashed }: File): void {
	if (!trashed) return;
	throw new NodeError({
		code: 412,
		message: `The new file ${id ?? ''} is in the trash of Google Drive, because its folder is there`,
		description: `Google deletes it after 30 days. Restore the folder, or choose another ${quoteField('parentFolder')}, before you run this again.`,
		outcome: 'done',
	});
}

/**
 * Chooses the file that is kept: a finished one, or the oldest if none is finished. Moves the other
 * unfinished files, which no execution has returned yet, to the trash.
 * @throws NodeError 409 if the key was used for other content
 */
async function keepOneFile(
	drive: drive_v3.Drive,
	files: readonly File[],
	{ contentHash }: KeyHashes,
) {
	const [keptFile, ...otherFiles] = files.toSorted((a, b) =>
		compareNames(buildSortKey(a), buildSortKey(b)),
	);
	if (!keptFile)
		throw new NodeError({
			code: 503,
			message: `Another execution with the same ${quoteField('idempotencyKey')} put the new file into the trash`,
			description: 'Its own file cannot be found yet. Run this again.',
		});
	for (const file of otherFiles)
		// Another execution may have removed the file already.
		if (!isFinished(file)) await ignoreNotFound(updateFile(drive, file, { trashed: true }));
	if (keptFile.appProperties?.[contentProperty] !== contentHash)
		throw createKeyReusedError(`the file ${keptFile.id ?? ''}`);
	return keptFile;
}

/** Marks an unfinished file with a key as finished. */
export async function markFinished(drive: drive_v3.Drive, file: File): Promise<void> {
	const appProperties = { [stateProperty]: 'done' };
	if (file.appProperties?.[stateProperty] === 'made')
		await updateFile(drive, file, { appProperties });
}

export const isFinished = ({ appProperties }: File) => appProperties?.[stateProperty] === 'done';

/**
 * Builds the key by which all executions sort the files, so that they keep the same one. Finished
 * files come first, then older ones. The ID decides between equal times.
 */
const buildSortKey = (file: File) =>
	`${isFinished(file) ? 0 : 1} ${file.createdTime ?? ''} ${file.id ?? ''}`;

/** Updates a file. The request may be repeated, because a second update has no further effect. */
async function updateFile(drive: drive_v3.Drive, { id }: File, requestBody: File) {
	const request = { fileId: id ?? '', requestBody, supportsAllDrives: true, fields: 'id' };
	await drive.files.update(request, { retryConfig: { httpMethodsToRetry: ['PATCH'] } });
}

/**
 * The private property that marks a file with the marker ID of its item. Drive stores its name.
 * Other apps cannot see it.
 */
const markerProperty = 'creationToken';

interface NewFile {
	readonly kind: 'document' | 'spreadsheet';
	readonly buildUrl: (id: string) => string;
	readonly title: string;
	/** The ID of the folder; '' for the top level of My Drive. */
	readonly parentFolder: string;
	/** The ID of a file to copy. Without it, the new file is empty. */
	readonly templateId?: string;
	readonly keyHashes: KeyHashes | undefined;
	/**
	 * The ID of the file that an earlier request for this item created, if Google's response to
	 * that request did not arrive.
	 */
	readonly recoveredId: string | undefined;
}

/**
 * Creates a document or spreadsheet in a folder, from a template or with a key. Only Drive can do
 * this, not the Docs or Sheets API. Unless the file is finished, the caller then fills it, which
 * several executions with the same key may do, and marks it as finished.
 */
export async function createInDrive(drive: drive_v3.Drive, newFile: NewFile, item: Item) {
	const { keyHashes } = newFile;
	let ownId = newFile.recoveredId;
	let file = await findKeptFile(drive, 'id', keyHashes);
	if (!file) {
		ownId = await createAndRecord(drive, newFile, item);
		file = (await findKeptFile(drive, 'id', keyHashes, ownId)) ?? { id: ownId };
	}
	const id = requireId(file.id);
	// An unfinished file is this item's, too, whichever execution created it.
	if (!isFinished(file))
		item.recordCreated({ kind: newFile.kind, id, url: newFile.buildUrl(id) });
	return { id, file, isRepeated: id !== ownId };
}

/** Creates the file, unless an earlier request did, and records it. @returns its ID */
async function createAndRecord(drive: drive_v3.Drive, newFile: NewFile, item: Item) {
	const keyProperties = newFile.keyHashes && buildKeyProperties(newFile.keyHashes);
	const appProperties = { ...buildMarkerProperty(item.markerId), ...keyProperties };
	const file = newFile.recoveredId
		? { id: newFile.recoveredId }
		: await createOrCopyFile(drive, newFile, appProperties);
	const id = requireId(file.id);
	item.recordCreated({ kind: newFile.kind, id, url: newFile.buildUrl(id) });
	refuseTrashed(file);
	return id;
}

async function createOrCopyFile(
	drive: drive_v3.Drive,
	{ kind, title, parentFolder, templateId }: NewFile,
	appProperties: Properties,
): Promise<File> {
	const request = { supportsAllDrives: true, fields: 'id,trashed' };
	const requestBody: File = { name: title, appProperties };
	// A copy without a parent would be created in the folder of the template.
	if (parentFolder || templateId) requestBody.parents = [parentFolder || 'root'];
	if (templateId)
		return (await drive.files.copy({ ...request, fileId: templateId, requestBody })).data;
	requestBody.mimeType = `${googleTypePrefix}${kind}`;
	return (await drive.files.create({ ...request, requestBody })).data;
}

/**
 * Finds the ID of the file that `createInDrive` created for the item. Needed if Google's response
 * did not arrive.
 */
export const findCreatedId = async (drive: drive_v3.Drive, { markerId }: Item) =>
	(await findFileOfItem(drive, markerId, 'id'))?.id ?? undefined;

/** Explains a failure after which nobody knows whether a file was created. */
export const explainUnknownCreation = (
	failure: NodeError,
	kind: CreatedFile['kind'],
	title: string,
) =>
	failure.with({
		message: `The ${kind} may have been created: ${failure.message}`,
		description: `It was not created again, to avoid duplicates. Look for '${title}' in Google Drive before you run this again.`,
	});

export const buildMarkerProperty = (markerId: string) => ({ [markerProperty]: markerId });

/**
 * Finds the file that was created for an item. Returns undefined if Google does not list the file,
 * or not yet.
 */
export async function findFileOfItem(drive: drive_v3.Drive, markerId: string, fields: string) {
	const q = buildPropertySearch(markerProperty, markerId);
	return (await findFirstFiles(drive, { q, fields })).at(0);
}

const buildPropertySearch = (key: string, value: string) =>
	`appProperties has { key='${key}' and value='${value}' }`;
