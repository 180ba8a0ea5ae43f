import { named } from '../../fieldNames';
import { defineOperation, type Clients, type Item, type ParamsOf } from '../../operation';
import { md5Of } from '../../google/md5';
import { sourceOf } from './content';
import { findUploaded, identityOf, orExisting } from './identity';
import { mediaTypeOf } from './mediaType';
import { progressLog } from './progress';
import { resultFields, verified, type FileResult } from './result';
import { uploadFields as fields, uploadOptions as options } from './uploadFields';

export type UploadParams = ParamsOf<typeof fields, typeof options>;

const targets: Record<UploadParams['convertTo'], string | undefined> = {
	none: undefined,
	document: 'application/vnd.google-apps.document',
	spreadsheet: 'application/vnd.google-apps.spreadsheet',
	presentation: 'application/vnd.google-apps.presentation',
};

export const upload = defineOperation({
	value: 'upload',
	name: 'Upload',
	action: 'Upload file',
	description: 'Upload a file to Google Drive, also as a Google document, spreadsheet or presentation',
	fields,
	options,
	async execute(client: Clients, params: UploadParams, item: Item): Promise<FileResult> {
		const source = await sourceOf(params, item);
		const mimeType = await mediaTypeOf(params, source);
		const { name, description, parentFolder, properties, convertTo } = params;
		const uploading = client.resumableUpload({
			metadata: {
				...(await identityOf(client, params, item)),
				name,
				mimeType: targets[convertTo],
				description: description || undefined,
				parents: parentFolder ? [parentFolder] : undefined,
				properties: properties.length > 0 ? propertiesOf(properties) : undefined,
			},
			mimeType,
			source,
			fields: resultFields,
			signal: item.signal,
			onProgress: progressLog(item),
			findExisting: () => findUploaded(client, params, item),
		});
		return verified(await orExisting(uploading, { client, params, item, source }), item);
	},
	async recover(
		client: Clients,
		params: UploadParams,
		_failure,
		item: Item,
	): Promise<FileResult | undefined> {
		const file = await findUploaded(client, params, item);
		return file && verified({ file, md5: await md5Of(await (await sourceOf(params, item)).open()) }, item);
	},
	errors: {
		400: `With ${named('convertTo')}, the content must be of a kind that Google can convert.`,
		404: 'Check the folder: it must exist, and this sign-in must see it.',
	},
});

function propertiesOf(pairs: UploadParams['properties']): Record<string, string> {
	return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
