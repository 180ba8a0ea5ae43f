import { named } from '../../../fields/field';
import { defineOperation, type Clients, type Item } from '../../operation';
import { deliver, findSent, senderOf, type SentMail } from './send/deliver';
import { asReply, repliedMail } from './send/reply';
import {
	isDraft,
	refuseContradictions,
	sendFields as fields,
	sendOptions as options,
	type SendParams,
	textsOf,
} from './send/fields';

export const send = defineOperation({
	value: 'send',
	name: 'Send',
	action: 'Send email',
	description:
		'Send an email from Gmail, with or without attachments, reply to one, or save it as a draft. An error or a retry never sends it a second time.',
	caution: 'Unless it is saved as a draft, it is sent immediately and cannot be undone.',
	told: {
		field: 'sendAs',
		by: {
			send: 'Send an email from Gmail, or reply to one. It is sent immediately and cannot be undone. An error or a retry never sends it a second time.',
			draft:
				'Save an email, or a reply to one, as a draft in Gmail. Nothing is sent: a person reads the draft and sends it.',
		},
	},
	fields,
	options,
	check(params: SendParams, item: Item) {
		refuseContradictions(params);
		// So that a wrong address or a missing file in the last item does not leave half a batch sent.
		textsOf(params);
		for (const attachment of params.attachments) {
			if ('field' in attachment) item.requireBinary(attachment.field);
		}
	},
	async execute(client: Clients, params: SendParams, item: Item): Promise<SentMail> {
		const { outgoingMail, composed } = await import('./send/compose');
		const { idempotencyKey, replyToMessageId: original, includeSignature, quoteOriginal } = params;
		const given = await outgoingMail(params, item);
		const byKey = idempotencyKey === '' ? undefined : await import('./send/sendOnce');
		const keyed = byKey?.keyedOf(params, given);
		const replied = original === '' ? undefined : await repliedMail(client, original);
		const outgoing = replied ? await asReply(client, given, replied, params, item) : given;
		const sendNow = async () => {
			const from = await senderOf(client, outgoing, item);
			const whole =
				includeSignature || quoteOriginal
					? await (await import('./send/quotation')).withAppended(client, outgoing, params, item)
					: outgoing;
			const mail = await composed(whole, { from, replied, token: item.token, keyed });
			return await deliver(client, mail, { threadId: replied?.threadId, folder: outgoing.folder });
		};
		return byKey && keyed
			? await byKey.sendOnce({ client, item, outgoing, keyed }, sendNow)
			: await sendNow();
	},
	async recover(client: Clients, params: SendParams, failure, item: Item): Promise<SentMail | undefined> {
		// With a key, it was already looked for.
		if (params.idempotencyKey !== '') return undefined;
		return await findSent(client, isDraft(params) ? 'drafts' : 'sent', failure, item);
	},
	left: ({ id, draftId }) => (draftId === undefined ? `email ${id}` : `draft ${draftId}`),
	errors: {
		400: `Gmail rejected the email. Check the addresses, the headers and ${named('replyToMessageId')}.`,
		404: `Check ${named('replyToMessageId')}: the message must be in this mailbox.`,
	},
});
