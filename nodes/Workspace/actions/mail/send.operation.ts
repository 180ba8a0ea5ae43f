import { named } from '../../../fields/naming';
import { defineOperation, type Clients, type Item } from '../../operation';
import { deliver, findSent, senderOf, type SentMail } from './send/deliver';
import { hintAboutThread, repliedMail } from './send/reply';
import { sendFields as fields, sendOptions as options, type SendParams } from './send/fields';

export const send = defineOperation({
	value: 'send',
	methods: {
		'gmail.users.messages.send': 'gmail.send',
		'gmail.users.messages.get': 'gmail.readonly',
		'gmail.users.messages.list': 'gmail.readonly',
		'gmail.users.getProfile': 'gmail.readonly',
	},
	name: 'Send',
	action: 'Send email',
	description:
		'Send an email from Gmail, with or without attachments, or reply to one. An error or a retry never sends it a second time.',
	caution: 'It is sent immediately and cannot be undone.',
	fields,
	options,
	async execute(client: Clients, params: SendParams, item: Item): Promise<SentMail> {
		const { outgoingMail, composed } = await import('./send/compose');
		const outgoing = await outgoingMail(params, item);
		const { idempotencyKey, replyToMessageId } = params;
		const byKey = idempotencyKey === '' ? undefined : await import('./send/sendOnce');
		const keyed = byKey?.keyedOf(params, outgoing);
		const replied = replyToMessageId === '' ? undefined : await repliedMail(client, replyToMessageId);
		const sendNow = async () => {
			const from = await senderOf(client, outgoing, item);
			const mail = await composed(outgoing, { from, replied, token: item.token, keyed });
			const sent = await deliver(client, mail, replied?.threadId);
			if (replied) hintAboutThread(params.subject, replied, item);
			return sent;
		};
		return byKey && keyed
			? await byKey.sendOnce({ client, item, outgoing, keyed }, sendNow)
			: await sendNow();
	},
	async recover(client: Clients, params: SendParams, failure, item: Item): Promise<SentMail | undefined> {
		// With a key, it was already looked for.
		return params.idempotencyKey === '' ? await findSent(client, failure, item) : undefined;
	},
	errors: {
		400: `Gmail rejected the email. Check the addresses, the headers and ${named('replyToMessageId')}.`,
		404: `Check ${named('replyToMessageId')}: the message must be in this mailbox.`,
	},
});
