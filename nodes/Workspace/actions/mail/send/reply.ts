import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { getMessageHeader } from '../../../../untrusted/mail/mimeStructure';
import type { Clients, Item } from '../../../operation';
import { findAddresses, type Address } from './addresses';
import type { OutgoingMail } from './compose';
import { isDraft, type SendParams } from './fields';
import { listSendAs } from './sender';

type AddressTest = (address: Address) => boolean;
type RepliedMail = Awaited<ReturnType<typeof fetchRepliedMail>>;

const usedHeaders = ['Message-ID', 'References', 'In-Reply-To', 'Subject', 'From', 'Reply-To', 'To', 'Cc'];
/** How many characters of a header are read. They hold more recipients than Gmail sends an email to. */
const maxHeaderLength = 100_000;

/** What a reply takes from the email that it answers. @throws NodeError; 404 if there is no such email */
export async function fetchRepliedMail({ gmail }: Clients, id: string) {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: usedHeaders,
		fields: 'threadId,payload/headers',
	});
	const readHeader = (name: string) => getMessageHeader(data, name).slice(0, maxHeaderLength);
	const messageId = readHeader('Message-ID');
	// RFC 5322, 3.6.4.
	const earlier = readHeader('References') || readHeader('In-Reply-To');
	return {
		threadId: data.threadId ?? '',
		messageId,
		references: [earlier, messageId].filter(Boolean).join(' '),
		subject: readHeader('Subject')
			.replaceAll(/[\s\p{Cc}]+/gu, ' ')
			.trim(),
		from: readHeader('From'),
		replyTo: readHeader('Reply-To'),
		to: readHeader('To'),
		cc: readHeader('Cc'),
	};
}

/** Completes a reply with the recipients and the subject of the original. @throws NodeError 400 if the original names nobody to reply to */
export async function completeReply(
	client: Clients,
	outgoing: OutgoingMail,
	replied: RepliedMail,
	params: SendParams,
	item: Item,
): Promise<OutgoingMail> {
	const { replyAll } = params;
	const needsOwnAddresses = outgoing.to.length === 0 || replyAll;
	const own = needsOwnAddresses
		? (await listSendAs(client)).map(({ sendAsEmail }) => normalizeAddress(sendAsEmail ?? ''))
		: [];
	const isOwn = ({ address }: Address) => own.includes(normalizeAddress(address));
	const to = outgoing.to.length > 0 ? outgoing.to : findReplyRecipients(replied, isOwn, item);
	if (to.length === 0 && !isDraft(params)) {
		throw createRefusal(
			'The original email has no address to reply to',
			`Enter at least one address in ${quoteField('to')}.`,
		);
	}
	const taken = [...to, ...outgoing.cc, ...outgoing.bcc];
	const everyone = replyAll ? [...readRecipients(replied.to, item), ...readRecipients(replied.cc, item)] : [];
	const others = everyone.filter((address) => !isOwn(address));
	const replySubject = /^re(?:\[\d+\])?\s?:/i.test(replied.subject)
		? replied.subject
		: `Re: ${replied.subject}`;
	const subject = outgoing.subject.trim() === '' ? replySubject : outgoing.subject;
	if (removeReplyPrefix(subject) !== removeReplyPrefix(replied.subject)) {
		item.addHint(
			"The subject differs from the subject of the original email, so Gmail may not show the reply in the same conversation. To keep the conversation, use the same subject, with or without 'Re:'.",
		);
	}
	return { ...outgoing, to, cc: [...outgoing.cc, ...excludeTaken(others, taken)], subject };
}

/** Finds who gets a reply: the addresses at which the sender wants replies, or the original's recipients if the account itself sent it. */
function findReplyRecipients({ from, replyTo, to }: RepliedMail, isOwn: AddressTest, item: Item): Address[] {
	const senders = readRecipients(from, item);
	if (senders.some(isOwn)) return excludeTaken(readRecipients(to, item), []);
	const wanted = readRecipients(replyTo, item);
	return excludeTaken(wanted.length > 0 ? wanted : senders, []);
}

/** The addresses in a header of the original. Entries without one, such as a group without members, are left out. */
function readRecipients(header: string, item: Item): Address[] {
	const { addresses, others } = findAddresses(header);
	const lost = others.filter((entry) => entry.includes('@'));
	if (lost.length > 0) {
		item.addHint(
			`The original email names a recipient that is not an email address, so the reply does not go to: ${lost.map((entry) => shorten(entry)).join('; ')}`,
		);
	}
	return addresses;
}

/** The addresses that are not taken, each one once. */
function excludeTaken(addresses: readonly Address[], taken: readonly Address[]): Address[] {
	const seen = new Set(taken.map(({ address }) => address.toLowerCase()));
	return addresses.filter(({ address }) => {
		const isNew = !seen.has(address.toLowerCase());
		seen.add(address.toLowerCase());
		return isNew;
	});
}

/** An address without what Gmail ignores in one: letter case, a part after a plus sign and, at Gmail's own domains, dots. */
function normalizeAddress(address: string): string {
	const [, local = '', domain = ''] = /^(.*)@(.*)$/s.exec(address.toLowerCase()) ?? [];
	const isGmail = domain === 'gmail.com' || domain === 'googlemail.com';
	const name = local.replace(/\+.*$/s, '');
	return isGmail ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`;
}

/** The subject without the prefixes of replies and forwards, which do not count. */
function removeReplyPrefix(subject: string): string {
	return subject.trim().replace(/^(?:(?:re|aw|sv|antw|fwd?|wg)(?:\[\d+\])?:\s*)+/i, '');
}
