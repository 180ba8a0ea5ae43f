import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { BoundedMap } from '../../../../core/boundedMap';
import { createRefusal } from '../../../../core/errors';
import { getGlobalSingleton } from '../../../../core/runtime';
import { isSameIgnoringCase, joinLines, shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { Address } from '../addresses';
import type { PreparedMail } from './prepareMail';

/** Gmail's settings for one of the addresses that an account may send from. */
type SendAs = gmail_v1.Schema$SendAs;

const factLifetimeMilliseconds = 10 * 60_000;
/** What is known of an account, by credential. It rarely changes. */
const accountFacts = getGlobalSingleton(
	'accountFacts',
	() => new BoundedMap<string, { learnedAt: number; allSettings: SendAs[] }>(),
);

/** Lists the addresses that the account may send from, as they were at most ten minutes ago. */
async function listSendAs(clients: Clients, options = {}) {
	const facts = accountFacts.get(clients.credentialHash);
	const isRecent = facts && performance.now() - facts.learnedAt < factLifetimeMilliseconds;
	return isRecent ? facts.allSettings : await fetchSendAs(clients, options);
}

/** Leaves out addresses whose owners have not confirmed them, which Gmail ignores. */
async function fetchSendAs({ gmail, credentialHash }: Clients, options = {}) {
	const fields =
		'sendAs(sendAsEmail,displayName,isPrimary,isDefault,verificationStatus,signature)';
	const { data } = await gmail.users.settings.sendAs.list({ userId: 'me', fields }, options);
	const { sendAs = [] } = data;
	const allSettings = sendAs.filter(({ verificationStatus }) => verificationStatus !== 'pending');
	accountFacts.set(credentialHash, { learnedAt: performance.now(), allSettings });
	return allSettings;
}

/** Returns the address of the account itself. */
export async function fetchOwnAddress(clients: Clients): Promise<string> {
	const allSettings = await listSendAs(clients);
	return allSettings.find(({ isPrimary }) => isPrimary)?.sendAsEmail ?? '';
}

/** Lists the addresses from which the account itself sends. If the settings cannot be read, this is the account's address alone. */
export async function listOwnAddresses(clients: Clients, item: Item): Promise<Address[]> {
	const allSettings = await tryToListSendAs(clients, item);
	if (allSettings.length > 0)
		return allSettings.map(({ sendAsEmail }) => ({ name: '', address: sendAsEmail ?? '' }));
	const request = { userId: 'me', fields: 'emailAddress' };
	const { emailAddress } = (await clients.gmail.users.getProfile(request)).data;
	return emailAddress ? [{ name: '', address: emailAddress }] : [];
}

/** Lists the addresses that the account may send from, or none if they cannot be read. The credential may lack the scope, so this is not retried. */
async function tryToListSendAs(clients: Clients, item: Item) {
	const options = { retryConfig: { retry: 0 }, timeout: 10_000 };
	return await item.doOnce('mail.senders', () =>
		listSendAs(clients, options).catch((error: unknown) => {
			item.log(`Could not get the addresses that the account sends from: ${String(error)}`);
			return [];
		}),
	);
}

export type Sender = Awaited<ReturnType<typeof findSender>>;

/**
 * Finds the chosen alias, or else the address that the account sends from by default. If the user gave no name, uses the one in the settings,
 * because Gmail would send the bare address. @throws NodeError 400 if the account cannot send from the alias
 * @returns `from` for the header (without it, Gmail adds the account's own address), and the signature in the Gmail settings, as HTML
 */
export async function findSender(clients: Clients, mail: PreparedMail, item: Item) {
	const { senderName, fromAlias } = mail;
	const mustKnow = fromAlias !== undefined || mail.includeSignature || senderName !== '';
	// The alias or the signature may be a new one, so the settings are fetched as they are now.
	const allSettings = mustKnow
		? await item.doOnce('mail.aliases', () => fetchSendAs(clients))
		: await tryToListSendAs(clients, item);
	const account = allSettings.find(({ isPrimary }) => isPrimary);
	const settings = fromAlias
		? findAlias(allSettings, fromAlias)
		: (allSettings.find(({ isDefault }) => isDefault) ?? account);
	// An alias without a name has the name of the account.
	const name = senderName || fromAlias?.name || settings?.displayName || account?.displayName;
	const address = settings?.sendAsEmail;
	return {
		from: address ? { name: joinLines(name ?? ''), address } : undefined,
		signature: settings?.signature?.trim() ?? '',
	};
}

function findAlias(allSettings: readonly SendAs[], alias: Address): SendAs {
	const found = allSettings.find(({ sendAsEmail }) =>
		isSameIgnoringCase(sendAsEmail, alias.address),
	);
	if (found) return found;
	const addresses = allSettings.map(({ sendAsEmail }) => sendAsEmail).join(', ');
	throw createRefusal(
		`The account cannot send from ${shorten(alias.address)}, because it is not among its confirmed 'Send mail as' addresses`,
		`Nothing was sent. Set ${quoteField('fromAlias')} to one of: ${addresses}. To use another address, add and confirm it in Gmail's settings under Accounts.`,
	);
}
