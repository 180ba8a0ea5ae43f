import { named } from '../../fieldNames';
import { defineOperation, type Clients, type Item } from '../../operation';
import { deliver, type SentMail } from './delivery';
import { findSent } from './marker';
import { hintAboutThread, ownAddress, repliedMail } from './reply';
import { sendFields as fields, sendOptions as options, type SendParams } from './sendFields';

export const send = defineOperation({
	value: 'send',
	name: 'Send',
	action: 'Send message',
	description: 'Send a mail from Gmail, with attachments, or answer one. A mail never goes out twice.',
	fields,
	options,
	async execute(client: Clients, params: SendParams, item: Item): Promise<SentMail> {
		const { draftOf, composed } = await import('./outgoing');
		const draft = await draftOf(params, item);
		const { replyToMessageId } = params;
		const replied = replyToMessageId === '' ? undefined : await repliedMail(client, replyToMessageId);
		const { senderName: name, fromAlias } = draft;
		const address = fromAlias?.address ?? (name === '' ? undefined : await ownAddress(client, item));
		const from = address === undefined ? undefined : { name: name || (fromAlias?.name ?? ''), address };
		const mail = await composed(draft, { from, replied, marker: item.token });
		const sent = await deliver(client, mail, replied?.threadId);
		if (replied) hintAboutThread(params.subject, replied, item);
		return sent;
	},
	async recover(client: Clients, _params: SendParams, failure, item: Item): Promise<SentMail> {
		return await findSent(client, failure, item);
	},
	errors: {
		400: `Gmail refused the mail as it is. Check the addresses, the headers and ${named('replyToMessageId')}.`,
		404: `Check ${named('replyToMessageId')}: the mail must be in this mailbox.`,
	},
});
