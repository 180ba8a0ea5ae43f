import { BoundedMap } from '../../../../core/boundedMap';
import { KeyedMutex } from '../../../../core/keyedMutex';
import { ignoreNotFound, isNodeError } from '../../../../core/errors';
import { initialConcurrency } from '../../../../http/rateLimiter';
import { hashParts, type KeyHashes, hashIdempotencyKey, createKeyReusedError } from '../../../idempotency';
import type { Clients, Item } from '../../../operation';
import { runInParallel } from '../runInParallel';
import type { Address } from './addresses';
import type { OutgoingMail } from './compose';
import { isDraft, type SendParams } from './fields';
import type { ListedMail, MailFolder, SentMail } from './findSentMail';
import { findSentMail, listMailFolder, toSentMail, readMarker } from './findSentMail';
import { fetchOwnAddress } from './sender';

/** Hashes the key and the content of an email. Returns undefined if there is no key. */
export function hashMailKey(params: SendParams, { files }: OutgoingMail): KeyHashes | undefined {
	const keyHash = hashIdempotencyKey({ key: params.idempotencyKey, operation: 'mail send', target: '' });
	if (keyHash === undefined) return undefined;
	const { to, cc, bcc, replyTo, subject, body, bodyFormat, senderName, fromAlias, replyToMessageId } = params;
	const texts = [to, cc, bcc, replyTo, subject, body, bodyFormat, senderName, fromAlias, replyToMessageId];
	const { replyAll, quoteOriginal, includeSignature } = params;
	const content = hashParts([
		...texts,
		JSON.stringify([params.headers, replyAll, quoteOriginal, includeSignature, isDraft(params)]),
		// Two PDFs that Google makes of the same document differ, so the document's ID stands for its PDF.
		...files.flatMap(({ filename, contentType = '', content: bytes, printedId }) => [
			filename,
			contentType,
			printedId ?? bytes,
		]),
	]);
	// Half of the hash is enough to distinguish the emails of one key, and keeps the header line short.
	return { keyHash, contentHash: content.slice(0, 32) };
}

const searchedDays = 30;
/** Limits the emails that are checked for the key, because each of them costs a request. */
const maxCandidates = 100;

/** An email with a key, and the hash of its content. */
interface KeyedMail {
	readonly mail: SentMail;
	readonly content: string;
}

/** Finds emails with the key, newest first. For a draft, also searches the sent emails, because the user may have sent it meanwhile. */
async function findMailsWithKey({ client, item, outgoing, keyHashes }: KeyedSend, excludedId?: string) {
	const { to, subject, folder } = outgoing;
	const listFolder = async (mailFolder: MailFolder) =>
		await listMailFolder(client, mailFolder, maxCandidates, buildKeyQuery(to, subject));
	const drafts = folder === 'drafts' ? [await listFolder('drafts')] : [];
	const folders = [...drafts, await listFolder('sent')];
	if (folders.some(({ isPartial }) => isPartial)) {
		item.addHint(
			`More than ${maxCandidates} emails of the last ${searchedDays} days have these recipients and this subject. The node searched only the newest ones for the key. To include all of them, add something unique to the subject, such as an order number.`,
		);
	}
	const mails = folders.flatMap((listed): ListedMail[] => listed.mails).filter(({ id }) => id !== excludedId);
	const readMailMarker = async (mail: ListedMail) => await readMarker(client, mail);
	const markedMails = await runInParallel(mails, initialConcurrency, readMailMarker);
	return markedMails.flatMap(({ mail, parts: [, keyHash, content = ''] }) =>
		keyHash === keyHashes.keyHash ? [{ mail, content }] : [],
	);
}

/** Uses only words that Gmail's search takes literally. A word too many would hide the email. A word too few only costs a request. */
function buildKeyQuery(to: readonly Address[], subject: string): string {
	const startSeconds = Math.floor(Date.now() / 1000) - searchedDays * 86_400;
	const addresses = to.map(({ address }) => address).filter((address) => /^[\w.-]+@[\w.-]+$/.test(address));
	const words = subject.split(/\s+/).filter((word) => /^[A-Za-z0-9]{2,30}$/.test(word));
	return [
		`after:${startSeconds}`,
		...addresses.slice(0, 3).map((address) => `to:${address}`),
		...words.slice(0, 8).map((word) => `subject:${word.toLowerCase()}`),
	].join(' ');
}

/** Emails that this process sent, by account and key. They are kept because Gmail lists an email only some time after it was sent. */
const recentMails = new BoundedMap<string, KeyedMail>(10_000);
const mutex = new KeyedMutex();

interface KeyedSend {
	readonly client: Clients;
	readonly item: Item;
	readonly outgoing: OutgoingMail;
	readonly keyHashes: KeyHashes;
}

/**
 * Sends an email unless an email was already sent with its key. Executions in one process wait for each other. Processes that send at the
 * same moment do not see each other's email before the send, so a search after the send finds the second email and reports it.
 * @throws NodeError 409 if the key was used for another email
 */
export async function sendWithKey(keyedSend: KeyedSend, send: () => Promise<SentMail>): Promise<SentMail> {
	const { client, item, outgoing, keyHashes } = keyedSend;
	const mutexKey = `${await fetchOwnAddress(client)} ${keyHashes.keyHash}`;
	return await mutex.run(mutexKey, async () => {
		const priorMail = (await findRecentMail(client, mutexKey)) ?? (await findMailsWithKey(keyedSend)).at(-1);
		if (priorMail && priorMail.content !== keyHashes.contentHash)
			throw createKeyReusedError(`the message ${priorMail.mail.id}`);
		if (priorMail) return { ...priorMail.mail, repeated: true };
		const mail = await send().catch(async (error: unknown) => {
			// The outcome must be known before the next send with this key starts.
			if (isNodeError(error) && error.outcome === 'unknown')
				return await findSentMail(client, outgoing.folder, error, item);
			throw error;
		});
		recentMails.set(mutexKey, { mail, content: keyHashes.contentHash });
		await addSecondSendHint(keyedSend, mail);
		return mail;
	});
}

/** Finds an email that this process sent with the key. Asks Gmail whether it still exists, because a deleted email may be sent again. */
async function findRecentMail({ gmail }: Clients, mutexKey: string): Promise<KeyedMail | undefined> {
	const recentMail = recentMails.get(mutexKey);
	if (!recentMail) return undefined;
	const request = { userId: 'me', id: recentMail.mail.id, format: 'minimal', fields: 'id,threadId,labelIds' };
	const response = await ignoreNotFound(gmail.users.messages.get(request));
	if (response) return { ...recentMail, mail: toSentMail(response.data, recentMail.mail.draftId) };
	recentMails.delete(mutexKey);
	return undefined;
}

/** Adds a hint if another process also sent an email with this key. This email was sent, so nothing here may fail the item. */
async function addSecondSendHint(keyedSend: KeyedSend, { id }: SentMail): Promise<void> {
	const { item } = keyedSend;
	const [otherMail] = await findMailsWithKey(keyedSend, id).catch((error: unknown) => {
		item.log(`Could not check whether another email has this key: ${String(error)}`);
		return [];
	});
	if (!otherMail) return;
	item.addHint(
		`Two executions sent an email with this key at the same moment: ${otherMail.mail.id} and ${id}. Gmail cannot prevent this.`,
	);
}
