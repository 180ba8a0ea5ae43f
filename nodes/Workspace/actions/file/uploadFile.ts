import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { ignoreNotFound, isNodeError, NodeError } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { computeMd5 } from '../../byteSource';
import type { KeyHashes } from '../../idempotency';
import { type Clients, requireId } from '../../operation';
import * as createdFiles from '../createdFiles';
import { findFirstFiles, quoteSearchText } from '../driveSearch';
import type { Upload } from './content';
import type { UploadParams } from './fields';

type File = drive_v3.Schema$File;

const resultKeys = [
	'id',
	'name',
	'mimeType',
	'size',
	'webViewLink',
	'webContentLink',
	'md5Checksum',
	'parents',
	'createdTime',
] as const;
const resultFields = [...resultKeys, 'trashed'].join(',');

/** What Drive says about a file. A field that Drive did not return is missing. */
export type FileResult = Pick<File, (typeof resultKeys)[number]> & { readonly repeated?: true };

/**
 * Uploads a file, and with a key only once. If the user chose to skip existing files, returns an
 * existing one.
 */
export async function uploadOnce(upload: Upload): Promise<FileResult> {
	const { drive } = upload.clients;
	const keyHashes = await hashUploadKey(upload);
	let ownId: string | undefined;
	let file = await createdFiles.findKeptFile(drive, resultFields, keyHashes);
	if (!file) {
		const existingFile = await findExistingFile(upload);
		if (existingFile && upload.params.onExisting === 'skip') {
			upload.item.addHint(
				'Files that already existed in the folder were not uploaded again.',
			);
			return toFileResult(existingFile);
		}
		const ownFile = await uploadFile(upload, existingFile, keyHashes);
		ownId = requireId(ownFile.id);
		file = (await createdFiles.findKeptFile(drive, resultFields, keyHashes, ownId)) ?? ownFile;
	}
	const isOwn = file.id === ownId;
	// The execution that created it may have failed because of these bytes.
	if (!isOwn && !createdFiles.isFinished(file))
		refuseDamagedFile(upload, file, await computeMd5(upload.source));
	// Drive shows a file only when all of its bytes have arrived, so a file that another execution
	// created is finished, too.
	await createdFiles.markFinished(drive, file);
	const result = toFileResult(file);
	return isOwn ? result : { ...result, repeated: true };
}

async function hashUploadKey({ params, source, fileIndex }: Upload) {
	const { idempotencyKey, convertTo } = params;
	if (idempotencyKey === '') return undefined;
	// For the key, each file of an item is an operation of its own.
	const operation = fileIndex === 0 ? 'file upload' : `file upload ${fileIndex + 1}`;
	return createdFiles.hashFileKey(operation, params, [convertTo, await computeMd5(source)]);
}

/**
 * Uploads a file or replaces an existing one, records it, and compares its checksum with that of
 * the sent bytes.
 */
async function uploadFile(
	upload: Upload,
	replacedFile: File | undefined,
	keyHashes: KeyHashes | undefined,
): Promise<File> {
	const metadata: File = {
		name: upload.name,
		mimeType: getGoogleType(upload.params),
		description: upload.params.description || undefined,
		appProperties: keyHashes && createdFiles.buildKeyProperties(keyHashes),
	};
	const request = {
		mimeType: upload.mimeType,
		source: upload.source,
		fields: resultFields,
		metadata,
	};
	const { file, md5 } = replacedFile
		? await upload.clients.uploadToDrive({ ...request, replacedId: requireId(replacedFile.id) })
		: await sendNewFile(upload, request);
	const id = requireId(file.id);
	upload.item.recordCreated({ kind: 'file', id, url: file.webViewLink ?? undefined });
	refuseDamagedFile(upload, file, md5);
	createdFiles.refuseTrashed(file);
	return file;
}

/**
 * @throws NodeError 500 if a file has another checksum than the sent bytes. Google's own files have
 * none.
 */
function refuseDamagedFile({ params }: Upload, { id, md5Checksum }: File, md5: string): void {
	if (!md5Checksum || md5Checksum.toLowerCase() === md5) return;
	throw new NodeError({
		code: 500,
		message: `The file ${id ?? ''} in Google Drive differs from the bytes that were sent: its checksum is ${md5Checksum}, not ${md5}`,
		description:
			params.onExisting === 'replace'
				? 'Upload it again to replace the content.'
				: 'Delete the file in Google Drive and upload it again.',
		outcome: 'done',
	});
}

