import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { ignoreNotFound, isNodeError, NodeError } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { computeMd5 } from '../../byteSource';
import type { UploadedFile } from '../../google/driveUpload';
import { type KeyHashes, createKeyReusedError } from '../../idempotency';
import type { Clients, Item, ByteSource } from '../../operation';
import * as createdFiles from '../createdFiles';
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
] as const satisfies ReadonlyArray<keyof File>;

const resultFields = resultKeys.join(',');

/** The file as Drive gives it, without the keys that it does not give. */
export type FileResult = Pick<File, (typeof resultKeys)[number]>;

/** Compares Drive's checksum with the bytes sent; converted files have none. @throws NodeError that names the file, if they differ */
export function verifyUpload({ file, md5 }: UploadedFile, item: Item): FileResult {
	const { id, md5Checksum, webViewLink } = file;
	if (id) item.recordCreated({ kind: 'file', id, url: webViewLink ?? undefined });
	if (md5Checksum && md5Checksum.toLowerCase() !== md5) {
		throw new NodeError({
			code: 500,
			message: `The file ${id ?? ''} in Google Drive differs from the bytes that were sent: its checksum is ${md5Checksum}, not ${md5}`,
			description: 'Delete the file in Google Drive and upload it again.',
		});
	}
	return toFileResult(file);
}

function toFileResult(file: File): FileResult {
	const given = resultKeys.flatMap((key) => (file[key] == null ? [] : [[key, file[key]] as const]));
	return Object.fromEntries(given);
}

/** The files of that name in the folder, as far as the sign-in sees them; the newest first. */
async function findFilesNamed({ client, params, name }: PreparedUpload): Promise<File[]> {
	const folder = params.parentFolder || 'root';
	const q = `name = ${createdFiles.quoteSearchText(name)} and ${createdFiles.quoteSearchText(folder)} in parents and mimeType != '${createdFiles.googleTypePrefix}folder'`;
	const files = await createdFiles.findFiles(client.drive, q, resultFields, 'createdTime desc');
	// Whether Drive compares names by letter case is not documented.
	return files.filter((file) => file.name === name);
}

/** The ID of the file to replace, if any. @throws NodeError 409 if none may be replaced, several may be meant, or it is of another type */
function findReplaceableId(
	[file, ...more]: readonly File[],
	{ name, target, params }: PreparedUpload,
): string | undefined {
	if (!file) return undefined;
	const { id, mimeType, webViewLink: link } = file;
	if (params.onExisting === 'error')
		throw createConflictError(
			`The folder already has a file named "${name}"`,
			`Nothing was uploaded. The existing file is ${id ?? ''}${link ? ` (${link})` : ''}.`,
		);
	if (more.length > 0)
		throw createConflictError(
			`The folder has ${more.length + 1} files named "${name}"`,
			'Nothing was uploaded. Rename or remove all except the one to replace.',
		);
	const isGoogleFile = mimeType?.startsWith(createdFiles.googleTypePrefix);
	if (mimeType === target || (target === undefined && !isGoogleFile)) return id ?? undefined;
	throw createConflictError(
		`The existing file "${name}" has a different type (${mimeType ?? ''})`,
		`Nothing was uploaded. A Google file can only be replaced by one of the same type. Choose that type in ${quoteField('convertTo')}, or use another name.`,
	);
}

const createConflictError = (message: string, description: string) =>
	new NodeError({ code: 409, message, description });

/** How many IDs one call reserves. The items of a run share the call. */
const idsAtOnce = 50;

/** The ID that is reserved for the file: the same one throughout a run. An item with several files has a call of its own. */
async function reserveFileId(uploading: PreparedUpload): Promise<string | undefined> {
	const { client, item, at, count } = uploading;
	const isOnly = count === 1;
	const block = isOnly ? Math.floor(item.index / idsAtOnce) : `item ${item.index}`;
	const { ids } = await item.once(`reservedFileIds:${block}`, async () => {
		const request = { count: isOnly ? idsAtOnce : count, space: 'drive', type: 'files', fields: 'ids' };
		return (await client.drive.files.generateIds(request)).data;
	});
	return ids?.[isOnly ? item.index % idsAtOnce : at];
}

