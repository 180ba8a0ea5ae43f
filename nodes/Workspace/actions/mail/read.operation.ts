import type { IDataObject } from 'n8n-workflow';

import { quoteField } from '../../../fields/field';
import type { Mail } from '../../../untrusted/mail/readMail';
import { startCharacterOption } from '../../../fields/params';
import { onlyFilesOption } from '../onlyFiles';
import { messageIdField } from '../../locators';
import { defineOperation, type StoredBinary } from '../../operation';
import { changesLabels, labelOptions, newTextOnlyOption } from './list/fields';
import { toMailItem } from './list/listDefinition';
import { toMailAnswer } from './modelMails';

interface MailWithFiles {
	readonly mail: Mail;
	readonly files: readonly StoredBinary[];
}

export const read = defineOperation({
	value: 'read',
	name: 'Read',
	action: 'Read email',
	description: 'Get a whole email or its conversation: text, HTML, addresses and attachments',
	modelDescription: 'Read an email in Gmail by its ID, which listing or searching emails gives.',
	isReadOnlyByDefault: true,
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
	options: [
		...labelOptions,
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
		const { storeAttachments, fetchConversation, fetchMail } = await import('./message');
		const { changeLabels, prepareLabelChange } = await import('./list/labels');
		const { messageId, wholeConversation, downloadAttachments, onlyFiles } = params;
		const labelChange = await prepareLabelChange(clients, params, item);
		const mails = wholeConversation
			? await fetchConversation(clients, messageId, item, params)
			: [await fetchMail(clients, messageId, item, params)];
		const results: MailWithFiles[] = [];
		// One email after another, because each may have 25 MB of attachments.
		for (const mail of mails) {
			const files = downloadAttachments
				? await storeAttachments(clients, mail, item, onlyFiles)
				: [];
			results.push({ mail, files });
		}
		const ids = mails.map(({ summary }) => summary.id);
		await changeLabels(clients, labelChange, ids, item);
		return results;
	},
	toItems: (mails, { includeHeaders, startCharacter }) =>
		mails.map(({ mail, files }) => {
			const { summary, cc, bcc, replyTo, html, attachments, headers } = mail;
			const text = mail.text.slice(startCharacter);
			const content = { cc, bcc, replyTo, text, html, attachments };
			const json: IDataObject = { ...summary, ...content };
			if (includeHeaders) json['headers'] = headers;
			return toMailItem(json, files);
		}),
	toModel: (mails, params) => toMailAnswer(mails, params),
	adviceByStatus: {
		400: `Check ${quoteField('messageId')}. It consists of up to 16 digits and letters from a to f.`,
		404: 'The email is not in this mailbox. It may have been deleted.',
	},
});
