import { quoteField } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { openUpload, prepareUpload } from './content';
import { uploadFields as fields, uploadOptions as options } from './fields';
import { type FileResult, uploadOnce } from './uploadFile';

export const upload = defineOperation({
	value: 'upload',
	name: 'Upload',
	action: 'Upload file to Google Drive',
	description:
		'Upload a file to Google Drive, optionally as a Google document, spreadsheet or presentation',
	modelDescription: 'Save a file in Google Drive. Returns its ID and link.',
	fields,
	options,
	prepare: prepareUpload,
	async send(clients, params, item) {
		const files: FileResult[] = [];
		for (const fileIndex of params.binaryFields.keys())
			files.push(await uploadOnce(await openUpload(clients, params, item, fileIndex)));
		return files;
	},
	toItems: (files) => files.map((file) => ({ json: { ...file } })),
	nameResult: (files) =>
		files.map(({ id, name }) => `file ${name ?? ''} (ID ${id ?? ''})`).join(', '),
	advice: {
		drive: {
			400: `With ${quoteField('convertTo')}, the content must be of a type that Google can convert.`,
		},
	},
});
