import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { BoundedMap } from '../../../../core/boundedMap';
import { createRefusal } from '../../../../core/errors';
import { getGlobalSingleton } from '../../../../core/runtime';
import { isSameIgnoringCase, shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { Address } from '../addresses';
import type { PreparedMail } from './prepareMail';

/** Gmail's settings for one of the addresses that an account may send from. */
type SendAs = gmail_v1.Schema$SendAs;

const factLifetimeMilliseconds = 10 * 60_000;

/** Fetches a fact about an account that rarely changes, at most every ten minutes. */
async function fetchAccountFact<T>(
	{ credentialHash }: Clients,
	name: string,
	fetchFact: () => Promise<T>,
) {
	const facts = getGlobalSingleton(
		'accountFacts',
		() => new BoundedMap<string, { readonly learnedAt: number; readonly value: unknown }>(),
	);
	const key = `${credentialHash} ${name}`;
	const fact = facts.get(key);
	// All facts under one name have the same type, which the type of the map cannot express.
	if (fact && performance.now() - fact.learnedAt < factLifetimeMilliseconds)
		return fact.value as T;
	const value = await fetchFact();
	facts.set(key, { learnedAt: performance.now(), value });
	return value;
}

export async function fetchOwnAddress(clients: Clients): Promise<string> {
	return await fetchAccountFact(clients, 'address', async () => {
		const request = { userId: 'me', fields: 'emailAddress' };
		return (await clients.gmail.users.getProfile(request)).data.emailAddress ?? '';
	});
}

/** Lists the addresses that the account may send from. Leaves out those whose owners have not confirmed them, which Gmail ignores. */
async function fetchSendAs({ gmail }: Clients, options = {}): Promise<SendAs[]> {
	const fields =
		'sendAs(sendAsEmail,displayName,isPrimary,isDefault,verificationStatus,signature)';
	const { data } = await gmail.users.settings.sendAs.list({ userId: 'me', fields }, options);
	return (data.sendAs ?? []).filter(({ verificationStatus }) => verificationStatus !== 'pending');
}

/**
 * Lists the addresses that the account may send from, or none if the settings cannot be read. The request is not retried, because it is not
 * worth a pause, and the credential may lack the scope.
 */
async function tryToListSendAs(clients: Clients, item: Item): Promise<SendAs[]> {
	const options = { retryConfig: { retry: 0 }, timeout: 10_000 };
	const fetchOnce = async () => await fetchSendAs(clients, options);
	return await item.doOnce('mail.senders', () =>
		fetchAccountFact(clients, 'sendAs', fetchOnce).catch((error: unknown) => {
			item.log(`Could not get the addresses that the account sends from: ${String(error)}`);
			return [];
		}),
	);
}

/** Lists the addresses from which the account itself sends. If the settings cannot be read, this is the account's address alone. */
export async function listOwnAddresses(clients: Clients, item: Item): Promise<string[]> {
	const allSettings = await tryToListSendAs(clients, item);
	if (allSettings.length === 0) return [await fetchOwnAddress(clients)];
	return allSettings.map(({ sendAsEmail }) => sendAsEmail ?? '');
}

export interface Sender {
	/** For the header From. If undefined, Gmail adds the account's own address. */
	readonly from: Address | undefined;
	/** The signature in the Gmail settings, as HTML; '' if there is none. */
	readonly signature: string;
}

/**
 * Finds the chosen alias, or else the address that the account sends from by default. If the user gave no name, uses the one in the settings,
 * because Gmail would send the bare address. @throws NodeError 400 if the account cannot send from the alias
 */
export async function findSender(
	clients: Clients,
	{ senderName, fromAlias, includeSignature }: PreparedMail,
	item: Item,
): Promise<Sender> {
	// The alias may be a new one, so the settings are fetched as they are now.
	const mustKnow = fromAlias !== undefined || includeSignature;
	const allSettings = mustKnow
		? await item.doOnce('mail.aliases', () => fetchSendAs(clients))
		: await tryToListSendAs(clients, item);
	const settings = fromAlias ? findAlias(allSettings, fromAlias) : findDefault(allSettings);
	const accountName = allSettings.find(({ isPrimary }) => isPrimary)?.displayName;
	// An alias without a name has the name of the account.
	const names = [senderName, fromAlias?.name, settings?.displayName, accountName];
	const name = (names.find(Boolean) ?? '').replaceAll(/\p{Cc}+/gu, ' ').trim();
	const signature = settings?.signature?.trim() ?? '';
	const address = settings?.sendAsEmail;
	if (address) return { from: { name, address }, signature };
	if (name === '') return { from: undefined, signature };
	// A name in the header From needs an address next to it.
	return { from: { name, address: await fetchOwnAddress(clients) }, signature };
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

/** Finds the settings of the address that the account sends from by default. */
const findDefault = (allSettings: readonly SendAs[]) =>
	allSettings.find(({ isDefault }) => isDefault) ??
	allSettings.find(({ isPrimary }) => isPrimary);
