import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { ignoreNotFound, isNodeError, NodeError } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { computeMd5 } from '../../byteSource';
import type { UploadedFile } from '../../google/upload';
import { type KeyHashes, createKeyReusedError } from '../../idempotency';
import type { Clients, Item, ByteSource } from '../../operation';
import * as createdFiles from '../createdFiles';
import type { UploadParams } from './fields';

type File = drive_v3.Schema$File;

const mainKeys = ['id', 'name', 'mimeType', 'size', 'webViewLink', 'webContentLink'] as const;
const resultKeys = [...mainKeys, 'md5Checksum', 'parents', 'createdTime'] as const;
const resultFields = resultKeys.join(',');

/** What Drive says about a file. A field that Drive did not return is missing. */
export type FileResult = Pick<File, (typeof resultKeys)[number]>;

/** Records the file, and compares its checksum with that of the sent bytes. Google's own files have none. @throws NodeError 500 if they differ */
export function recordAndVerify({ file, md5 }: UploadedFile, item: Item): FileResult {
	const { id, md5Checksum, webViewLink } = file;
	if (id) item.recordCreated({ kind: 'file', id, url: webViewLink ?? undefined });
	if (md5Checksum && md5Checksum.toLowerCase() !== md5)
		throw new NodeError({
			code: 500,
			message: `The file ${id ?? ''} in Google Drive differs from the bytes that were sent: its checksum is ${md5Checksum}, not ${md5}`,
			description: 'Delete the file in Google Drive and upload it again.',
		});
	return toFileResult(file);
}

function toFileResult(file: File): FileResult {
	const pairs = resultKeys.map((key) => [key, file[key]] as const);
	return Object.fromEntries(pairs.filter(([, value]) => value != null));
}

/** Finds the files in the folder with the name of the upload, the newest first. Drive lists only files that the sign-in may see. */
async function findFilesByName({ clients, params, name }: PreparedUpload): Promise<File[]> {
	const folder = params.parentFolder || 'root';
	const q = `name = ${createdFiles.quoteSearchText(name)} and ${createdFiles.quoteSearchText(folder)} in parents and mimeType != '${createdFiles.googleTypePrefix}folder'`;
	const files = await createdFiles.findFiles(clients.drive, q, resultFields, 'createdTime desc');
	// Google does not document whether `name =` ignores letter case.
	return files.filter((file) => file.name === name);
}

/** Returns the ID of the file to replace, if any. @throws NodeError 409 if no file may be replaced, several have the name, or the type differs */
function findReplaceableId(
	existingFiles: readonly File[],
	upload: PreparedUpload,
): string | undefined {
	const [file] = existingFiles;
	if (!file) return undefined;
	const { name, googleType, params } = upload;
	const { id, mimeType, webViewLink: link } = file;
	if (params.onExisting === 'error')
		throw createConflictError(
			`The folder already has a file named "${name}"`,
			`Nothing was uploaded. The existing file is ${id ?? ''}${link ? ` (${link})` : ''}.`,
		);
	if (existingFiles.length > 1)
		throw createConflictError(
			`The folder has ${existingFiles.length} files named "${name}"`,
			'Nothing was uploaded. Rename or remove all except the one to replace.',
		);
	const isGoogleFile = mimeType?.startsWith(createdFiles.googleTypePrefix);
	if (mimeType === googleType || (googleType === undefined && !isGoogleFile))
		return id ?? undefined;
	throw createConflictError(
		`The existing file "${name}" has a different type (${mimeType ?? ''})`,
		`Nothing was uploaded. A Google file can only be replaced by one of the same type. Choose that type in ${quoteField('convertTo')}, or use another name.`,
	);
}

const createConflictError = (message: string, description: string) =>
	new NodeError({ code: 409, message, description });

/** How many IDs one request reserves. The items of a run share the request. Drive allows up to 1,000 IDs. */
const idsPerRequest = 50;

/** Reserves an ID for the file. Another call returns the same ID. One request reserves IDs for several items, or for all files of an item. */
async function reserveId(upload: PreparedUpload): Promise<string | undefined> {
	const { clients, item, fileIndex, fileCount } = upload;
	const isOnlyFile = fileCount === 1;
	const reservationKey = isOnlyFile
		? Math.floor(item.index / idsPerRequest)
		: `item ${item.index}`;
	const { ids } = await item.doOnce(`reservedFileIds:${reservationKey}`, async () => {
		const count = isOnlyFile ? idsPerRequest : fileCount;
		const request = { count, space: 'drive', type: 'files', fields: 'ids' };
		return (await clients.drive.files.generateIds(request)).data;
	});
	return ids?.[isOnlyFile ? item.index % idsPerRequest : fileIndex];
}

