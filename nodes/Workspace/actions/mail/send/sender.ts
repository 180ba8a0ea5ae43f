import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { accountFact } from '../../../google/accountFacts';
import type { Clients, Item } from '../../../operation';
import type { Address } from './addresses';

interface Wanted {
	readonly senderName: string;
	readonly fromAlias: Address | undefined;
}

/**
 * The sender for From. If no name is given, uses the name from the account's settings, because an email
 * without From is sent with the bare address.
 * @returns undefined if Gmail may fill in the address itself
 */
export async function senderOf(
	client: Clients,
	{ senderName, fromAlias }: Wanted,
	item: Item,
): Promise<Address | undefined> {
	const name = senderName || (fromAlias?.name ?? '');
	if (name !== '') {
		return { name, address: fromAlias?.address ?? (await ownAddress(client, item)) };
	}
	const known = await sendersOf(client, item);
	const primary = known.find(({ isPrimary }) => isPrimary);
	const chosen =
		fromAlias === undefined ? primary : known.find(({ sendAsEmail }) => isSame(sendAsEmail, fromAlias));
	// An alias without a name uses the account's.
	const ownName = (chosen?.displayName || primary?.displayName || '').replaceAll(/\p{Cc}+/gu, ' ').trim();
	const address = fromAlias?.address ?? primary?.sendAsEmail;
	if (ownName === '' || !address) return fromAlias;
	return { name: ownName, address };
}

function isSame(email: string | null | undefined, { address }: Address): boolean {
	return email?.toLowerCase() === address.toLowerCase();
}

/** Not retried: a name is not worth a wait. Without the scope for it, no name is shown. */
async function sendersOf({ account, gmail }: Clients, item: Item): Promise<gmail_v1.Schema$SendAs[]> {
	return await item.once('mail.senders', async () => {
		const fields = 'sendAs(sendAsEmail,displayName,isPrimary)';
		const look = accountFact(account, 'senders', async () => {
			const once = { retryConfig: { retry: 0 }, timeout: 10_000 };
			const { data } = await gmail.users.settings.sendAs.list({ userId: 'me', fields }, once);
			return data.sendAs ?? [];
		});
		return await look.catch((error: unknown) => {
			item.log(`Could not get the display name of the account: ${String(error)}`);
			return [];
		});
	});
}

/** The account's own address. A display name in From requires it. */
export async function ownAddress({ account, gmail }: Clients, item: Item): Promise<string> {
	return await item.once('mail.ownAddress', async () => {
		return await accountFact(account, 'address', async () => {
			const { data } = await gmail.users.getProfile({ userId: 'me', fields: 'emailAddress' });
			return data.emailAddress ?? '';
		});
	});
}
