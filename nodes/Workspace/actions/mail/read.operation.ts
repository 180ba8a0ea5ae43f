import { quoteField } from '../../../fields/field';
import { startCharacterOption } from '../../../fields/commonOptions';
import { onlyFilesOption } from '../onlyFiles';
import { messageIdField } from '../../locators';
import { defineOperation } from '../../operation';
import { labelOptions, newTextOnlyOption } from './list/fields';
import { changeLabels, changesLabels, nameChangedEmails, prepareLabelChange } from './list/labels';
import type { MailItem, OutputMail } from './mailList';
import { toReadAnswer } from './modelMails';

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
		const labelChange = await prepareLabelChange(clients, params, item);
		const mails = params.wholeConversation
			? await message.fetchConversation(clients, params, item)
			: [await message.fetchMail(clients, params.messageId, item, params)];
		const emails: MailItem[] = [];
		// One email after another, because each may have 25 MB of attachments.
		for (const mail of mails) {
			const json: OutputMail = { ...mail.summary, ...mail.content };
			if (params.includeHeaders) json.headers = mail.headers;
			const binary = await message.storeAttachments(clients, mail, params, item);
			emails.push({ json, binary });
		}
		await changeLabels(clients, labelChange, emails, item);
		return emails;
	},
	toItems: (emails, { startCharacter }) =>
		emails.map(({ json, binary }) => ({
			json: { ...json, text: json.text?.slice(startCharacter) },
			binary,
		})),
	nameResult: nameChangedEmails,
	toModel: toReadAnswer,
	advice: {
		mail: {
			400: `Check ${quoteField('messageId')}. It consists of up to 16 digits and letters from a to f.`,
			404: 'The email is not in this mailbox. It may have been deleted.',
		},
	},
});
