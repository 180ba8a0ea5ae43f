import { quoteField } from '../../../fields/field';
import { defineOperation, type Clients, type Item } from '../../operation';
import { readAllowedRecipients, refuseForbiddenAddresses } from './send/allowedRecipients';
import { expandAttachments } from './send/attachments';
import { deliverMail } from './send/deliver';
import { findDeliveredMail, type DeliveredMail } from './send/findDeliveredMail';
import { findSender } from './send/sender';
import { addHintIfNotNewest, completeReply, fetchOriginalMail } from './send/reply';
import type { SendParams } from './send/fields';
import {
	isDraft,
	readMailHeaders,
	refuseIncompleteNewMail,
	sendFields,
	sendOptions,
} from './send/fields';

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
	prepare(params: SendParams, item: Item) {
		refuseIncompleteNewMail(params);
		const { to, cc, bcc, replyTo } = readMailHeaders(params);
		const allowed = readAllowedRecipients(params.allowedRecipients);
		const addresses = [...to, ...cc, ...bcc, ...replyTo].map(({ address }) => address);
		refuseForbiddenAddresses(addresses, allowed);
		// Called only because it refuses a missing binary field.
		expandAttachments(params.attachments, item);
		return params;
	},
	async send(clients: Clients, params: SendParams, item: Item): Promise<DeliveredMail> {
		const { prepareMail, hashMailKey, composeMail } = await import('./send/compose');
		const {
			replyToMessageId: originalId,
			includeSignature,
			quoteOriginal,
			allowedRecipients,
		} = params;
		// As entered: a reply may still lack its recipients and its subject, and the body lacks the signature and the quotation.
		const preparedMail = await prepareMail(clients, params, item);
		const keyHashes = hashMailKey(params, preparedMail);
		const original =
			originalId === '' ? undefined : await fetchOriginalMail(clients, originalId, item);
		if (original) await addHintIfNotNewest(clients, original, item);
		const addressedMail = original
			? await completeReply(clients, preparedMail, original, params, item)
			: preparedMail;
		const composeAndDeliver = async () => {
			const from = await findSender(clients, addressedMail, item);
			let finalMail = addressedMail;
			if (includeSignature || quoteOriginal) {
				const { appendSignatureAndQuote } = await import('./send/quotation');
				finalMail = await appendSignatureAndQuote(clients, addressedMail, params, item);
			}
			const composeOptions = {
				from,
				original,
				markerId: item.markerId,
				keyHashes,
				allowedRecipients,
			};
			const bytes = await composeMail(finalMail, composeOptions);
			return await deliverMail(clients, bytes, addressedMail.folder, original?.threadId);
		};
		if (!keyHashes) return await composeAndDeliver();
		const { sendWithKey } = await import('./send/sendWithKey');
		return await sendWithKey({ clients, item, addressedMail, keyHashes }, composeAndDeliver);
	},
	async recover(clients: Clients, params: SendParams, failure, item: Item) {
		// With a key, `sendWithKey` has already looked for the email.
		if (params.idempotencyKey !== '') return undefined;
		return await findDeliveredMail(clients, isDraft(params) ? 'drafts' : 'sent', failure, item);
	},
	nameResult: ({ id, draftId }) => (draftId === undefined ? `email ${id}` : `draft ${draftId}`),
	adviceByStatus: {
		400: `Gmail rejected the email. Check the addresses, the headers and ${quoteField('replyToMessageId')}.`,
		404: `Check ${quoteField('replyToMessageId')}: the email must be in this mailbox.`,
	},
});
