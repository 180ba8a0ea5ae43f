import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { BoundedMap } from '../../../../core/boundedMap';
import { getGlobalSingleton } from '../../../../core/runtime';
import { isSameIgnoringCase } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { Address } from './addresses';
import type { OutgoingMail } from './compose';

/** Gmail's settings for one of the addresses that an account may send from. */
type SendAs = gmail_v1.Schema$SendAs;

const factLifetimeMilliseconds = 10 * 60_000;

/** Fetches a fact about an account that rarely changes, at most every ten minutes. @param credentialHash as in `Clients` */
async function fetchAccountFact<T>(
	credentialHash: string,
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

/**
 * Finds the sender for the header From. If the user gave no name, uses the account's name, because Gmail would send the bare address.
 * @returns undefined if Gmail may fill in the sender itself
 */
export async function findSender(
	clients: Clients,
	{ senderName, fromAlias }: OutgoingMail,
	item: Item,
) {
	const chosenName = senderName || (fromAlias?.name ?? '');
	// A name in the header From needs an address next to it.
	if (chosenName !== '' && !fromAlias)
		return { name: chosenName, address: await fetchOwnAddress(clients) };
	// The request is not retried, because a name is not worth a pause. If the credential lacks the scope, the email shows no name.
	const requestOptions = { retryConfig: { retry: 0 }, timeout: 10_000 };
	const allSettings = await item.doOnce('mail.senders', () =>
		listSendAs(clients, requestOptions).catch((error: unknown) => {
			item.log(`Could not get the display name of the account: ${String(error)}`);
			return [];
		}),
	);
	const ownSettings = findSendAs(allSettings, undefined);
	const senderSettings = findSendAs(allSettings, fromAlias);
	if (fromAlias && ownSettings && !senderSettings)
		item.addHint(
			`Gmail may replace ${fromAlias.address} by ${ownSettings.sendAsEmail ?? ''}, because it was not among the account's 'Send mail as' addresses in the last ten minutes. Change ${quoteField('fromAlias')}, or add the address in Gmail's settings.`,
		);
	// An alias without a name uses the name of the account.
	const rawName = chosenName || senderSettings?.displayName || ownSettings?.displayName || '';
	const displayName = rawName.replaceAll(/\p{Cc}+/gu, ' ').trim();
	const address = fromAlias?.address ?? ownSettings?.sendAsEmail;
	return displayName !== '' && address ? { name: displayName, address } : fromAlias;
}

/** Finds the settings of an alias, or of the account's own address if there is no alias. */
export const findSendAs = (allSettings: readonly SendAs[], alias: Address | undefined) =>
	allSettings.find(({ sendAsEmail, isPrimary }) =>
		alias ? isSameIgnoringCase(sendAsEmail ?? '', alias.address) : isPrimary,
	);

/** Lists the addresses that the account sends from, with their names and signatures. */
export async function listSendAs(
	{ credentialHash, gmail }: Clients,
	options = {},
): Promise<SendAs[]> {
	return await fetchAccountFact(credentialHash, 'sendAs', async () => {
		const fields = 'sendAs(sendAsEmail,displayName,isPrimary,signature)';
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
