import { createRefusal } from '../../../../core/errors';
import { isSameIgnoringCase, shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { decodeHeader } from '../../../../untrusted/mail/charset';
import { getRawHeaders } from '../../../../untrusted/mail/mimePart';
import type { Clients, Item } from '../../../operation';
import { findAddresses, type Address } from '../addresses';
import type { PreparedMail } from './prepareMail';
import { listOwnAddresses } from './sender';

export type OriginalMail = Awaited<ReturnType<typeof fetchOriginalMail>>;

/** Fetches the original email's parts that a reply needs. @throws NodeError 404 if the mailbox has no such email */
export async function fetchOriginalMail({ gmail }: Clients, id: string, item: Item) {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: [
			'Message-ID',
			'References',
			'In-Reply-To',
			'Subject',
			'From',
			'Reply-To',
			'To',
			'Cc',
		],
		fields: 'id,threadId,payload/headers',
	});
	// An email may repeat a header. Its values then stand on lines of their own.
	const readHeader = (name: string) =>
		getRawHeaders(data.payload ?? {}, name)
			.map(decodeHeader)
			.join('\n');
	const messageId = readHeader('Message-ID').split('\n', 1)[0] ?? '';
	if (messageId === '')
		item.addHint(
			`The original email ${id} has no Message-ID, so mail programs may not show the reply in the same conversation.`,
		);
	// RFC 5322, 3.6.4, says how to build References.
	const earlierIds = readHeader('References') || readHeader('In-Reply-To');
	const toOneLine = (text: string) => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
	return {
		id,
		threadId: data.threadId ?? '',
		messageId,
		references: toOneLine(`${earlierIds} ${messageId}`),
		subject: toOneLine(readHeader('Subject')),
		from: readHeader('From'),
		replyTo: readHeader('Reply-To'),
		to: readHeader('To'),
		cc: readHeader('Cc'),
	};
}

/** In characters. A header of this length holds more than the 500 recipients that Gmail sends an email to. */
const maxHeaderLength = 50_000;

/**
 * Reads the addresses in a header of the original. Skips an entry that is no address, with a hint if it has an @.
 * @throws NodeError 400 for a header that is too long, because to read it would block n8n
 */
function readRecipients(header: string, item: Item): Address[] {
	if (header.length > maxHeaderLength)
		throw createRefusal(
			'The original email has too many recipients for a reply',
			`Enter the recipients in ${quoteField('to')}, and turn off ${quoteField('replyAll')}.`,
		);
	const { addresses, invalidEntries } = findAddresses(header);
	const unreadableEntries = invalidEntries.filter((entry) => entry.includes('@'));
	if (unreadableEntries.length > 0)
		item.addHint(
			`The original email names a recipient that is not an email address, so the reply does not go to: ${shorten(unreadableEntries.join('; '))}`,
		);
	return addresses;
}

/** Adds the recipients and the subject that a reply takes from the original. @throws NodeError 400 if To is empty, except for a draft */
export async function completeReply<M extends PreparedMail>(
	clients: Clients,
	mail: M,
	original: OriginalMail,
	item: Item,
): Promise<M> {
	await addHintIfNotNewest(clients, original, item);
	const subject = mail.subject.trim() === '' ? toReplySubject(original.subject) : mail.subject;
	if (removePrefixes(subject) !== removePrefixes(original.subject))
		item.addHint(
			"The subject differs from the subject of the original email, so Gmail may not show the reply in the same conversation. To keep the conversation, use the same subject, with or without 'Re:'.",
		);
	if (mail.to.length > 0 && !mail.replyAll) return { ...mail, subject };
	const ownAddresses = await listOwnAddresses(clients, item);
	const isOwn = ({ address }: Address) =>
		ownAddresses.some((ownAddress) => isSameIgnoringCase(ownAddress, address));
	const answered = findAnsweredAddresses(original, isOwn, item);
	const to = mail.to.length > 0 ? mail.to : removeDuplicates(answered, []);
	if (to.length === 0 && mail.folder === 'sent')
		throw createRefusal(
			'The original email has no address to reply to',
			`Enter at least one address in ${quoteField('to')}.`,
		);
	if (!mail.replyAll) return { ...mail, to, subject };
	const others = [original.to, original.cc].flatMap((header) => readRecipients(header, item));
	const copies = [...answered, ...others].filter((address) => !isOwn(address));
	const named = [...to, ...mail.cc, ...mail.bcc];
	return { ...mail, to, cc: [...mail.cc, ...removeDuplicates(copies, named)], subject };
}

/** Returns the addresses in Reply-To, or else the sender. If the account itself sent the original, returns the addresses in To. */
function findAnsweredAddresses(
	{ from, replyTo, to }: OriginalMail,
	isOwn: (address: Address) => boolean,
	item: Item,
): Address[] {
	const senders = readRecipients(from, item);
	if (senders.some(isOwn)) return readRecipients(to, item);
	const replyToAddresses = readRecipients(replyTo, item);
	return replyToAddresses.length > 0 ? replyToAddresses : senders;
}

/** Removes addresses that already occurred, in the list or in the earlier list. Only case is ignored, so that no recipient gets lost. */
function removeDuplicates(
	addresses: readonly Address[],
	earlierAddresses: readonly Address[],
): Address[] {
	const seen = new Set(earlierAddresses.map(({ address }) => address.toLowerCase()));
	const newAddresses: Address[] = [];
	for (const address of addresses) {
		const key = address.address.toLowerCase();
		if (!seen.has(key)) newAddresses.push(address);
		seen.add(key);
	}
	return newAddresses;
}

const toReplySubject = (subject: string) =>
	/^re(?:\[\d+\])?\s?:/i.test(subject) ? subject : `Re: ${subject}`;

/** Removes the prefixes of replies and forwards, which do not count when two subjects are compared. */
const removePrefixes = (subject: string) =>
	subject.trim().replace(/^(?:(?:re|aw|sv|antw|fwd?|wg)(?:\[\d+\])?:\s*)+/i, '');

/** Adds a hint if the conversation has a newer email, because the ID of a conversation is also the ID of its first email. */
async function addHintIfNotNewest(
	{ gmail }: Clients,
	{ id, threadId }: OriginalMail,
	item: Item,
): Promise<void> {
	const fields = 'messages(id,labelIds)';
	const request = { userId: 'me', id: threadId, format: 'minimal', fields };
	const response = await gmail.users.threads
		.get(request, { retryConfig: { retry: 0 } })
		.catch((error: unknown) => {
			// The reply does not depend on it.
			item.log(`Could not look for newer emails of the conversation: ${String(error)}`);
		});
	const isHidden = (labelId: string) => ['DRAFT', 'TRASH', 'SPAM'].includes(labelId);
	const newest = response?.data.messages?.findLast(({ labelIds }) => !labelIds?.some(isHidden));
	if (!newest || newest.id === id) return;
	item.addHint(
		`The reply answers the email ${id}, which is not the newest of its conversation. The newest is ${newest.id}. The ID of a conversation (threadId) is the ID of its first email.`,
	);
}
