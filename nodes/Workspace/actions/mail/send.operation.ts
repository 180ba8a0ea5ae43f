import { quoteField } from '../../../fields/field';
import { defineOperation, type Clients, type Item } from '../../operation';
import { buildBodies, inlineLinkedFiles } from './send/bodies';
import type { OutgoingMail } from './send/compose';
import { deliverMail } from './send/deliver';
import { sendFields, sendOptions } from './send/fields';
import { findDeliveredMail, type DeliveredMail } from './send/findDeliveredMail';
import { type PreparedMail, prepareMail } from './send/prepareMail';
import { readFiles } from './send/files';
import { completeReply } from './send/reply';
import { findSender, type Sender } from './send/sender';

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
		const { hashMailKey } = await import('./send/compose');
		const loadedMail = await loadMail(clients, prepared, item);
		// As entered: a reply may still lack its recipients and its subject, and the body lacks the signature and the quotation.
		const keyHashes = hashMailKey(loadedMail);
		const mail = await completeReply(clients, loadedMail, item);
		if (!keyHashes) return await composeAndDeliver(clients, mail, [item.markerId], item);
		const { sendWithKey } = await import('./send/sendWithKey');
		const marker = [item.markerId, keyHashes.keyHash, keyHashes.contentHash];
		return await sendWithKey(
			{ clients, item, mail, keyHashes },
			async () => await composeAndDeliver(clients, mail, marker, item),
		);
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

/** Reads the files and builds the body. @throws NodeError if the email could not be sent */
async function loadMail(clients: Clients, prepared: PreparedMail, item: Item) {
	const files = await readFiles(prepared, clients, item);
	const bodies = await buildBodies(prepared, item);
	if (bodies.html === undefined) return { ...prepared, files, bodies };
	const linked = inlineLinkedFiles(bodies.html, files, item.markerId);
	return { ...prepared, files: linked.files, bodies: { ...bodies, html: linked.html } };
}

/** @param marker as in `composeMail` */
async function composeAndDeliver(
	clients: Clients,
	mail: OutgoingMail,
	marker: readonly string[],
	item: Item,
) {
	const { composeMail } = await import('./send/compose');
	const sender = await findSender(clients, mail, item);
	const completeMail = await appendToBody(clients, mail, sender, item);
	const bytes = await composeMail(completeMail, sender.from, marker);
	return await deliverMail(clients, bytes, mail.folder, mail.original?.threadId);
}

/** Adds the signature and then the original email below the body. */
async function appendToBody(clients: Clients, mail: OutgoingMail, sender: Sender, item: Item) {
	if (!mail.includeSignature && !mail.quoteOriginal) return mail;
	const { appendQuotation, appendSignature } = await import('./send/quotation');
	let { bodies } = mail;
	if (mail.includeSignature) bodies = await appendSignature(bodies, sender, item);
	if (!mail.quoteOriginal) return { ...mail, bodies };
	const quoted = await appendQuotation(clients, mail.replyToMessageId, bodies, item);
	return { ...mail, bodies: quoted.bodies, files: [...mail.files, ...quoted.pictures] };
}
