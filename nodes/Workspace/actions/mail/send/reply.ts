import { createRefusal } from '../../../../core/errors';
import { joinLines, shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { getRawHeader, getRawHeaders } from '../../../../untrusted/mail/mimePart';
import type { Mail } from '../../../../untrusted/mail/readMail';
import type { Clients, Item } from '../../../operation';
import { findAddresses, type Address } from '../addresses';
import { fetchMail } from '../message';
import type { OutgoingMail } from './compose';
import { type PreparedMail, refuseForbiddenRecipients } from './prepareMail';
import { listOwnAddresses } from './sender';

/**
 * In characters. A header of this length holds more than the 500 recipients that Gmail sends an
 * email to.
 */
const maxHeaderLength = 50_000;

/**
 * Reads the addresses in a header of the original. Skips an entry that is no address, with a hint
 * if it has an @.
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

/**
 * Fetches the original email, whole if it is quoted, and adds what a reply takes from its headers.
 * @throws NodeError 404 if the mailbox has no such email; 400 if nobody may get the reply, or
 * if the headers are unreadable
 */
export async function completeReply(
	clients: Clients,
	mail: OutgoingMail,
	item: Item,
): Promise<OutgoingMail> {
	if (mail.replyToMessageId === '') return mail;
	const format = mail.quoteOriginal ? 'full' : 'metadata';
	const original = await fetchMail(clients, mail.replyToMessageId, item, {}, format);
	// Without them, a reply could leave out people, and would be in no conversation.
	if (original.headers.length === 0)
		throw createRefusal(
			'The headers of the original email could not be read',
			'Nothing was sent. Try again, or send a new email.',
		);
	const originalSubject = joinLines(original.summary.subject).slice(0, maxHeaderLength);
	const subject = chooseSubject(mail.subject, originalSubject, item);
	const recipients = await chooseRecipients(clients, mail, original, item);
	const reply = { ...mail, ...recipients, subject, original, ...buildReferences(original) };
	refuseForbiddenRecipients(reply);
	return reply;
}

/** RFC 5322, 3.6.4, says how to build these headers. */
function buildReferences(original: Mail) {
	const readIds = (name: string) => getRawHeaders(original, name).join(' ');
	const inReplyTo = getRawHeader(original, 'Message-ID');
	const earlierIds = readIds('References') || readIds('In-Reply-To');
	return { inReplyTo, references: joinLines(`${earlierIds} ${inReplyTo}`) };
}

function chooseSubject(enteredSubject: string, originalSubject: string, item: Item): string {
	if (enteredSubject.trim() === '') {
		const isReply = /^re(?:\[\d+\])?\s?:/i.test(originalSubject);
		return isReply ? originalSubject : `Re: ${originalSubject}`;
	}
	if (removePrefixes(enteredSubject) !== removePrefixes(originalSubject))
		item.addHint(
			"The subject differs from the subject of the original email, so Gmail may not show the reply in the same conversation. To keep the conversation, use the same subject, with or without 'Re:'.",
		);
	return enteredSubject;
}

/** Matches the prefixes of replies and forwards. In French, a space comes before the colon. */
const prefixPattern = /^(?:(?:re|aw|sv|antw|fwd?|wg)(?:\[\d+\])?\s?:\s*)+/i;

/** Removes the prefixes, which do not count when two subjects are compared. */
const removePrefixes = (subject: string) => subject.trim().replace(prefixPattern, '');

/**
 * Chooses the recipients that the user has not entered.
 * @throws NodeError 400 if there is none, except for a draft
 */
async function chooseRecipients(clients: Clients, mail: PreparedMail, original: Mail, item: Item) {
	if (mail.to.length > 0 && !mail.replyAll) return {};
	const ownAddresses = await listOwnAddresses(clients, item);
	const isOwn = ({ address }: Address) => ownAddresses.includes(address.toLowerCase());
	const answered = findAnsweredAddresses(original, isOwn, item);
	const to = mail.to.length > 0 ? mail.to : removeKnown(answered, []);
	if (to.length === 0 && mail.folder === 'sent')
		throw createRefusal(
			'The original email has no address to reply to',
			`Enter at least one address in ${quoteField('to')}.`,
		);
	if (!mail.replyAll) return { to };
	const { summary, content } = original;
	const otherHeaders = [content.replyTo, summary.to, content.cc].join('\n');
	const others = readRecipients(otherHeaders, item);
	const named = [...to, ...mail.cc, ...mail.bcc].map(({ address }) => address);
	const newCopies = removeKnown([...answered, ...others], [...ownAddresses, ...named]);
	return { to, cc: [...mail.cc, ...newCopies] };
}

/**
 * Returns the addresses in Reply-To, or else the sender. If the account itself sent the original to
 * others, returns those. A contact form may send in the account's name, to the account.
 */
function findAnsweredAddresses(
	{ summary, content }: Mail,
	isOwn: (address: Address) => boolean,
	item: Item,
): Address[] {
	const senders = readRecipients(summary.sender, item);
	if (senders.some(isOwn)) {
		const recipients = readRecipients(summary.to, item);
		const others = recipients.filter((recipient) => !isOwn(recipient));
		if (others.length > 0 || recipients.length === 0) return others;
	}
	const replyToAddresses = readRecipients(content.replyTo, item);
	return replyToAddresses.length > 0 ? replyToAddresses : senders;
}

/**
 * Removes addresses that are known or occurred before. Only case is ignored, so that no recipient
 * gets lost.
 */
function removeKnown(addresses: readonly Address[], known: readonly string[]): Address[] {
	const seen = new Set(known.map((address) => address.toLowerCase()));
	return addresses.filter(({ address }) => {
		const key = address.toLowerCase();
		const isNew = !seen.has(key);
		seen.add(key);
		return isNew;
	});
}
