/** Executes Send. Loaded on first use, because it loads the library that composes emails. */
import type { Clients, Item } from '../../../operation';
import { buildBodies, inlineLinkedFiles } from './bodies';
import { composeMail, hashMailKey, type OutgoingMail } from './compose';
import { deliverMail } from './deliver';
import { readFiles } from './files';
import type { DeliveredMail } from './mailFolder';
import type { PreparedMail } from './prepareMail';
import { appendQuotation, appendSignature } from './quotation';
import { completeReply } from './reply';
import { findSender, type Sender } from './sender';
import { sendWithKey } from './sendWithKey';

/**
 * Sends an email or saves it as a draft. With an idempotency key, this is done only once.
 * @throws NodeError
 */
export async function sendMail(
	clients: Clients,
	prepared: PreparedMail,
	item: Item,
): Promise<DeliveredMail> {
	const loadedMail = await loadMail(clients, prepared, item);
	// As entered: a reply may still lack its recipients and its subject, and the body lacks the
	// signature and the quotation.
	const keyHashes = hashMailKey(loadedMail);
	const mail = await completeReply(clients, loadedMail, item);
	if (!keyHashes) return await composeAndDeliver(clients, mail, [item.markerId], item);
	const marker = [item.markerId, keyHashes.keyHash, keyHashes.contentHash];
	const send = () => composeAndDeliver(clients, mail, marker, item);
	return await sendWithKey(clients, mail, keyHashes, send, item);
}

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
	const sender = await findSender(clients, mail, item);
	const completeMail = await appendToBody(clients, mail, sender, item);
	const bytes = await composeMail(completeMail, sender.from, marker);
	return await deliverMail(clients, bytes, mail.folder, mail.original?.summary.threadId);
}

/** Adds the signature and then the original email below the body. */
async function appendToBody(clients: Clients, mail: OutgoingMail, sender: Sender, item: Item) {
	let { bodies } = mail;
	if (mail.includeSignature) bodies = await appendSignature(bodies, sender, item);
	if (!mail.quoteOriginal || !mail.original) return { ...mail, bodies };
	const quoted = await appendQuotation(clients, mail.original, bodies);
	return { ...mail, bodies: quoted.bodies, files: [...mail.files, ...quoted.pictures] };
}
