import { BoundedMap } from '../../../../core/boundedMap';
import { getGlobalMutex } from '../../../../core/keyedMutex';
import { ignoreNotFound, isNodeError } from '../../../../core/errors';
import { getGlobalSingleton } from '../../../../core/runtime';
import { type KeyHashes, createKeyReusedError } from '../../../idempotency';
import type { Clients, Item } from '../../../operation';
import { mapWithConcurrency, smallConcurrency } from '../mapWithConcurrency';
import type { OutgoingMail } from './compose';
import { findDeliveredMail } from './findDeliveredMail';
import type { FolderEntry, DeliveredMail } from './mailFolder';
import { fetchMailWithMarker, listMailFolder } from './mailFolder';
import { listOwnAddresses } from './sender';

const searchedDays = 30;
/** Limits the emails that are checked for the key, because each of them costs a request. */
const maxCandidates = 100;

interface KeyedSend {
	readonly clients: Clients;
	readonly item: Item;
	/** The email with its final recipients and subject. */
	readonly mail: OutgoingMail;
	readonly keyHashes: KeyHashes;
}

/**
 * Finds emails with the key: first drafts, then sent emails, each newest first. For an email that
 * is to be sent, finds no drafts.
 */
async function findMailsWithKey({ clients, item, mail, keyHashes }: KeyedSend) {
	const query = buildKeyQuery(mail);
	const drafts =
		mail.folder === 'drafts'
			? await listMailFolder(clients, 'drafts', maxCandidates, query)
			: [];
	// The user may have sent the draft of an earlier execution, also between the two searches.
	const sentMails = await listMailFolder(clients, 'sent', maxCandidates, query);
	const isCut = [drafts, sentMails].some(({ length }) => length >= maxCandidates);
	if (isCut)
		item.addHint(
			`Many emails of the last ${searchedDays} days have these recipients and this subject. The node searched only the newest ${maxCandidates} for the key. Add something unique to the subject, such as an order number.`,
		);
	const mailsWithMarkers = await mapWithConcurrency(
		[...drafts, ...sentMails],
		smallConcurrency,
		async (entry) => await fetchMailWithMarker(clients, entry),
	);
	return mailsWithMarkers.filter(({ keyHash }) => keyHash === keyHashes.keyHash);
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
export async function sendWithKey(keyedSend: KeyedSend, send: () => Promise<DeliveredMail>) {
	const { clients, item, keyHashes } = keyedSend;
	const [ownAddress] = await listOwnAddresses(clients, item);
	const keyInAccount = `${ownAddress} ${keyHashes.keyHash}`;
	return await mutex.doInTurn(keyInAccount, async () => {
		// If several emails have the key, the oldest sent one counts, or else the oldest draft. The
		// first execution probably made it.
		const priorMail =
			(await findRecentMail(clients, keyInAccount)) ??
			(await findMailsWithKey(keyedSend)).at(-1);
		// A draft that somebody has edited in Gmail may have lost its marker.
		if (priorMail?.contentHash && priorMail.contentHash !== keyHashes.contentHash)
			throw createKeyReusedError(`the email ${priorMail.mail.id}`);
		if (priorMail) return { ...priorMail.mail, repeated: true as const };
		const mail = await send().catch(async (error: unknown) => {
			// The outcome must be known before the next send with this key starts.
			if (isNodeError(error) && error.outcome === 'unknown')
				return await findDeliveredMail(clients, keyedSend.mail.folder, error, item);
			throw error;
		});
		recentMails.set(keyInAccount, mail);
		await addSecondSendHint(keyedSend, mail);
		return mail;
	});
}

/**
 * Finds an email that this process sent or saved with the key. Asks Gmail whether it exists,
 * because a deleted email may be sent again.
 */
async function findRecentMail(clients: Clients, keyInAccount: string) {
	const entry = recentMails.get(keyInAccount);
	if (!entry) return undefined;
	const mail = await ignoreNotFound(fetchMailWithMarker(clients, entry));
	if (!mail) recentMails.delete(keyInAccount);
	return mail;
}

/**
 * Adds a hint if another process also sent an email with this key. A failed search is only logged,
 * because the item's own email is sent.
 */
async function addSecondSendHint(keyedSend: KeyedSend, { id }: DeliveredMail) {
	const { item } = keyedSend;
	const mails = await findMailsWithKey(keyedSend).catch((error: unknown) => {
		item.log(`Could not check whether another email has this key: ${String(error)}`);
		return [];
	});
	const otherMail = mails.find(({ mail }) => mail.id !== id);
	if (!otherMail) return;
	item.addHint(
		`Two executions sent an email with this key at the same moment: ${otherMail.mail.id} and ${id}. Gmail cannot prevent this.`,
	);
}
