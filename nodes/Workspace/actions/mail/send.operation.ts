import { named } from '../../../fields/naming';
import { defineOperation, type Clients, type Item } from '../../operation';
import { deliver, type SentMail } from './send/deliver';
import { findSent } from './send/marker';
import { hintAboutThread, repliedMail } from './send/reply';
import { senderOf } from './send/sender';
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
		const { draftOf, composed } = await import('./send/compose');
		const { keyedOf, markerOf } = await import('./send/sentBefore');
		const draft = await draftOf(params, item);
		const keyed = keyedOf(params, draft);
		const { replyToMessageId } = params;
		const replied = replyToMessageId === '' ? undefined : await repliedMail(client, replyToMessageId);
		const sendNow = async () => {
			const from = await senderOf(client, draft, item);
			const { token } = item;
			const mail = await composed(draft, { from, replied, token, marker: markerOf(token, keyed) });
			const sent = await deliver(client, mail, replied?.threadId);
			if (replied) hintAboutThread(params.subject, replied, item);
			return sent;
		};
		if (!keyed) return await sendNow();
		const { onceByKey } = await import('./send/sendOnce');
		return await onceByKey({ client, item, draft, keyed }, sendNow);
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
