import { isFailure } from '../../../../core/failure';
import type { Clients, Item } from '../../../operation';
import { sentMail, type SentMail } from './deliver';
import { findSent } from './marker';
import type { Draft } from './compose';
import { ownAddress } from './sender';
import { hintAboutPartial, lookForKey, repeated, type Keyed } from './sentBefore';

interface Recent {
	readonly mail: SentMail;
	readonly content: string;
}

/**
 * Emails sent by this process, by account and key, because Gmail lists an email only some time after it was
 * sent.
 */
const recent = new Map<string, Recent>();
const mostRecent = 10_000;
/** The send in progress or waiting, by account and key. */
const turns = new Map<string, Promise<unknown>>();

interface Sending {
	readonly client: Clients;
	readonly item: Item;
	readonly draft: Draft;
	readonly keyed: Keyed;
}

/**
 * Sends an email unless one was already sent with its key. Executions in one process wait for each other.
 * Executions in several processes that send at the same moment cannot see each other; the second look only
 * reports it.
 * @throws Failure 409 if the key was used for another email
 */
export async function onceByKey(sending: Sending, send: () => Promise<SentMail>): Promise<SentMail> {
	const { client, item, keyed } = sending;
	const name = `${await ownAddress(client, item)} ${keyed.mark}`;
	return await inTurn(name, async () => {
		const before = (await stillThere(client, name)) ?? (await firstFound(sending));
		if (before) return repeated(before, keyed);
		const mail = await send().catch(async (error: unknown) => {
			// The outcome must be known before the next send with this key starts.
			if (isFailure(error) && error.ambiguous) return await findSent(client, error, item);
			throw error;
		});
		remember(name, { mail, content: keyed.content });
		await tellOfAnother(sending, mail);
		return mail;
	});
}

async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
	const turn = (turns.get(name) ?? Promise.resolve()).then(work, work);
	turns.set(name, turn);
	try {
		return await turn;
	} finally {
		if (turns.get(name) === turn) turns.delete(name);
	}
}

function remember(name: string, mail: Recent): void {
	recent.set(name, mail);
	const [oldest] = recent.keys();
	if (recent.size > mostRecent && oldest !== undefined) recent.delete(oldest);
}

/** Gmail decides: an email that the user deleted may be sent again. */
async function stillThere({ gmail }: Clients, name: string): Promise<Recent | undefined> {
	const known = recent.get(name);
	if (!known) return undefined;
	const look = gmail.users.messages.get({
		userId: 'me',
		id: known.mail.id,
		format: 'minimal',
		fields: 'id,threadId,labelIds',
	});
	return await look.then(
		({ data }) => ({ ...known, mail: sentMail(data) }),
		(error: unknown) => {
			if (!isFailure(error) || error.code !== 404) throw error;
			recent.delete(name);
			return undefined;
		},
	);
}

async function firstFound({ client, item, draft, keyed }: Sending): Promise<Recent | undefined> {
	const looked = await lookForKey(client, keyed, draft);
	hintAboutPartial(looked, item);
	// The list is newest first, so this is the oldest email.
	return looked.found.at(-1);
}

/**
 * Reports whether another process sent an email with this key meanwhile. The email was sent, so nothing here
 * may fail the item.
 */
async function tellOfAnother({ client, item, draft, keyed }: Sending, { id }: SentMail): Promise<void> {
	const looked = await lookForKey(client, keyed, draft, [id]).catch((error: unknown) => {
		item.log(`Could not check whether another email has this key: ${String(error)}`);
		return undefined;
	});
	const [other] = looked?.found ?? [];
	if (!other) return;
	item.hint(
		`Two executions sent an email with this key at the same moment: ${other.mail.id} and ${id}. Gmail cannot prevent this.`,
	);
}
