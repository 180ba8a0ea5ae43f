import { textType } from '../../../fields/field';
import { idempotencyOption } from '../../idempotency';
import { messageIdField } from '../../locators';
import type { Field, InferParameters } from '../../operation';
import { buildParentFolderField } from '../newFileFields';
import { onlyFilesOption } from '../onlyFiles';

export const uploadFields = [
	{
		displayName: 'Files',
		name: 'binaryPropertyName',
		type: 'string',
		default: '',
		format: 'list',
		namesFiles: true,
		mayBeEmpty: true,
		showWhen: { contentSource: ['binary'] },
		placeholder: 'All files of the item',
		description:
			'The binary fields of the input item that hold the files, separated by commas or new lines. Leave empty to upload all files of the item. Each file gets an item of its own.',
	},
	buildParentFolderField('The folder or shared drive to upload to. Leave empty to use My Drive.'),
	{
		displayName: 'Name',
		name: 'name',
		...textType,
		placeholder: 'e.g. report.pdf',
		description:
			'The name of the file in Google Drive. Leave empty to keep the name of the binary file or attachment.',
	},
	{
		displayName: 'Content Source',
		name: 'contentSource',
		type: 'options',
		default: 'binary',
		jsonDefault: 'base64',
		options: [
			{ name: 'Base64 Text', value: 'base64', description: 'Content given as base64 text' },
			{
				name: 'Email Attachment',
				value: 'mailAttachment',
				description: 'An attachment of an email in Gmail',
			},
			{
				name: 'File Path',
				value: 'filePath',
				description: 'A file on the machine that n8n runs on',
			},
			{
				name: 'Input Files',
				value: 'binary',
				description: 'The binary fields of the input item',
			},
			{
				name: 'Text',
				value: 'text',
				description: 'Content given as plain text, stored as UTF-8',
			},
		],
		description: 'Where the content comes from',
	},
	{
		displayName: 'Content',
		name: 'content',
		...textType,
		showWhen: { contentSource: ['base64', 'filePath', 'text'] },
		// JSON must have the key. An empty text is an empty file, and the operation itself refuses
		// an empty path.
		required: true,
		requiredInForm: false,
		mayBeEmpty: true,
		description:
			"The content as plain text or base64 text, or the path of the file. n8n's file access rules apply to paths.",
	},
	{
		displayName: 'Message ID',
		name: 'messageId',
		...messageIdField,
		showWhen: { contentSource: ['mailAttachment'] },
		required: true,
		requiredInForm: false,
		description:
			'ID of the email that has the attachment, as returned by List, Search and Read',
	},
	{
		displayName: 'Attachment',
		name: 'attachment',
		...textType,
		showWhen: { contentSource: ['mailAttachment'] },
		required: true,
		requiredInForm: false,
		placeholder: 'e.g. invoice.pdf',
		description: 'File name of the attachment, or its attachmentId as returned by Read',
	},
	{
		displayName: 'MIME Type',
		name: 'mimeType',
		...textType,
		placeholder: 'e.g. application/pdf',
		description: 'MIME type of the content. Leave empty to detect it from the file name.',
	},
] as const satisfies readonly Field[];

export const uploadOptions = [
	{
		displayName: 'Convert To',
		name: 'convertTo',
		type: 'options',
		default: 'none',
		options: [
			{ name: 'None', value: 'none', description: 'Keep the file unchanged' },
			{ name: 'Google Document', value: 'document' },
			{ name: 'Google Spreadsheet', value: 'spreadsheet' },
			{ name: 'Google Presentation', value: 'presentation' },
		],
		description: 'The Google file type to convert the content to',
	},
	{
		displayName: 'Description',
		name: 'description',
		...textType,
		description: "The file's description in Google Drive",
	},
	{
		...idempotencyOption,
		description: `${idempotencyOption.description} A file that was moved to the trash is uploaded again.`,
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
				description: 'Google Drive allows several files with the same name',
			},
			{
				name: 'Fail the Item',
				value: 'error',
				description: 'Upload nothing and report the existing file',
			},
			{
				name: 'Replace Its Content',
				value: 'replace',
				description:
					'The file keeps its ID, links and sharing. Google Drive keeps the old version for a while.',
			},
			{ name: 'Skip the Upload', value: 'skip', description: 'Return the existing file' },
		],
		description:
			'What to do if the folder already has a file with this name. If Drive Access is set to App Files, the node only sees files of this app.',
	},
	{ ...onlyFilesOption, showWhen: { contentSource: ['binary'] } },
] as const satisfies readonly Field[];

export type UploadParams = InferParameters<typeof uploadFields, typeof uploadOptions>;
