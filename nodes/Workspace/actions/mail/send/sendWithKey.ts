import { BoundedMap } from '../../../../core/maps';
import { getGlobalMutex } from '../../../../core/keyedMutex';
import { ignoreNotFound, isNodeError } from '../../../../core/errors';
import { getGlobalSingleton } from '../../../../core/globalSingleton';
import { type KeyHashes, createKeyReusedError } from '../../../idempotency';
import { toGoogleFailure } from '../../../google/errors';
import type { Clients, Item } from '../../../operation';
import { mapWithConcurrency, smallConcurrency } from '../mapWithConcurrency';
import type { OutgoingMail } from './compose';
import { findDeliveredMail } from './findDeliveredMail';
import {
	type DeliveredMail,
	fetchMailWithMarker,
	type FolderEntry,
	listMailFolder,
	type MailFolder,
} from './mailFolder';
import { listOwnAddresses } from './sender';

const searchedDays = 30;
/** Limits the emails that are checked for the key, because each of them costs a request. */
const maxCandidates = 100;

/**
 * Finds emails with the key: first drafts, then sent emails, each newest first. For an email that
 * is to be sent, finds no drafts.
 */
async function findMailsWithKey(clients: Clients, mail: OutgoingMail, keyHash: string, item: Item) {
	const query = buildKeyQuery(mail);
	// The user may have sent the draft of an earlier execution, also between the two searches.
	const folders: MailFolder[] = mail.folder === 'drafts' ? ['drafts', 'sent'] : ['sent'];
	const entries: FolderEntry[] = [];
	for (const folder of folders) {
		const listed = await listMailFolder(clients, folder, maxCandidates, query);
		if (listed.length >= maxCandidates)
			item.addHint(
				`Many emails of the last ${searchedDays} days have these recipients and this subject. The node searched only the newest ${maxCandidates} for the key. Add something unique to the subject, such as an order number.`,
			);
		entries.push(...listed);
	}
	const mailsWithMarkers = await mapWithConcurrency(entries, smallConcurrency, (entry) =>
		fetchMailWithMarker(clients, entry),
	);
	return mailsWithMarkers.filter((found) => found.keyHash === keyHash);
}

/**
 * Builds a search from the first addresses and words that Gmail takes literally. With other words,
 * the search could miss the email.
 */
function buildKeyQuery({ to, subject }: OutgoingMail): string {
	const startSeconds = Math.floor(Date.now() / 1000) - searchedDays * 86_400;
	const addresses = to
		.map(({ address }) => address)
		.filter((address) => /^[\w.-]+@[\w.-]+$/.test(address));
	const words = subject.split(/\s+/).filter((word) => /^[A-Za-z0-9]{2,30}$/.test(word));
	const terms = [
		`after:${startSeconds}`,
		...addresses.slice(0, 3).map((address) => `to:${address}`),
		...words.slice(0, 8).map((word) => `subject:${word.toLowerCase()}`),
	];
	return terms.join(' ');
}

/**
 * Emails by the account's address and the key hash. They are kept because Gmail lists an email only
 * some time after it was sent.
 */
const recentMails = getGlobalSingleton(
	'recentMails',
	() => new BoundedMap<string, FolderEntry>(10_000),
);
const mutex = getGlobalMutex('mailKeys');

/**
 * Sends or saves an email unless that was already done with its key. Executions in one process take
 * turns. Processes that send at the same moment do not see each other's email before the send, so
 * each searches again after its send, and reports another email.
 * @throws NodeError 409 if the key was used for another email
 */
export async function sendWithKey(
	clients: Clients,
	mail: OutgoingMail,
	{ keyHash, contentHash }: KeyHashes,
	send: () => Promise<DeliveredMail>,
	item: Item,
): Promise<DeliveredMail> {
	const [ownAddress] = await listOwnAddresses(clients, item);
	const keyInAccount = `${ownAddress} ${keyHash}`;
	return await mutex.doInTurn(keyInAccount, async () => {
		// If several emails have the key, the oldest sent one counts, or else the oldest draft. The
		// first execution probably made it.
		const priorMail =
			(await findRecentMail(clients, keyInAccount)) ??
			(await findMailsWithKey(clients, mail, keyHash, item)).at(-1);
		// A draft that somebody has edited in Gmail may have lost its marker.
		if (priorMail?.contentHash && priorMail.contentHash !== contentHash)
			throw createKeyReusedError(`the email ${priorMail.mail.id}`);
		if (priorMail) return { ...priorMail.mail, repeated: true };
		const delivered = await send().catch(async (error: unknown) => {
			// The outcome must be known before the next send with this key starts.
			const failure = toGoogleFailure(error, item.log.bind(item));
			// Google may have sent the email and then a response that cannot be read.
			const isUnreadable = !isNodeError(error) && failure.code === 502;
			if (failure.outcome === 'unknown' || isUnreadable)
				return await findDeliveredMail(clients, mail.folder, failure, item);
			throw error;
		});
		recentMails.set(keyInAccount, delivered);
		// The item's own email is sent, so a search that fails is only logged.
		await addSecondSendHint(clients, mail, keyHash, delivered.id, item).catch(
			(error: unknown) => {
				item.log(`Could not check whether another email has this key: ${String(error)}`);
			},
		);
		return delivered;
	});
}

/** Adds a hint if another process also sent an email with this key. */
async function addSecondSendHint(
	clients: Clients,
	mail: OutgoingMail,
	keyHash: string,
	id: string,
	item: Item,
) {
	const found = await findMailsWithKey(clients, mail, keyHash, item);
	const other = found.find((each) => each.mail.id !== id);
	if (!other) return;
	const verb = mail.folder === 'drafts' ? 'saved' : 'sent';
	item.addHint(
		`Two executions ${verb} an email with this key at the same moment: ${other.mail.id} and ${id}. Gmail cannot prevent this.`,
	);
}

/**
 * Finds an email that this process sent or saved with the key. Asks Gmail whether it exists,
 * because a deleted email may be sent again.
 */
async function findRecentMail(clients: Clients, keyInAccount: string) {
	const entry = recentMails.get(keyInAccount);
	return entry && (await ignoreNotFound(fetchMailWithMarker(clients, entry)));
}