/** The MIME type of the Google file to which the content is converted, if it is. */
const getGoogleType = ({ convertTo }: UploadParams) =>
	convertTo === 'none' ? undefined : `${createdFiles.googleTypePrefix}${convertTo}`;

/**
 * Uploads a file that can be found again. A reserved ID marks it. A converted file cannot have one,
 * so it gets a property.
 */
async function sendNewFile(upload: Upload, request: Parameters<Clients['uploadToDrive']>[0]) {
	const { clients, params, item, fileIndex } = upload;
	const metadata = { ...request.metadata };
	if (params.parentFolder) metadata.parents = [params.parentFolder];
	const markerId = `${item.markerId}-${fileIndex}`;
	if (params.convertTo === 'none') metadata.id = await takeReservedId(upload);
	else {
		const marker = createdFiles.buildMarkerProperty(markerId);
		metadata.appProperties = { ...metadata.appProperties, ...marker };
	}
	const sending = clients.uploadToDrive({ ...request, metadata });
	return await sending.catch(async (error: unknown) => {
		// Drive answers 409 if a file with the reserved ID exists.
		const mayExist = isNodeError(error) && (error.code === 409 || error.outcome === 'unknown');
		if (!mayExist) throw error;
		const file = await findSentFile(clients.drive, metadata.id, markerId).catch(() => {
			throw error.with({ outcome: 'unknown' });
		});
		if (!file) throw error;
		return { file, md5: await computeMd5(upload.source) };
	});
}

/** How many IDs one request reserves. Drive allows up to 1,000. */
const idsPerRequest = 50;

/** Takes an ID for a new file. All files of a run share the reserved IDs. */
async function takeReservedId({ clients, item }: Upload) {
	const reservedIds = await item.doOnce('reserved IDs', () => Promise.resolve<string[]>([]));
	if (reservedIds.length === 0) {
		const request = { count: idsPerRequest, fields: 'ids' };
		reservedIds.push(...((await clients.drive.files.generateIds(request)).data.ids ?? []));
	}
	return reservedIds.shift();
}

/** Finds the file that an earlier request created, if there is one. */
async function findSentFile(drive: drive_v3.Drive, reservedId: File['id'], markerId: string) {
	if (!reservedId) return await createdFiles.findFileOfItem(drive, markerId, resultFields);
	const request = { fileId: reservedId, fields: resultFields, supportsAllDrives: true };
	return (await ignoreNotFound(drive.files.get(request)))?.data;
}

function toFileResult(file: File): FileResult {
	const pairs = resultKeys.map((key) => [key, file[key]] as const);
	return Object.fromEntries(pairs.filter(([, value]) => value != null));
}

/**
 * Finds the existing file that is replaced or returned, unless a new file is wanted anyway.
 * @throws NodeError 409 if a file exists and must not be replaced
 */
async function findExistingFile(upload: Upload): Promise<File | undefined> {
	const { params, name } = upload;
	const { onExisting } = params;
	if (onExisting === 'createNew') return undefined;
	const [file, ...otherFiles] = await findFilesByName(upload);
	if (!file || onExisting === 'skip') return file;
	const isGoogleFile = file.mimeType?.startsWith(createdFiles.googleTypePrefix);
	const hasSameType = getGoogleType(params) === (isGoogleFile ? file.mimeType : undefined);
	if (onExisting === 'replace' && hasSameType && otherFiles.length === 0) return file;
	throw new NodeError({
		code: 409,
		message: `The folder already has a file named "${name}"`,
		description: `Nothing was uploaded. The existing file is ${file.id ?? ''} (${file.webViewLink ?? ''}) of the type ${file.mimeType ?? ''}. It can only be replaced if it is the only one with this name and, as a Google file, has the type in ${quoteField('convertTo')}.`,
	});
}

/**
 * Finds the files in the folder with the name of the upload, the newest first. Drive lists only
 * files that the sign-in may see.
 */
async function findFilesByName({ clients, params, name }: Upload) {
	const folder = params.parentFolder || 'root';
	const q = `name = ${quoteSearchText(name)} and ${quoteSearchText(folder)} in parents and mimeType != '${createdFiles.googleTypePrefix}folder'`;
	const orderBy = 'createdTime desc';
	const files = await findFirstFiles(clients.drive, { q, fields: resultFields, orderBy });
	// Google does not document whether `name =` ignores letter case.
	return files.filter((file) => file.name === name);
}
