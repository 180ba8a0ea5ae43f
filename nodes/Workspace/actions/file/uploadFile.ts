import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { ignoreNotFound, isNodeError, NodeError } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { computeMd5 } from '../../byteSource';
import type { UploadedFile } from '../../google/upload';
import { createKeyReusedError } from '../../idempotency';
import type { Clients, Item } from '../../operation';
import * as createdFiles from '../createdFiles';
import type { FileContent } from './content';
import type { UploadParams } from './fields';

type File = drive_v3.Schema$File;

const mainKeys = ['id', 'name', 'mimeType', 'size', 'webViewLink', 'webContentLink'] as const;
const resultKeys = [...mainKeys, 'md5Checksum', 'parents', 'createdTime'] as const;
const resultFields = resultKeys.join(',');

/** What Drive says about a file. A field that Drive did not return is missing. */
export type FileResult = Pick<File, (typeof resultKeys)[number]>;

/** A file to upload. Its parameters are checked. */
interface Upload extends FileContent {
	readonly clients: Clients;
	readonly params: UploadParams;
	readonly item: Item;
	/** The position of the file among the item's files, from 0. */
	readonly fileIndex: number;
}

/** Uploads a file, and with a key only once. */
export async function uploadOnce(upload: Upload): Promise<FileResult> {
	const { clients, source } = upload;
	const keyHashes = await hashUploadKey(upload);
	if (!keyHashes) {
		const result = await uploadFile(upload);
		return 'existingResult' in result ? result.existingResult : result;
	}
	return await createdFiles.createOnce(clients.drive, resultFields, keyHashes, {
		create: async (appProperties) => await uploadFile(upload, appProperties),
		// A file in Drive is complete, because Drive shows it only when all of its bytes have arrived. So only the content is compared.
		async fillContent(file, { isOwn }) {
			if (!isOwn && file.md5Checksum && file.md5Checksum !== (await computeMd5(source)))
				throw createKeyReusedError(`the file ${file.id ?? ''}`);
		},
		readResult: toFileResult,
	});
}

async function hashUploadKey({ params, source, fileIndex }: Upload) {
	const { idempotencyKey, convertTo } = params;
	if (idempotencyKey === '') return undefined;
	// Without a conversion, Drive's checksum of the file is compared, so the content need not be read here.
	const contentMd5 = convertTo === 'none' ? '' : await computeMd5(source);
	// Each file of an item has a key of its own.
	const key = fileIndex === 0 ? idempotencyKey : `${idempotencyKey} file ${fileIndex + 1}`;
	const place = { ...params, idempotencyKey: key };
	return createdFiles.hashFileKey('file upload', place, [convertTo, contentMd5]);
}

/** Uploads a file, unless the user chose to skip existing files. @returns the new file, or `existingResult` for the existing file */
async function uploadFile(upload: Upload, appProperties?: Readonly<Record<string, string>>) {
	const { clients, params, item, source, name, mimeType } = upload;
	const existingFiles = params.onExisting === 'createNew' ? [] : await findFilesByName(upload);
	const [newestFile] = existingFiles;
	if (newestFile && params.onExisting === 'skip') {
		item.addHint('Files that already existed in the folder were not uploaded again.');
		return { existingResult: toFileResult(newestFile) };
	}
	const replacedId = newestFile && getReplaceableId(newestFile, existingFiles.length, upload);
	const metadata = {
		name,
		mimeType: getGoogleType(params),
		description: params.description || undefined,
		appProperties,
	};
	const request = { mimeType, source, fields: resultFields, onProgress: createProgressLog(item) };
	const uploading =
		replacedId === undefined
			? uploadNewFile(upload, { ...request, metadata })
			: clients.uploadToDrive({ ...request, metadata, replacedId });
	return recordAndVerify(await uploading, item);
}

/** The MIME type of the Google file to which the content is converted, if it is. */
const getGoogleType = ({ convertTo }: UploadParams) =>
	convertTo === 'none' ? undefined : `${createdFiles.googleTypePrefix}${convertTo}`;

