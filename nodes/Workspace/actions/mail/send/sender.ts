import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { BoundedMap } from '../../../../core/boundedMap';
import { getGlobalSingleton } from '../../../../core/runtime';
import type { Clients, Item } from '../../../operation';
import type { Address } from './addresses';

/** The address to send from, if it is not the account's own. */
type Alias = Address | undefined;

const factLifetimeMilliseconds = 10 * 60_000;

/** Asks for what rarely changes about an account, at most every ten minutes. @param account differs for every account and sign-in */
async function getAccountFact<T>(account: string, name: string, ask: () => Promise<T>): Promise<T> {
	const facts = getGlobalSingleton(
		'accountFacts',
		() => new BoundedMap<string, { readonly learnedAt: number; readonly value: unknown }>(),
	);
	const key = `${account} ${name}`;
	const known = facts.get(key);
	// All answers under one name have the same type, which the type of the map cannot express.
	if (known && performance.now() - known.learnedAt < factLifetimeMilliseconds) return known.value as T;
	const value = await ask();
	facts.set(key, { learnedAt: performance.now(), value });
	return value;
}

/**
 * The sender for From, with the account's own name if none is given: without it, Gmail sends the bare address.
 * @returns undefined if Gmail may fill in the address itself
 */
export async function findSender(client: Clients, senderName: string, fromAlias: Alias, item: Item) {
	const name = senderName || (fromAlias?.name ?? '');
	if (name !== '') return { name, address: fromAlias?.address ?? (await getOwnAddress(client)) };
	// The request is not retried, because a name is not worth a wait. Without the scope for it, no name is shown.
	const once = { retryConfig: { retry: 0 }, timeout: 10_000 };
	const known = await item.once('mail.senders', () =>
		listSendAs(client, once).catch((error: unknown) => {
			item.log(`Could not get the display name of the account: ${String(error)}`);
			return [];
		}),
	);
	const primary = findSendAs(known, undefined);
	// An alias without a name uses the account's.
	const displayName = findSendAs(known, fromAlias)?.displayName || primary?.displayName || '';
	const ownName = displayName.replaceAll(/\p{Cc}+/gu, ' ').trim();
	const address = fromAlias?.address ?? primary?.sendAsEmail;
	return ownName !== '' && address ? { name: ownName, address } : fromAlias;
}

/** The settings of an alias; without one those of the account's own address. */
export function findSendAs(known: readonly SendAs[], alias: Alias): SendAs | undefined {
	const wanted = alias?.address.toLowerCase();
	return known.find(({ sendAsEmail, isPrimary }) =>
		wanted === undefined ? isPrimary : sendAsEmail?.toLowerCase() === wanted,
	);
}

type SendAs = gmail_v1.Schema$SendAs;

/** The addresses that the account sends from, with their names and signatures. */
export async function listSendAs({ account, gmail }: Clients, options: object = {}): Promise<SendAs[]> {
	return await getAccountFact(account, 'sendAs', async () => {
		const fields = 'sendAs(sendAsEmail,displayName,isPrimary,signature)';
		const { data } = await gmail.users.settings.sendAs.list({ userId: 'me', fields }, options);
		return data.sendAs ?? [];
	});
}

/** The account's own address. A display name in From requires it. */
export async function getOwnAddress({ account, gmail }: Clients): Promise<string> {
	return await getAccountFact(account, 'address', async () => {
		const { data } = await gmail.users.getProfile({ userId: 'me', fields: 'emailAddress' });
		return data.emailAddress ?? '';
	});
}
