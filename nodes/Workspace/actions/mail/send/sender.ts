import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { BoundedMap } from '../../../../core/boundedMap';
import { createRefusal } from '../../../../core/errors';
import { getGlobalSingleton } from '../../../../core/runtime';
import { isSameIgnoringCase, shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { Address } from './addresses';
import type { OutgoingMail } from './compose';

/** Gmail's settings for one of the addresses that an account may send from. */
type SendAs = gmail_v1.Schema$SendAs;

const factLifetimeMilliseconds = 10 * 60_000;

const getAccountFacts = () =>
	getGlobalSingleton(
		'accountFacts',
		() => new BoundedMap<string, { readonly learnedAt: number; readonly value: unknown }>(),
	);

/** Fetches a fact about an account that rarely changes, at most every ten minutes. @param credentialHash as in `Clients` */
async function fetchAccountFact<T>(
	credentialHash: string,
	name: string,
	fetchFact: () => Promise<T>,
) {
	const facts = getAccountFacts();
	const key = `${credentialHash} ${name}`;
	const fact = facts.get(key);
	// All facts under one name have the same type, which the type of the map cannot express.
	if (fact && performance.now() - fact.learnedAt < factLifetimeMilliseconds)
		return fact.value as T;
	const value = await fetchFact();
	facts.set(key, { learnedAt: performance.now(), value });
	return value;
}

const forgetAccountFact = (credentialHash: string, name: string) =>
	getAccountFacts().delete(`${credentialHash} ${name}`);

/**
 * Finds the sender for the header From: the chosen alias, or else the address that the account sends from by default. If the user gave no
 * name, uses the one in the settings, because Gmail would send the bare address.
 * @returns undefined if Gmail may fill in the sender itself
 * @throws NodeError 400 if the account cannot send from the alias
 */
export async function findSender(
	clients: Clients,
	{ senderName, fromAlias }: OutgoingMail,
	item: Item,
): Promise<Address | undefined> {
	if (fromAlias) {
		const allSettings = await requireAlias(clients, fromAlias, item);
		return buildSender(
			findSendAs(allSettings, fromAlias),
			senderName || fromAlias.name,
			allSettings,
		);
	}
	const allSettings = await tryToListSendAs(clients, item);
	const defaultSettings = findSendAs(allSettings, undefined);
	// A name in the header From needs an address next to it.
	if (senderName !== '' && !defaultSettings)
		return { name: senderName, address: await fetchOwnAddress(clients) };
	const sender = buildSender(defaultSettings, senderName, allSettings);
	return sender?.name === '' && defaultSettings?.isPrimary ? undefined : sender;
}

/** An alias without a name has the name of the account. */
function buildSender(
	settings: SendAs | undefined,
	chosenName: string,
	allSettings: readonly SendAs[],
) {
	if (!settings?.sendAsEmail) return undefined;
	const accountName = allSettings.find(({ isPrimary }) => isPrimary)?.displayName;
	const name = chosenName || settings.displayName || accountName || '';
	return { name: name.replaceAll(/\p{Cc}+/gu, ' ').trim(), address: settings.sendAsEmail };
}

/** Gmail ignores an address whose owner has not confirmed it yet. */
const isUsable = ({ verificationStatus }: SendAs) => verificationStatus !== 'pending';

/** Lists the settings, and asks Gmail again before it refuses, because the user may have added the alias meanwhile. @throws NodeError 400 */
async function requireAlias(clients: Clients, alias: Address, item: Item): Promise<SendAs[]> {
	const knownSettings = await listSendAs(clients);
	if (findSendAs(knownSettings, alias)) return knownSettings;
	const newSettings = await item.doOnce('mail.senders again', async () => {
		forgetAccountFact(clients.credentialHash, 'sendAs');
		return await listSendAs(clients);
	});
	if (findSendAs(newSettings, alias)) return newSettings;
	const usableAddresses = newSettings.filter(isUsable).map(({ sendAsEmail }) => sendAsEmail);
	const isPending = newSettings.some(({ sendAsEmail }) =>
		isSameIgnoringCase(sendAsEmail, alias.address),
	);
	const reason = isPending
		? 'its owner has not confirmed it yet'
		: "it is not among the account's 'Send mail as' addresses";
	throw createRefusal(
		`The account cannot send from ${shorten(alias.address)}: ${reason}`,
		`Nothing was sent. Set ${quoteField('fromAlias')} to one of: ${usableAddresses.join(', ')}. To use another address, add and confirm it in Gmail's settings under Accounts.`,
	);
}

/** Finds the settings of an alias, or of the address that the account sends from by default. Leaves out addresses that Gmail ignores. */
export function findSendAs(allSettings: readonly SendAs[], alias: Address | undefined) {
	const usableSettings = allSettings.filter(isUsable);
	if (alias)
		return usableSettings.find(({ sendAsEmail }) =>
			isSameIgnoringCase(sendAsEmail, alias.address),
		);
	return (
		usableSettings.find(({ isDefault }) => isDefault) ??
		usableSettings.find(({ isPrimary }) => isPrimary)
	);
}

/** Lists the addresses from which the account itself sends. If the settings cannot be read, this is the account's address alone. */
export async function listOwnAddresses(clients: Clients, item: Item): Promise<string[]> {
	const usableSettings = (await tryToListSendAs(clients, item)).filter(isUsable);
	if (usableSettings.length === 0) return [await fetchOwnAddress(clients)];
	return usableSettings.map(({ sendAsEmail }) => sendAsEmail ?? '');
}

/**
 * Lists the addresses that the account sends from, or none if they cannot be read. The request is not retried, because it is not worth a
 * pause, and the credential may lack the scope.
 */
async function tryToListSendAs(clients: Clients, item: Item): Promise<SendAs[]> {
	const requestOptions = { retryConfig: { retry: 0 }, timeout: 10_000 };
	return await item.doOnce('mail.senders', () =>
		listSendAs(clients, requestOptions).catch((error: unknown) => {
			item.log(`Could not get the addresses that the account sends from: ${String(error)}`);
			return [];
		}),
	);
}

/** Lists the addresses that the account sends from, with their names and signatures. */
export async function listSendAs(
	{ credentialHash, gmail }: Clients,
	options = {},
): Promise<SendAs[]> {
	return await fetchAccountFact(credentialHash, 'sendAs', async () => {
		const fields =
			'sendAs(sendAsEmail,displayName,isPrimary,isDefault,verificationStatus,signature)';
		const { data } = await gmail.users.settings.sendAs.list({ userId: 'me', fields }, options);
		return data.sendAs ?? [];
	});
}

export async function fetchOwnAddress({ credentialHash, gmail }: Clients): Promise<string> {
	return await fetchAccountFact(credentialHash, 'address', async () => {
		const { data } = await gmail.users.getProfile({ userId: 'me', fields: 'emailAddress' });
		return data.emailAddress ?? '';
	});
}
