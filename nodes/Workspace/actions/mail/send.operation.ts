import { quoteField } from '../../../fields/field';
import { defineOperation, type Clients, type Item } from '../../operation';
import { deliverMail } from './send/deliver';
import { sendFields, sendOptions } from './send/fields';
import { findDeliveredMail, type DeliveredMail } from './send/findDeliveredMail';
import { type PreparedMail, prepareMail } from './send/prepareMail';
import { completeReply, fetchOriginalMail } from './send/reply';
import { findSender } from './send/sender';

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
		// The form has the field `sendAs`. Input objects have the key `saveAsDraft`, which a choice of operations can demand.
		requiredKey: 'saveAsDraft',
	},
	modelDescription: 'Write an email in Gmail.',
	modelCautions: {
		field: 'sendAs',
		byValue: {
			send: 'It is sent immediately and cannot be undone.',
			draft: 'It is saved as a draft. Nothing is sent.',
		},
	},
	fields: sendFields,
	options: sendOptions,
	prepare: prepareMail,
	async send(clients: Clients, prepared: PreparedMail, item: Item): Promise<DeliveredMail> {
		const { hashMailKey, composeMail, loadMail } = await import('./send/compose');
		// As entered: a reply may still lack its recipients and its subject, and the body lacks the signature and the quotation.
		const loadedMail = await loadMail(clients, prepared, item);
		const keyHashes = hashMailKey(loadedMail);
		const { replyToMessageId, includeSignature, quoteOriginal, folder } = prepared;
		const original =
			replyToMessageId === ''
				? undefined
				: await fetchOriginalMail(clients, replyToMessageId, item);
		const addressedMail = original
			? await completeReply(clients, loadedMail, original, item)
			: loadedMail;
		const composeAndDeliver = async () => {
			const from = await findSender(clients, addressedMail, item);
			let finalMail = addressedMail;
			if (includeSignature || quoteOriginal) {
				const { appendSignatureAndQuote } = await import('./send/quotation');
				finalMail = await appendSignatureAndQuote(clients, addressedMail, item);
			}
			const { markerId } = item;
			const bytes = await composeMail(finalMail, { from, original, markerId, keyHashes });
			return await deliverMail(clients, bytes, folder, original?.threadId);
		};
		if (!keyHashes) return await composeAndDeliver();
		const { sendWithKey } = await import('./send/sendWithKey');
		return await sendWithKey({ clients, item, addressedMail, keyHashes }, composeAndDeliver);
	},
	async recover(clients: Clients, { folder, idempotencyKey }: PreparedMail, failure, item: Item) {
		// With a key, `sendWithKey` has already looked for the email.
		if (idempotencyKey !== '') return undefined;
		return await findDeliveredMail(clients, folder, failure, item);
	},
	nameResult: ({ id, draftId }) => (draftId === undefined ? `email ${id}` : `draft ${draftId}`),
	adviceByStatus: {
		400: `Gmail rejected the email. Check the addresses, the headers and ${quoteField('replyToMessageId')}.`,
		404: `Check ${quoteField('replyToMessageId')}: the email must be in this mailbox.`,
	},
});
