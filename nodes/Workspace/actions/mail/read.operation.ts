import type { IDataObject } from 'n8n-workflow';

import { quoteField } from '../../../fields/field';
import { startCharacterOption } from '../../../fields/commonOptions';
import { onlyFilesOption } from '../onlyFiles';
import { messageIdField } from '../../locators';
import { defineOperation, type StoredBinary } from '../../operation';
import { changesLabels, labelOptions, nameChangedEmails, newTextOnlyOption } from './list/fields';
import { toMailItem } from './mailItem';
import { toConversationAnswer, toMailAnswer } from './modelMails';

export const read = defineOperation({
	value: 'read',
	name: 'Read',
	action: 'Read email',
	description: 'Get a whole email or its conversation: text, HTML, addresses and attachments',
	modelDescription: 'Read an email in Gmail by its ID, which listing or searching emails gives.',
	fields: [
		{
			displayName: 'Message ID',
			name: 'messageId',
			...messageIdField,
			required: true,
			description: 'ID of the message, as returned by List and Search',
		},
	],
	mayChange: changesLabels,
	// Labels that were changed are not changed again.
	isIdempotent: () => true,
	options: [
		...labelOptions,
		{
			displayName: 'Attachment Prefix',
			name: 'attachmentPrefix',
			onlyIn: 'json',
			type: 'string',
			default: 'attachment_',
			description: 'What the names of the binary fields begin with',
		},
		{
			displayName: 'Download Attachments',
			name: 'downloadAttachments',
			type: 'boolean',
			default: false,
			description:
				'Whether to add the attachments as binary data, in the order of the attachments list: attachment_0, attachment_1 and so on',
		},
		{
			displayName: 'Headers',
			name: 'includeHeaders',
			type: 'boolean',
			default: false,
			description: 'Whether to include all header fields, including repeated ones',
		},
		newTextOnlyOption,
		{ ...onlyFilesOption, showWhen: { downloadAttachments: [true] } },
		startCharacterOption,
		{
			displayName: 'Whole Conversation',
			name: 'wholeConversation',
			type: 'boolean',
			default: false,
			description:
				'Whether to return all messages of the conversation, one item each, oldest first',
		},
	],
	async send(clients, params, item) {
		const message = await import('./message');
		const { changeLabels, prepareLabelChange } = await import('./list/labels');
		const labelChange = await prepareLabelChange(clients, params, item);
		const mails = params.wholeConversation
			? await message.fetchConversation(clients, params, item)
			: [await message.fetchMail(clients, params.messageId, item, params)];
		// One email after another, because each may have 25 MB of attachments.
		const files: StoredBinary[][] = [];
		for (const mail of mails)
			files.push(await message.storeAttachments(clients, mail, params, item));
		const ids = mails.map(({ summary }) => summary.id);
		await changeLabels(clients, labelChange, ids, item);
		return { mails, files };
	},
	toItems: ({ mails, files }, { attachmentPrefix, includeHeaders, startCharacter }) =>
		mails.map((mail, index) => {
			const json: IDataObject = {
				...mail.summary,
				cc: mail.cc,
				bcc: mail.bcc,
				replyTo: mail.replyTo,
				text: mail.text.slice(startCharacter),
				html: mail.html,
				attachments: mail.attachments,
			};
			if (includeHeaders) json['headers'] = mail.headers;
			return toMailItem(json, files[index], attachmentPrefix);
		}),
	nameResult: ({ mails }) => nameChangedEmails(mails.map(({ summary }) => summary)),
	toModel({ mails }, { startCharacter, includeHeaders }) {
		const [mail, ...otherMails] = mails;
		return mail && otherMails.length === 0
			? toMailAnswer(mail, startCharacter, includeHeaders)
			: toConversationAnswer(mails, includeHeaders);
	},
	advice: {
		mail: {
			400: `Check ${quoteField('messageId')}. It consists of up to 16 digits and letters from a to f.`,
			404: 'The email is not in this mailbox. It may have been deleted.',
		},
	},
});
