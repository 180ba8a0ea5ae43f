import type { IDataObject } from 'n8n-workflow';

import { named } from '../../../parameters/naming';
import { defineOperation } from '../../operation';

export const read = defineOperation({
	value: 'read',
	methods: {
		'gmail.users.messages.get': 'gmail.readonly',
		'gmail.users.messages.attachments.get': 'gmail.readonly',
	},
	name: 'Read',
	action: 'Read email',
	description: 'Get all of a mail: text, HTML, addresses and attachments',
	readsOnly: true,
	fields: [
		{
			displayName: 'Message ID',
			name: 'messageId',
			type: 'string',
			default: '',
			required: true,
			holds: 'id',
			placeholder: 'e.g. 18c3f0a1b2d4e5f6',
			description: 'ID of the mail, as List and Search give it',
		},
	],
	options: [
		{
			displayName: 'Attachment Prefix',
			name: 'attachmentPrefix',
			type: 'string',
			default: 'attachment_',
			showWhen: { downloadAttachments: [true] },
			description: 'Binary fields of the downloaded attachments are named by it and a number from 0',
		},
		{
			displayName: 'Download Attachments',
			name: 'downloadAttachments',
			type: 'boolean',
			default: false,
			description: 'Whether to add the attachments as binary data, in the order of the list of attachments',
		},
		{
			displayName: 'Include Headers',
			name: 'includeHeaders',
			type: 'boolean',
			default: false,
			description: 'Whether to add all header fields, repeated ones included',
		},
	],
	async execute(client, { messageId, downloadAttachments, includeHeaders }, item) {
		const { fullMessage, downloaded } = await import('./reading/fullMessage');
		const { message, files, headers } = await fullMessage(client, messageId, item);
		return {
			message: { ...message, ...(includeHeaders && { headers }) },
			files: downloadAttachments ? await downloaded(client, message.id, files) : [],
		};
	},
	toItems: ({ message, files }, { attachmentPrefix }) => {
		const named = files.map((file, index) => [`${attachmentPrefix}${index}`, file] as const);
		// The attachments are plain objects; n8n's type wants an index signature.
		const json = message as unknown as IDataObject;
		return [{ json, ...(named.length > 0 && { binary: Object.fromEntries(named) }) }];
	},
	errors: {
		400: `Check ${named('messageId')}: it is made of up to 16 digits and letters from a to f.`,
		404: 'The mail is not in this mailbox; it may have been deleted.',
	},
});
