import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { type FileKey, madeOnce } from '../createdFiles';
import { md5Of } from '../../google/upload/chunks';
import { usedBefore } from '../../idempotency';
import type { Clients, Item, Source } from '../../operation';
import {
	type Destination,
	existsAlready,
	type FileResult,
	filesNamed,
	findUploaded,
	identityOf,
	orExisting,
	replaceable,
	resultFields,
	resultOf,
	verified,
} from './existingFiles';
import type { UploadParams } from './fields';

/** A line in n8n's log at each tenth of the file. */
function progressLog(item: Item): (sentBytes: number, totalBytes: number) => void {
	let logged = 0;
	return (sentBytes, totalBytes) => {
		const tenth = totalBytes === 0 ? 10 : Math.floor((sentBytes * 10) / totalBytes);
		if (tenth <= logged) return;
		logged = tenth;
		item.log(`Upload of item ${item.index}: ${sentBytes} of ${totalBytes} bytes (${tenth * 10}%)`);
	};
}

type File = drive_v3.Schema$File;

/** One upload, all of it checked. */
export interface Uploading {
	readonly client: Clients;
	readonly params: UploadParams;
	readonly item: Item;
	readonly source: Source;
	readonly destination: Destination;
	/** Media type of the bytes. */
	readonly mimeType: string;
}

interface Uploaded {
	readonly file: FileResult;
	/** Existed before and stays unchanged. */
	readonly skipped?: true;
}

export async function uploadNow(uploading: Uploading): Promise<FileResult> {
	return (await uploaded(uploading, {})).file;
}

/** @param found the file that an earlier try of this item created, if known */
export async function uploadOnce(uploading: Uploading, key: FileKey, found?: File): Promise<FileResult> {
	const { client, item, source } = uploading;
	let skipped: FileResult | undefined;
	const once = await madeOnce(client.drive, resultFields, {
		key,
		ownId: found?.id ?? undefined,
		async make(appProperties) {
			if (found) return { ...found, appProperties };
			const made = await uploaded(uploading, appProperties);
			if (made.skipped) skipped = made.file;
			else if (made.file.id) item.made({ kind: 'file', id: made.file.id });
			return made.skipped ? undefined : { ...made.file, appProperties };
		},
		// Drive shows a file only when all of it has arrived.
		complete: () => Promise.resolve(),
		async result(file, isOwn) {
			if (!isOwn && file.md5Checksum && file.md5Checksum !== (await md5Of(await source.open()))) {
				throw usedBefore(`the file ${file.id ?? ''}`);
			}
			return resultOf(file);
		},
	});
	const result = once ?? skipped;
	if (!result) throw new Error('Nothing was uploaded, and no file existed');
	return result;
}

async function uploaded(
	{ client, params, item, source, destination, mimeType }: Uploading,
	appProperties: Readonly<Record<string, string>>,
): Promise<Uploaded> {
	const { onExisting, convertTo } = params;
	const existing = onExisting === 'createNew' ? [] : await filesNamed(client, destination);
	const [newest] = existing;
	if (newest && onExisting === 'error') throw existsAlready(newest);
	if (newest && onExisting === 'skip') {
		item.hint('Files that already existed in the folder were not uploaded again.');
		return { file: resultOf(newest), skipped: true };
	}
	const { name, target, parentFolder } = destination;
	const request = {
		metadata: { name, mimeType: target, ...metadataOf(params), ...given({ appProperties }) },
		mimeType,
		source,
		fields: resultFields,
		signal: item.signal,
		onProgress: progressLog(item),
	};
	const replaces = replaceable(existing, destination);
	if (replaces !== undefined) {
		return { file: verified(await client.resumableUpload({ ...request, replaces }), item) };
	}
	const identity = await identityOf(client, params, item);
	const sending = client.resumableUpload({
		...request,
		metadata: {
			...request.metadata,
			...identity,
			...given({ appProperties: { ...appProperties, ...identity.appProperties } }),
			parents: parentFolder ? [parentFolder] : undefined,
		},
		findExisting: () => findUploaded(client, { convertTo }, item),
	});
	return { file: verified(await orExisting(sending, { client, params, item, source }), item) };
}

function metadataOf({ description, properties }: UploadParams): File {
	const pairs = properties.map(({ name, value }) => [name, value]);
	return {
		description: description || undefined,
		...given({ properties: Object.fromEntries(pairs) as Record<string, string> }),
	};
}

/** Without what is empty. */
function given(maps: Readonly<Record<string, Readonly<Record<string, string>>>>): File {
	return Object.fromEntries(Object.entries(maps).filter(([, map]) => Object.keys(map).length > 0));
}
