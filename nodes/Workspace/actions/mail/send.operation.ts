import { quoteField } from '../../../fields/field';
import { defineOperation, type Clients, type Item } from '../../operation';
import { readAllowedRecipients, refuseForbiddenAddresses } from './send/allowedRecipients';
import { expandAttachments } from './send/attachments';
import { deliverMail } from './send/deliver';
import { findSentMail, type SentMail } from './send/findSentMail';
import { findSender } from './send/sender';
import { completeReply, fetchOriginalMail } from './send/reply';
import {
	isDraft,
	refuseContradictions,
	sendFields as fields,
	sendOptions as options,
	type SendParams,
	readHeaderTexts,
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
		key: 'saveAsDraft',
	},
	modelDescription: 'Write an email in Gmail.',
	modelCautions: {
		field: 'sendAs',
		byValue: {
			send: 'It is sent immediately and cannot be undone.',
			draft: 'It is saved as a draft. Nothing is sent.',
		},
	},
	fields,
	options,
	check(params: SendParams, item: Item) {
		refuseContradictions(params);
		// All items are checked before any is sent, so that a wrong address or missing file in the last item does not leave half a batch sent.
		const { to, cc, bcc, replyTo } = readHeaderTexts(params);
		const allowedRecipients = readAllowedRecipients(params.allowedRecipients);
		refuseForbiddenAddresses(
			[...to, ...cc, ...bcc, ...replyTo].map(({ address }) => address),
			allowedRecipients,
		);
		expandAttachments(params.attachments, item);
	},
	async execute(client: Clients, params: SendParams, item: Item): Promise<SentMail> {
		const { prepareMail, composeMail } = await import('./send/compose');
		const { idempotencyKey, replyToMessageId: originalId, includeSignature, quoteOriginal } = params;
		const newMail = await prepareMail(client, params, item);
		const keyModule = idempotencyKey === '' ? undefined : await import('./send/sendWithKey');
		const keyHashes = keyModule?.hashMailKey(params, newMail);
		const original = originalId === '' ? undefined : await fetchOriginalMail(client, originalId);
		const outgoing = original ? await completeReply(client, newMail, original, params, item) : newMail;
		const sendNow = async () => {
			const from = await findSender(client, outgoing.senderName, outgoing.fromAlias, item);
			const completeMail =
				includeSignature || quoteOriginal
					? await (await import('./send/quotation')).appendSignatureAndQuote(client, outgoing, params, item)
					: outgoing;
			const { token } = item;
			const { allowedRecipients } = params;
			const mail = await composeMail(completeMail, { from, original, token, keyHashes, allowedRecipients });
			return await deliverMail(client, mail, outgoing.folder, original?.threadId);
		};
		return keyModule && keyHashes
			? await keyModule.sendWithKey({ client, item, outgoing, keyHashes }, sendNow)
			: await sendNow();
	},
	async recover(client: Clients, params: SendParams, failure, item: Item): Promise<SentMail | undefined> {
		// With a key, `sendWithKey` has already looked for the email.
		if (params.idempotencyKey !== '') return undefined;
		return await findSentMail(client, isDraft(params) ? 'drafts' : 'sent', failure, item);
	},
	nameResult: ({ id, draftId }) => (draftId === undefined ? `email ${id}` : `draft ${draftId}`),
	adviceByStatus: {
		400: `Gmail rejected the email. Check the addresses, the headers and ${quoteField('replyToMessageId')}.`,
		404: `Check ${quoteField('replyToMessageId')}: the message must be in this mailbox.`,
	},
});