/** The file that an earlier try of this item created, if there is one. */
export async function findUploadedFile(uploading: PreparedUpload): Promise<File | undefined> {
	const { client, target } = uploading;
	if (target !== undefined) return await createdFiles.findFileOfItem(client.drive, uploading, resultFields);
	const fileId = await reserveFileId(uploading);
	if (!fileId) return undefined;
	const request = { fileId, fields: resultFields, supportsAllDrives: true };
	return (await ignoreNotFound(client.drive.files.get(request)))?.data;
}

/** A line in n8n's log at each tenth of the file. */
function createProgressLog(item: Item) {
	let logged = 0;
	return (sentBytes: number, totalBytes: number) => {
		const tenth = totalBytes === 0 ? 10 : Math.floor((sentBytes * 10) / totalBytes);
		if (tenth <= logged) return;
		logged = tenth;
		item.log(`Upload of item ${item.index}: ${sentBytes} of ${totalBytes} bytes (${tenth * 10}%)`);
	};
}

/** An upload whose parameters are checked and whose content is known. */
export interface PreparedUpload {
	readonly client: Clients;
	readonly params: UploadParams;
	readonly item: Item;
	/** Place of the file among the item's files, from 0. */
	readonly at: number;
	readonly count: number;
	/** The item's token; for each file after the first, with its place. */
	readonly token: string;
	readonly source: ByteSource;
	/** The name of the file in Google Drive. */
	readonly name: string;
	/** Google's own type that the content is converted to, if any. */
	readonly target: string | undefined;
	/** Media type of the bytes. */
	readonly mimeType: string;
}

/** Uploads a file; with a key only once. @param found the file that an earlier try of this item created, if known */
export async function uploadOnce(uploading: PreparedUpload, key: KeyHashes | undefined, found?: File) {
	const { client, source } = uploading;
	if (!key) {
		const made = await uploadUnlessSkipped(uploading);
		return 'instead' in made ? made.instead : made;
	}
	return await createdFiles.createOnce(client.drive, resultFields, {
		key,
		ownId: found?.id ?? undefined,
		create: async (appProperties) => found ?? (await uploadUnlessSkipped(uploading, appProperties)),
		// Drive shows a file only when all of it has arrived, so nothing is missing.
		async finish(file, { isOwn }) {
			if (!isOwn && file.md5Checksum && file.md5Checksum !== (await computeMd5(source))) {
				throw createKeyReusedError(`the file ${file.id ?? ''}`);
			}
			return () => toFileResult(file);
		},
	});
}

/** @returns the new file, or the existing one that is to be used instead */
async function uploadUnlessSkipped(
	uploading: PreparedUpload,
	appProperties?: Readonly<Record<string, string>>,
): Promise<FileResult | { readonly instead: FileResult }> {
	const { client, params, item, source, name, target, mimeType } = uploading;
	const { onExisting, description, parentFolder } = params;
	const existing = onExisting === 'createNew' ? [] : await findFilesNamed(uploading);
	const [newest] = existing;
	if (newest && onExisting === 'skip') {
		item.addHint('Files that already existed in the folder were not uploaded again.');
		return { instead: toFileResult(newest) };
	}
	const pairs = params.properties.map((pair) => [pair.name, pair.value] as const);
	const metadata = {
		name,
		mimeType: target,
		description: description || undefined,
		properties: pairs.length > 0 ? Object.fromEntries(pairs) : undefined,
		appProperties,
	};
	const request = { mimeType, source, fields: resultFields, onProgress: createProgressLog(item) };
	const replacedId = findReplaceableId(existing, uploading);
	if (replacedId !== undefined) {
		return verifyUpload(await client.uploadToDrive({ ...request, metadata, replacedId }), item);
	}
	// Marks the file, so that a later try finds it: by a reserved ID, or by a property if it is converted, because that takes no ID.
	const marker =
		target === undefined
			? { id: await reserveFileId(uploading) }
			: { appProperties: { ...appProperties, ...createdFiles.getItemProperty(uploading) } };
	const parents = parentFolder ? [parentFolder] : undefined;
	const sending = client.uploadToDrive({
		...request,
		metadata: { ...metadata, ...marker, parents },
		findCreated: () => findUploadedFile(uploading),
	});
	const sent = await sending.catch(async (error: unknown) => {
		// 409 is about our own ID: the file exists because an earlier try created it.
		if (!isNodeError(error) || error.code !== 409) throw error;
		const file = await findUploadedFile(uploading).catch(() => {
			throw error.with({ outcome: 'unknown' });
		});
		if (!file) throw error;
		return { file, md5: await computeMd5(source) };
	});
	return verifyUpload(sent, item);
}