/** Finds the file that an earlier request for this upload created, if there is one. */
export async function findUploadedFile(upload: PreparedUpload): Promise<File | undefined> {
	const { googleType, markerId } = upload;
	const { drive } = upload.clients;
	if (googleType !== undefined)
		return await createdFiles.findFileOfItem(drive, markerId, resultFields);
	// If that request failed before an ID was reserved, this ID is new, and no file has it.
	const fileId = await reserveId(upload);
	if (!fileId) return undefined;
	const request = { fileId, fields: resultFields, supportsAllDrives: true };
	return (await ignoreNotFound(drive.files.get(request)))?.data;
}

/** Creates a function that writes a line to n8n's log after each tenth of the file. */
function createProgressLog(item: Item) {
	let loggedTenths = 0;
	return (storedBytes: number, totalBytes: number) => {
		const tenths = totalBytes === 0 ? 10 : Math.floor((storedBytes * 10) / totalBytes);
		if (tenths <= loggedTenths) return;
		loggedTenths = tenths;
		item.log(
			`Upload of item ${item.index}: ${storedBytes} of ${totalBytes} bytes (${tenths * 10}%)`,
		);
	};
}

/** An upload whose parameters are checked and whose content is known. */
export interface PreparedUpload {
	readonly clients: Clients;
	readonly params: UploadParams;
	readonly item: Item;
	/** The position of the file among the item's files, from 0. */
	readonly fileIndex: number;
	readonly fileCount: number;
	/** The marker ID of the item. After the first file, it ends with the index of the file. */
	readonly markerId: string;
	readonly source: ByteSource;
	readonly name: string;
	/** The MIME type of the Google file to which the content is converted, if it is. */
	readonly googleType: string | undefined;
	/** The MIME type of the bytes. */
	readonly mimeType: string;
}

/** Uploads a file, and with a key only once. @param foundFile the file that an earlier request created, so that nothing is sent now */
export async function uploadOnce(upload: PreparedUpload, keyHashes?: KeyHashes, foundFile?: File) {
	const { clients, source } = upload;
	if (!keyHashes) {
		const result = await uploadUnlessSkipped(upload);
		return 'existingResult' in result ? result.existingResult : result;
	}
	return await createdFiles.createOnce(clients.drive, resultFields, keyHashes, {
		recoveredId: foundFile?.id ?? undefined,
		create: async (appProperties) =>
			foundFile ?? (await uploadUnlessSkipped(upload, appProperties)),
		// A file in Drive is complete, because Drive shows it only when all of its bytes have arrived. So only the content is compared.
		async fillContent(file, { isOwn }) {
			if (!isOwn && file.md5Checksum && file.md5Checksum !== (await computeMd5(source)))
				throw createKeyReusedError(`the file ${file.id ?? ''}`);
		},
		readResult: toFileResult,
	});
}

/** Uploads a file, unless the user chose to skip existing files. @returns the new file, or `existingResult` for the existing file */
async function uploadUnlessSkipped(
	upload: PreparedUpload,
	appProperties?: Readonly<Record<string, string>>,
) {
	const { clients, params, item, source, name, googleType, mimeType } = upload;
	const { onExisting, description, parentFolder } = params;
	const existingFiles = onExisting === 'createNew' ? [] : await findFilesByName(upload);
	const [newestFile] = existingFiles;
	if (newestFile && onExisting === 'skip') {
		item.addHint('Files that already existed in the folder were not uploaded again.');
		return { existingResult: toFileResult(newestFile) };
	}
	const metadata = {
		name,
		mimeType: googleType,
		description: description || undefined,
		appProperties,
	};
	const request = { mimeType, source, fields: resultFields, onProgress: createProgressLog(item) };
	const replacedId = findReplaceableId(existingFiles, upload);
	if (replacedId !== undefined)
		return recordAndVerify(
			await clients.uploadToDrive({ ...request, metadata, replacedId }),
			item,
		);
	// The file must be found again after an unknown outcome. A reserved ID marks it. A converted file cannot have one, so it gets a property.
	const marker =
		googleType === undefined
			? { id: await reserveId(upload) }
			: {
					appProperties: {
						...appProperties,
						...createdFiles.buildMarkerProperty(upload.markerId),
					},
				};
	const uploading = clients.uploadToDrive({
		...request,
		metadata: { ...metadata, ...marker, parents: parentFolder ? [parentFolder] : undefined },
		findCreated: () => findUploadedFile(upload),
	});
	const uploadedFile = await uploading.catch(async (error: unknown) => {
		// Drive answers 409 if a file with the reserved ID exists. An earlier request created that file.
		if (!isNodeError(error) || error.code !== 409) throw error;
		const file = await findUploadedFile(upload).catch(() => {
			throw error.with({ outcome: 'unknown' });
		});
		if (!file) throw error;
		return { file, md5: await computeMd5(source) };
	});
	return recordAndVerify(uploadedFile, item);
}
