import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { isFailure } from '../../../core/failure';
import { md5Of } from '../../google/md5';
import type { UploadedFile } from '../../google/upload';
import type { Clients, Item, Source } from '../../operation';
import { resultFields } from './result';

/** Prevents a repeated create from creating a second file, or at least finds the first one. */
type Identity = Pick<drive_v3.Schema$File, 'id' | 'appProperties'>;

interface Target {
	readonly convertTo: string;
}

/** Visible to no other app. */
const tokenKey = 'uploadToken';

/** Ids that Google reserves with one call; items of a run share it. */
const idsAtOnce = 50;

/** An id that Google reserved; conversions take none and carry the item's token as a private property instead. */
export async function identityOf(client: Clients, { convertTo }: Target, item: Item): Promise<Identity> {
	if (convertTo !== 'none') return { appProperties: { [tokenKey]: item.token } };
	return { id: await reservedId(client, item) };
}

/** The item's id: the same one whenever it is asked for in a run. */
async function reservedId(client: Clients, item: Item): Promise<string | undefined> {
	const block = Math.floor(item.index / idsAtOnce);
	const { ids } = await item.once(`reservedFileIds:${block}`, async () => {
		const { data } = await client.drive.files.generateIds({
			count: idsAtOnce,
			space: 'drive',
			type: 'files',
			fields: 'ids',
		});
		return data;
	});
	return ids?.[item.index % idsAtOnce];
}

/** The file that an earlier try of this item created, if there is one. */
export async function findUploaded(
	client: Clients,
	{ convertTo }: Target,
	item: Item,
): Promise<drive_v3.Schema$File | undefined> {
	if (convertTo === 'none') return await findById(client, await reservedId(client, item));
	const { data } = await client.drive.files.list({
		q: `appProperties has { key='${tokenKey}' and value='${item.token}' } and trashed = false`,
		fields: `files(${resultFields})`,
		corpora: 'allDrives',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	return data.files?.[0];
}

async function findById(
	client: Clients,
	fileId: string | undefined,
): Promise<drive_v3.Schema$File | undefined> {
	if (!fileId) return undefined;
	const answer = client.drive.files.get({ fileId, fields: resultFields, supportsAllDrives: true });
	return await answer.then(
		({ data }) => data,
		(error: unknown) => {
			if (isFailure(error) && error.code === 404) return undefined;
			throw error;
		},
	);
}

/** 409 for our own ID: the file exists because an earlier try created it. */
export async function orExisting(
	uploading: Promise<UploadedFile>,
	{ client, params, item, source }: { client: Clients; params: Target; item: Item; source: Source },
): Promise<UploadedFile> {
	return await uploading.catch(async (error: unknown) => {
		if (!isFailure(error) || error.code !== 409) throw error;
		const file = await findUploaded(client, params, item).catch(() => {
			throw error.with({ ambiguous: true });
		});
		if (!file) throw error;
		return { file, md5: await md5Of(await source.open()) };
	});
}
