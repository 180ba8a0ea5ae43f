import { quoteField } from '../../../fields/field';
import { defineOperation, type Clients, type Item } from '../../operation';
import { sendFields, sendOptions } from './send/fields';
import type { DeliveredMail } from './send/mailFolder';
import { type PreparedMail, prepareMail } from './send/prepareMail';

export const send = defineOperation({
	value: 'send',
	name: 'Send',
	action: 'Send, reply to or draft email',
	description:
		'Send an email from Gmail, with or without attachments, reply to one, or save it as a draft. An error or a retry never sends it a second time.',
	caution: 'Unless it is saved as a draft, it is sent immediately and cannot be undone.',
	narrowedChoice: {
		value: 'sendDraft',
		name: 'Send, Drafts Only',
		description: 'Save an email as a draft. Sending one is refused.',
		// The form has the field `sendAs`. Input objects have the key `saveAsDraft`, which a choice
		// of operations can demand.
		requiredKey: 'saveAsDraft',
	},
	modelDescription: 'Write an email in Gmail.',
	fields: sendFields,
	options: sendOptions,
	prepare: prepareMail,
	async send(clients: Clients, prepared: PreparedMail, item: Item): Promise<DeliveredMail> {
		const { sendMail } = await import('./send/sendMail');
		return await sendMail(clients, prepared, item);
	},
	async recover(clients: Clients, { folder, idempotencyKey }: PreparedMail, failure, item: Item) {
		// With a key, `sendWithKey` has already looked for the email.
		if (idempotencyKey !== '') return undefined;
		const { findDeliveredMail } = await import('./send/findDeliveredMail');
		return await findDeliveredMail(clients, folder, failure, item);
	},
	nameResult: ({ id, draftId }) => (draftId === undefined ? `email ${id}` : `draft ${draftId}`),
	advice: {
		mail: {
			400: `Gmail rejected the email. Check the addresses, the headers and ${quoteField('replyToMessageId')}.`,
			404: `Check ${quoteField('replyToMessageId')}: the email must be in this mailbox.`,
		},
	},
});