/** Uploads a file that can be found again. A reserved ID marks it. A converted file cannot have one, so it gets a property. */
async function uploadNewFile(
	upload: Upload,
	request: Parameters<Clients['uploadToDrive']>[0],
): Promise<UploadedFile> {
	const { clients, params, source } = upload;
	const parents = params.parentFolder ? [params.parentFolder] : undefined;
	const metadata: File = { ...request.metadata, parents };
	if (metadata.mimeType === undefined) metadata.id = await reserveId(upload);
	else
		metadata.appProperties = {
			...metadata.appProperties,
			...createdFiles.buildMarkerProperty(getMarkerId(upload)),
		};
	return await clients.uploadToDrive({ ...request, metadata }).catch(async (error: unknown) => {
		// Drive answers 409 if a file with the reserved ID exists. An earlier request created that file.
		const mayExist = isNodeError(error) && (error.code === 409 || error.outcome === 'unknown');
		if (!mayExist) throw error;
		const file = await findUploadedFile(upload).catch(() => {
			throw error.with({ outcome: 'unknown' });
		});
		if (!file) throw error;
		return { file, md5: await computeMd5(source) };
	});
}

/** After the first file of an item, the ID ends with the index of the file. */
const getMarkerId = ({ item: { markerId }, fileIndex }: Upload) =>
	fileIndex === 0 ? markerId : `${markerId}-${fileIndex}`;

/** How many IDs one request reserves. Drive allows up to 1,000. */
const idsPerRequest = 50;

/** Reserves an ID for the file. Another call returns the same ID. The first files of the items share requests, and so do the other files of an item. */
async function reserveId({ clients, item, fileIndex }: Upload): Promise<string | undefined> {
	const isFirst = fileIndex === 0;
	const position = isFirst ? item.index : fileIndex;
	const sharers = isFirst ? 'first files' : `files of item ${item.index}`;
	const key = `IDs of ${sharers} ${Math.floor(position / idsPerRequest)}`;
	const { ids } = await item.doOnce(key, async () => {
		const request = { count: idsPerRequest, space: 'drive', type: 'files', fields: 'ids' };
		return (await clients.drive.files.generateIds(request)).data;
	});
	return ids?.[position % idsPerRequest];
}

/** Finds the file that an earlier request for this upload created, if there is one. */
async function findUploadedFile(upload: Upload): Promise<File | undefined> {
	const { drive } = upload.clients;
	if (getGoogleType(upload.params) !== undefined)
		return await createdFiles.findFileOfItem(drive, getMarkerId(upload), resultFields);
	const fileId = await reserveId(upload);
	if (!fileId) return undefined;
	const request = { fileId, fields: resultFields, supportsAllDrives: true };
	return (await ignoreNotFound(drive.files.get(request)))?.data;
}

/** Records the file, and compares its checksum with that of the sent bytes. Google's own files have none. @throws NodeError 500 if they differ */
function recordAndVerify({ file, md5 }: UploadedFile, item: Item): FileResult {
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
async function findFilesByName({ clients, params, name }: Upload): Promise<File[]> {
	const folder = params.parentFolder || 'root';
	const q = `name = ${createdFiles.quoteSearchText(name)} and ${createdFiles.quoteSearchText(folder)} in parents and mimeType != '${createdFiles.googleTypePrefix}folder'`;
	const files = await createdFiles.findFiles(clients.drive, q, resultFields, 'createdTime desc');
	// Google does not document whether `name =` ignores letter case.
	return files.filter((file) => file.name === name);
}

/** Returns the ID of the file to replace. @throws NodeError 409 if no file may be replaced, several have the name, or the type differs */
function getReplaceableId(
	{ id, mimeType, webViewLink }: File,
	fileCount: number,
	{ name, params }: Upload,
): string | undefined {
	if (params.onExisting === 'error')
		throw createConflictError(
			`The folder already has a file named "${name}"`,
			`The existing file is ${id ?? ''} (${webViewLink ?? ''}).`,
		);
	if (fileCount > 1)
		throw createConflictError(
			`The folder has ${fileCount} files named "${name}"`,
			'Rename or remove all except the one to replace.',
		);
	const googleType = getGoogleType(params);
	const isGoogleFile = mimeType?.startsWith(createdFiles.googleTypePrefix);
	if (mimeType === googleType || (googleType === undefined && !isGoogleFile))
		return id ?? undefined;
	throw createConflictError(
		`The existing file "${name}" has a different type (${mimeType ?? ''})`,
		`A Google file can only be replaced by one of the same type. Choose that type in ${quoteField('convertTo')}, or use another name.`,
	);
}

const createConflictError = (message: string, advice: string) =>
	new NodeError({ code: 409, message, description: `Nothing was uploaded. ${advice}` });

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
