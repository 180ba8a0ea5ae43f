import { refusal } from '../../../core/errors';
import { named } from '../../../fields/naming';
import { type FileKey, missingFolder } from '../createdFiles';
import { md5Of } from '../../google/upload/chunks';
import { hashOf, markOf } from '../../idempotency';
import { defineOperation, type Clients, type Item, type Source } from '../../operation';
import { mediaTypeOf, sourceOf } from './content';
import { findUploaded, verified, type FileResult } from './existingFiles';
import { type Uploading, uploadNow, uploadOnce } from './uploadFile';
import { uploadFields as fields, uploadOptions as options, type UploadParams } from './fields';

const targets: Record<UploadParams['convertTo'], string | undefined> = {
	none: undefined,
	document: 'application/vnd.google-apps.document',
	spreadsheet: 'application/vnd.google-apps.spreadsheet',
	presentation: 'application/vnd.google-apps.presentation',
};

export const upload = defineOperation({
	value: 'upload',
	methods: {
		'drive.files.create': 'drive.file',
		'drive.files.update': 'drive.file',
		'drive.files.list': 'drive.file',
		'drive.files.get': 'drive.file',
		'drive.files.generateIds': 'drive.file',
	},
	name: 'Upload',
	action: 'Upload file to Google Drive',
	description: 'Upload a file to Google Drive, optionally as a Google document, spreadsheet or presentation',
	fields,
	options,
	async execute(client: Clients, params: UploadParams, item: Item): Promise<FileResult> {
		const uploading = await prepared(client, params, item);
		const key = await keyOf(params, uploading.source);
		return key ? await uploadOnce(uploading, key) : await uploadNow(uploading);
	},
	async recover(
		client: Clients,
		params: UploadParams,
		_failure,
		item: Item,
	): Promise<FileResult | undefined> {
		const uploading = await prepared(client, params, item);
		const { source } = uploading;
		const file = await findUploaded(client, params, item);
		if (!file) return undefined;
		const key = await keyOf(params, source);
		const result = verified({ file, md5: await md5Of(await source.open()) }, item);
		return key ? await uploadOnce(uploading, key, file) : result;
	},
	errors: {
		400: `With ${named('convertTo')}, the content must be of a type that Google can convert.`,
		404: missingFolder,
	},
});

async function prepared(client: Clients, params: UploadParams, item: Item): Promise<Uploading> {
	const source = await sourceOf(params, item);
	const name = nameOf(params, source);
	const mimeType = await mediaTypeOf({ name, mimeType: params.mimeType }, source);
	const destination = { name, parentFolder: params.parentFolder, target: targets[params.convertTo] };
	return { client, params, item, source, destination, mimeType };
}

/** @throws NodeError 400 */
function nameOf({ name, contentSource }: UploadParams, source: Source): string {
	if (name.trim() !== '') return name;
	if (contentSource === 'binary' && source.fileName) return source.fileName;
	throw refusal(
		`${named('name')} is required`,
		contentSource === 'binary'
			? 'The binary file has no file name, so enter one.'
			: 'Only a binary file has its own file name.',
	);
}

async function keyOf(params: UploadParams, source: Source): Promise<FileKey | undefined> {
	const { idempotencyKey: key, parentFolder, convertTo } = params;
	const mark = markOf({ key, operation: 'file upload', target: parentFolder });
	if (mark === undefined) return undefined;
	// Of a file that is not converted Drive knows the checksum itself: a large one need not be read twice.
	const digest = convertTo === 'none' ? '' : await md5Of(await source.open());
	return { mark, content: hashOf([convertTo, digest]) };
}
