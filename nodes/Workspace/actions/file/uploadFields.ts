import { idempotencyOption } from '../../idempotency';
import type { Field, ParamsOf } from '../../operation';

export const uploadFields = [
	{
		displayName: 'File Name',
		name: 'name',
		type: 'string',
		default: '',
		placeholder: 'e.g. report.pdf',
		description: 'The name of the file in Google Drive. Leave empty to keep the name of the binary file.',
	},
	{
		displayName: 'Content Source',
		name: 'contentSource',
		type: 'options',
		default: 'binary',
		jsonDefault: 'base64',
		options: [
			{ name: 'Binary Field', value: 'binary', description: 'A binary field of the input item' },
			{ name: 'Base64 Text', value: 'base64', description: 'Content given as base64 text' },
			{ name: 'File Path', value: 'filePath', description: 'A file on the machine that runs n8n' },
			{ name: 'Text', value: 'text', description: 'Content given as plain text, stored as UTF-8' },
		],
		description: 'Where the content comes from',
	},
	{
		displayName: 'Input Data Field Name',
		name: 'binaryPropertyName',
		type: 'string',
		default: 'data',
		showWhen: { contentSource: ['binary'] },
		placeholder: 'e.g. data',
		hint: 'The name of the input field containing the binary file data to be uploaded',
		description: 'The binary field of the input item that holds the file',
	},
	{
		displayName: 'Content',
		name: 'content',
		type: 'string',
		default: '',
		showWhen: { contentSource: ['base64', 'filePath', 'text'] },
		required: true,
		requiredInForm: false,
		mayBeEmpty: true,
		description:
			"The content as plain text or base64 text, or the path of the file. A path is read under this n8n's own rules for file access.",
	},
	{
		displayName: 'Media Type',
		name: 'mimeType',
		type: 'string',
		default: '',
		placeholder: 'e.g. application/pdf',
		description: 'The kind of the content. Leave empty to take it from the file name.',
	},
	{
		displayName: 'Parent Folder',
		name: 'parentFolder',
		type: 'resourceLocator',
		default: { __rl: true, mode: 'list', value: '' },
		holds: 'fileId',
		searchListMethod: 'searchFolders',
		description: 'The folder or shared drive for the file. Leave empty for the top of My Drive.',
	},
] as const satisfies readonly Field[];

export const uploadOptions = [
	{
		displayName: 'Convert To',
		name: 'convertTo',
		type: 'options',
		default: 'none',
		options: [
			{ name: 'None', value: 'none', description: 'Keep the file as it is' },
			{ name: 'Google Document', value: 'document' },
			{ name: 'Google Spreadsheet', value: 'spreadsheet' },
			{ name: 'Google Presentation', value: 'presentation' },
		],
		description: 'Whether Google Drive turns the content into a file of its own',
	},
	{
		displayName: 'Description',
		name: 'description',
		type: 'string',
		default: '',
		description: "The file's description in Google Drive",
	},
	{
		...idempotencyOption,
		description: `${idempotencyOption.description} The file must still be there: one in the trash is made anew.`,
	},
	{
		displayName: 'If the File Exists',
		name: 'onExisting',
		type: 'options',
		default: 'createNew',
		options: [
			{
				name: 'Create Another',
				value: 'createNew',
				description: 'Google Drive allows files of the same name',
			},
			{
				name: 'Fail the Item',
				value: 'error',
				description: 'Upload nothing and report the file that is there',
			},
			{
				name: 'Replace Its Content',
				value: 'replace',
				description:
					'The file keeps its ID, links and sharing; Google Drive keeps the old version for a while',
			},
			{ name: 'Skip the Upload', value: 'skip', description: 'Return the file that is there' },
		],
		description:
			'What to do when the folder has a file of that name. With Drive Access to app files, only files of this app are seen.',
	},
	{
		displayName: 'Properties',
		name: 'properties',
		type: 'fixedCollection',
		default: {},
		holds: 'pairs',
		pair: { group: 'property', key: 'key' },
		description: 'Keys and values that are kept with the file and visible to every app that sees it',
	},
] as const satisfies readonly Field[];

export type UploadParams = ParamsOf<typeof uploadFields, typeof uploadOptions>;
