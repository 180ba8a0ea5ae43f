import { refusal, shortened } from '../../../../core/errors';
import { named } from '../../../../fields/field';
import { headerOf } from '../../../../untrusted/mail/mimeStructure';
import type { Clients, Item } from '../../../operation';
import { addressesIn, type Address } from './addresses';
import { sendAsOf } from './deliver';
import type { OutgoingMail } from './compose';
import { isDraft, type SendParams } from './fields';

type RepliedMail = Awaited<ReturnType<typeof repliedMail>>;

const headers = ['Message-ID', 'References', 'In-Reply-To', 'Subject', 'From', 'Reply-To', 'To', 'Cc'];
/** How many characters of a header are read. They hold more recipients than Gmail sends an email to. */
const longestHeader = 100_000;

/** What a reply takes from the email that it answers. @throws NodeError; 404 if there is no such email */
export async function repliedMail({ gmail }: Clients, id: string) {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: headers,
		fields: 'threadId,payload/headers',
	});
	const header = (name: string) => headerOf(data, name).slice(0, longestHeader);
	const messageId = header('Message-ID');
	// RFC 5322, 3.6.4.
	const earlier = header('References') || header('In-Reply-To');
	return {
		threadId: data.threadId ?? '',
		messageId,
		references: [earlier, messageId].filter(Boolean).join(' '),
		subject: header('Subject')
			.replaceAll(/[\s\p{Cc}]+/gu, ' ')
			.trim(),
		from: header('From'),
		replyTo: header('Reply-To'),
		to: header('To'),
		cc: header('Cc'),
	};
}

/** Completes a reply with the recipients and the subject of the original. @throws NodeError 400 if the original names nobody to reply to */
export async function asReply(
	client: Clients,
	outgoing: OutgoingMail,
	replied: RepliedMail,
	params: SendParams,
	item: Item,
): Promise<OutgoingMail> {
	const { replyAll } = params;
	const needsOwn = outgoing.to.length === 0 || replyAll;
	const own = needsOwn
		? (await sendAsOf(client)).map(({ sendAsEmail }) => mailboxName(sendAsEmail ?? ''))
		: [];
	const isOwn = ({ address }: Address) => own.includes(mailboxName(address));
	const to = outgoing.to.length > 0 ? outgoing.to : answered(replied, isOwn, item);
	if (to.length === 0 && !isDraft(params)) {
		throw refusal(
			'The email to reply to has no address that can be answered',
			`Enter at least one address in ${named('to')}.`,
		);
	}
	const taken = [...to, ...outgoing.cc, ...outgoing.bcc];
	const everyone = replyAll ? [...listed(replied.to, item), ...listed(replied.cc, item)] : [];
	const others = everyone.filter((address) => !isOwn(address));
	const again = /^re(?:\[\d+\])?\s?:/i.test(replied.subject) ? replied.subject : `Re: ${replied.subject}`;
	const subject = outgoing.subject.trim() === '' ? again : outgoing.subject;
	if (bare(subject) !== bare(replied.subject)) {
		item.hint(
			"The subject differs from the subject of the original email, so Gmail may not show the reply in the same conversation. To keep the conversation, use the same subject, with or without 'Re:'.",
		);
	}
	return { ...outgoing, to, cc: [...outgoing.cc, ...without(others, taken)], subject };
}

/** The recipients of a reply: those that the sender wants replies at. A reply to the account's own email goes where that email went. */
function answered(
	{ from, replyTo, to }: RepliedMail,
	isOwn: (address: Address) => boolean,
	item: Item,
): Address[] {
	const senders = listed(from, item);
	if (senders.some(isOwn)) return without(listed(to, item), []);
	const wanted = listed(replyTo, item);
	return without(wanted.length > 0 ? wanted : senders, []);
}

/** The addresses in a header of the original. Entries without one, such as a group without members, are left out. */
function listed(header: string, item: Item): Address[] {
	const { addresses, others } = addressesIn(header);
	const lost = others.filter((entry) => entry.includes('@'));
	if (lost.length > 0) {
		item.hint(
			`The original email names a recipient that is not an email address, so the reply does not go to: ${lost.map((entry) => shortened(entry)).join('; ')}`,
		);
	}
	return addresses;
}

/** The addresses that are not taken, each one once. */
function without(addresses: readonly Address[], taken: readonly Address[]): Address[] {
	const seen = new Set(taken.map(({ address }) => address.toLowerCase()));
	return addresses.filter(({ address }) => {
		const isNew = !seen.has(address.toLowerCase());
		seen.add(address.toLowerCase());
		return isNew;
	});
}

/** An address without what Gmail ignores in one: letter case, a part after a plus sign and, at Gmail's own domains, dots. */
function mailboxName(address: string): string {
	const [, local = '', domain = ''] = /^(.*)@(.*)$/s.exec(address.toLowerCase()) ?? [];
	const isGmail = domain === 'gmail.com' || domain === 'googlemail.com';
	const name = local.replace(/\+.*$/s, '');
	return isGmail ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`;
}

/** The subject without the prefixes of replies and forwards, which do not count. */
function bare(subject: string): string {
	return subject.trim().replace(/^(?:(?:re|aw|sv|antw|fwd?|wg)(?:\[\d+\])?:\s*)+/i, '');
}
