import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { BoundedMap } from '../../../../core/maps';
import { createRefusal } from '../../../../core/errors';
import { getGlobalSingleton } from '../../../../core/globalSingleton';
import { isSameIgnoringCase, joinLines, shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { Address } from '../addresses';
import type { PreparedMail } from './prepareMail';

/** Gmail's settings for one of the addresses that an account may send from. */
type SendAs = gmail_v1.Schema$SendAs;

const listLifetimeMilliseconds = 10 * 60_000;
/** The addresses that each account may send from, by credential. They rarely change. */
const senderLists = getGlobalSingleton(
	'senderLists',
	() => new BoundedMap<string, { fetchedAt: number; senders: SendAs[] }>(),
);

/** Leaves out addresses whose owners have not confirmed them, which Gmail ignores. */
async function fetchSenders({ gmail, credentialHash }: Clients, options = {}) {
	const fields =
		'sendAs(sendAsEmail,displayName,isPrimary,isDefault,verificationStatus,signature)';
	const { data } = await gmail.users.settings.sendAs.list({ userId: 'me', fields }, options);
	const { sendAs = [] } = data;
	const senders = sendAs.filter(({ verificationStatus }) => verificationStatus !== 'pending');
	senderLists.set(credentialHash, { fetchedAt: performance.now(), senders });
	return senders;
}

/**
 * Lists the addresses from which the account itself sends, in lower case, its own one first. If the
 * settings cannot be read, this is its own one alone.
 */
export async function listOwnAddresses(clients: Clients, item: Item): Promise<string[]> {
	const senders = await listKnownSenders(clients, item);
	const primarySenders = senders.filter(({ isPrimary }) => isPrimary);
	const otherSenders = senders.filter(({ isPrimary }) => !isPrimary);
	const addresses = [...primarySenders, ...otherSenders].map(({ sendAsEmail }) => sendAsEmail);
	if (addresses.length > 0) return addresses.map((address) => (address ?? '').toLowerCase());
	const request = { userId: 'me', fields: 'emailAddress' };
	const { data } = await clients.gmail.users.getProfile(request);
	return [data.emailAddress?.toLowerCase() ?? ''];
}

/**
 * Lists the addresses that the account may send from, as they were at most ten minutes ago, or none
 * if they cannot be read. The credential may lack the scope, so this is not retried.
 */
async function listKnownSenders(clients: Clients, item: Item): Promise<SendAs[]> {
	const list = senderLists.get(clients.credentialHash);
	if (list && performance.now() - list.fetchedAt < listLifetimeMilliseconds) return list.senders;
	const options = { retryConfig: { retry: 0 }, timeout: 10_000 };
	return await item.doOnce('mail.senders', () =>
		fetchSenders(clients, options).catch((error: unknown) => {
			item.log(`Could not get the addresses that the account sends from: ${String(error)}`);
			return [];
		}),
	);
}

export type Sender = Awaited<ReturnType<typeof findSender>>;

/**
 * Finds the chosen alias, or else the address that the account sends from by default. If the user
 * gave no name, uses the one in the settings, because Gmail would send the bare address.
 * @throws NodeError 400 if the account cannot send from the alias
 * @returns `from` for the header (without it, Gmail adds the account's own address), and the
 * signature in the Gmail settings, as HTML
 */
export async function findSender(clients: Clients, mail: PreparedMail, item: Item) {
	const { senderName, fromAlias } = mail;
	const needsCurrentSettings =
		fromAlias !== undefined || mail.includeSignature || senderName !== '';
	// The alias or the signature may be a new one, so the settings are fetched as they are now.
	const senders = needsCurrentSettings
		? await item.doOnce('mail.aliases', () => fetchSenders(clients))
		: await listKnownSenders(clients, item);
	const account = senders.find(({ isPrimary }) => isPrimary);
	const defaultSender = senders.find(({ isDefault }) => isDefault) ?? account;
	const sender = fromAlias ? findAlias(senders, fromAlias) : defaultSender;
	if (!sender?.sendAsEmail) return { from: undefined, signature: '' };
	// An alias without a name has the name of the account.
	const name = senderName || fromAlias?.name || sender.displayName || account?.displayName;
	return {
		from: { name: joinLines(name ?? ''), address: sender.sendAsEmail },
		signature: sender.signature?.trim() ?? '',
	};
}

function findAlias(senders: readonly SendAs[], alias: Address): SendAs {
	const found = senders.find(({ sendAsEmail }) => isSameIgnoringCase(sendAsEmail, alias.address));
	if (found) return found;
	const addresses = senders.map(({ sendAsEmail }) => sendAsEmail).join(', ');
	throw createRefusal(
		`The account cannot send from ${shorten(alias.address)}, because it is not among its confirmed 'Send mail as' addresses`,
		`Nothing was sent. Set ${quoteField('fromAlias')} to one of: ${addresses}. To use another address, add and confirm it in Gmail's settings under Accounts.`,
	);
}
