import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { decodeHeader } from '../../../../untrusted/mail/charset';
import { getRawHeaders } from '../../../../untrusted/mail/mimeStructure';
import type { Clients, Item } from '../../../operation';
import { findAddresses, type Address } from '../addresses';
import type { OutgoingMail } from './compose';
import { listOwnAddresses } from './sender';

type AddressTest = (address: Address) => boolean;
type OriginalMail = Awaited<ReturnType<typeof fetchOriginalMail>>;

const headerNames = [
	'Message-ID',
	'References',
	'In-Reply-To',
	'Subject',
	'From',
	'Reply-To',
	'To',
	'Cc',
];
/** In characters. A header of this length holds more than the 500 recipients that Gmail sends an email to. */
const maxHeaderLength = 50_000;

/** Fetches the original email's parts that a reply needs. @throws NodeError 404 if the mailbox has no such email */
export async function fetchOriginalMail({ gmail }: Clients, id: string, item: Item) {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: headerNames,
		fields: 'id,threadId,payload/headers',
	});
	// An email may repeat a header. Its values then stand on lines of their own.
	const readHeader = (name: string) =>
		getRawHeaders(data.payload ?? {}, name)
			.map(decodeHeader)
			.join('\n');
	const [messageId = ''] = getRawHeaders(data.payload ?? {}, 'Message-ID');
	if (messageId === '')
		item.addHint(
			`The original email ${id} has no Message-ID, so mail programs may not show the reply in the same conversation.`,
		);
	const [subject = ''] = getRawHeaders(data.payload ?? {}, 'Subject');
	// RFC 5322, 3.6.4, says how to build References.
	const earlierIds = readHeader('References') || readHeader('In-Reply-To');
	return {
		id,
		threadId: data.threadId ?? '',
		messageId,
		references: `${earlierIds.slice(0, maxHeaderLength)} ${messageId}`
			.replaceAll(/\s+/g, ' ')
			.trim(),
		subject: decodeHeader(subject)
			.replaceAll(/[\s\p{Cc}]+/gu, ' ')
			.trim(),
		from: readHeader('From'),
		replyTo: readHeader('Reply-To'),
		to: readHeader('To'),
		cc: readHeader('Cc'),
	};
}

/** Adds the recipients and the subject that a reply takes from the original. @throws NodeError 400 if To is empty, except for a draft */
export async function completeReply(
	clients: Clients,
	outgoing: OutgoingMail,
	original: OriginalMail,
	item: Item,
): Promise<OutgoingMail> {
	await addHintIfNotNewest(clients, original, item);
	const subject = outgoing.subject.trim() === '' ? toReplySubject(original) : outgoing.subject;
	if (removeReplyPrefixes(subject) !== removeReplyPrefixes(original.subject))
		item.addHint(
			"The subject differs from the subject of the original email, so Gmail may not show the reply in the same conversation. To keep the conversation, use the same subject, with or without 'Re:'.",
		);
	if (outgoing.to.length > 0 && !outgoing.replyAll) return { ...outgoing, subject };
	const ownMailboxes = (await listOwnAddresses(clients, item)).map(toMailbox);
	const isOwn = ({ address }: Address) => ownMailboxes.includes(toMailbox(address));
	const answered = findReplyRecipients(original, isOwn, item);
	const to = outgoing.to.length > 0 ? outgoing.to : answered;
	if (to.length === 0 && outgoing.folder === 'sent')
		throw createRefusal(
			'The original email has no address to reply to',
			`Enter at least one address in ${quoteField('to')}.`,
		);
	if (!outgoing.replyAll) return { ...outgoing, to, subject };
	const others = [original.to, original.cc].flatMap((header) => readRecipients(header, item));
	const copies = removeDuplicates(
		[...answered, ...others].filter((address) => !isOwn(address)),
		[...to, ...outgoing.cc, ...outgoing.bcc],
	);
	return { ...outgoing, to, cc: [...outgoing.cc, ...copies], subject };
}

const toReplySubject = ({ subject }: OriginalMail) =>
	/^re(?:\[\d+\])?\s?:/i.test(subject) ? subject : `Re: ${subject}`;

/** Adds a hint if the conversation has a newer email, because the ID of a conversation is also the ID of its first email. */
async function addHintIfNotNewest(
	{ gmail }: Clients,
	{ id, threadId }: OriginalMail,
	item: Item,
): Promise<void> {
	const fields = 'messages(id,labelIds)';
	const request = { userId: 'me', id: threadId, format: 'minimal', fields };
	const messages = await gmail.users.threads.get(request, { retryConfig: { retry: 0 } }).then(
		({ data }) => data.messages ?? [],
		(error: unknown) => {
			// The reply does not depend on it.
			item.log(`Could not look for newer emails of the conversation: ${String(error)}`);
			return [];
		},
	);
	const isHidden = (labelId: string) => ['DRAFT', 'TRASH', 'SPAM'].includes(labelId);
	const newestId = messages.findLast(({ labelIds }) => !labelIds?.some(isHidden))?.id;
	if (!newestId || newestId === id) return;
	item.addHint(
		`The reply answers the email ${id}, which is not the newest of its conversation. The newest is ${newestId}. The ID of a conversation (threadId) is the ID of its first email.`,
	);
}

/** Returns the addresses in Reply-To, or else the sender. If the account itself sent the original, returns the addresses in To. */
function findReplyRecipients(
	{ from, replyTo, to }: OriginalMail,
	isOwn: AddressTest,
	item: Item,
): Address[] {
	const senders = readRecipients(from, item);
	if (senders.some(isOwn)) return removeDuplicates(readRecipients(to, item));
	const replyToAddresses = readRecipients(replyTo, item);
	return removeDuplicates(replyToAddresses.length > 0 ? replyToAddresses : senders);
}

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
			`The original email names a recipient that is not an email address, so the reply does not go to: ${unreadableEntries.map((entry) => shorten(entry)).join('; ')}`,
		);
	return addresses;
}

/** Removes addresses that already occurred, in the list or in an earlier list. Only case is ignored, so that no recipient gets lost. */
function removeDuplicates(
	addresses: readonly Address[],
	earlierList: readonly Address[] = [],
): Address[] {
	const foldAddress = ({ address }: Address) => address.toLowerCase();
	const seenAddresses = new Set(earlierList.map(foldAddress));
	return addresses.filter((address) => {
		const isNew = !seenAddresses.has(foldAddress(address));
		seenAddresses.add(foldAddress(address));
		return isNew;
	});
}

/** Removes what two addresses of the same mailbox may differ in: case, what follows a plus sign and, at Gmail's own domains, dots. */
function toMailbox(address: string): string {
	const [, local = '', domain = ''] = /^(.*)@(.*)$/s.exec(address.toLowerCase()) ?? [];
	const isGmail = domain === 'gmail.com' || domain === 'googlemail.com';
	const name = local.replace(/\+.*$/s, '');
	return isGmail ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`;
}

/** Removes the prefixes of replies and forwards, which do not count when two subjects are compared. */
const removeReplyPrefixes = (subject: string) =>
	subject.trim().replace(/^(?:(?:re|aw|sv|antw|fwd?|wg)(?:\[\d+\])?:\s*)+/i, '');
