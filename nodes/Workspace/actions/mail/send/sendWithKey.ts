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
import { getOwnAddress } from './sender';

/** @returns undefined if there is no key */
export function hashMailKey(params: SendParams, { files }: OutgoingMail): KeyHashes | undefined {
	const mark = hashIdempotencyKey({ key: params.idempotencyKey, operation: 'mail send', target: '' });
	if (mark === undefined) return undefined;
	const { to, cc, bcc, replyTo, subject, body, bodyFormat, senderName, fromAlias, replyToMessageId } = params;
	const texts = [to, cc, bcc, replyTo, subject, body, bodyFormat, senderName, fromAlias, replyToMessageId];
	const { replyAll, quoteOriginal, includeSignature } = params;
	const content = hashParts([
		...texts,
		JSON.stringify([params.headers, replyAll, quoteOriginal, includeSignature, isDraft(params)]),
		// Each PDF that Google makes of a document differs from the one before.
		...files.flatMap(({ filename, contentType = '', content: bytes, printedId }) => [
			filename,
			contentType,
			printedId ?? bytes,
		]),
	]);
	// Half of it is enough to tell the emails of one key apart, and keeps the header line short.
	return { mark, content: content.slice(0, 32) };
}

const searchedDays = 30;
/** Limit on the sent emails that are checked; each costs a request. */
const maxCandidates = 100;

/** An email with a key, and the hash of what it was made from. */
interface KeyedMail {
	readonly mail: SentMail;
	readonly content: string;
}

/** Emails with the key among those to the same recipients with the same subject, newest first. A draft may have been sent meanwhile. */
async function findMailsWithKey({ client, item, outgoing, keyed }: KeyedSend, known?: string) {
	const { to, subject, folder } = outgoing;
	const list = async (one: MailFolder) =>
		await listMailFolder(client, one, maxCandidates, buildKeyQuery(to, subject));
	const drafts = folder === 'drafts' ? [await list('drafts')] : [];
	const folders = [...drafts, await list('sent')];
	if (folders.some(({ isPartial }) => isPartial)) {
		item.addHint(
			`More than ${maxCandidates} emails of the last ${searchedDays} days have these recipients and this subject. The node searched only the newest ones for the key. To include all of them, add something unique to the subject, such as an order number.`,
		);
	}
	const listed = folders.flatMap(({ mails }): ListedMail[] => mails).filter(({ id }) => id !== known);
	const read = async (mail: ListedMail) => await readMarker(client, mail);
	const marked = await runInParallel(listed, initialConcurrency, read);
	return marked.flatMap(({ mail, parts: [, mark, content = ''] }) =>
		mark === keyed.mark ? [{ mail, content }] : [],
	);
}

/** Uses only words that every search takes literally: one too many would hide the email, one too few only costs a request. */
function buildKeyQuery(to: readonly Address[], subject: string): string {
	const since = Math.floor(Date.now() / 1000) - searchedDays * 86_400;
	const addresses = to.map(({ address }) => address).filter((address) => /^[\w.-]+@[\w.-]+$/.test(address));
	const words = subject.split(/\s+/).filter((word) => /^[A-Za-z0-9]{2,30}$/.test(word));
	return [
		`after:${since}`,
		...addresses.slice(0, 3).map((address) => `to:${address}`),
		...words.slice(0, 8).map((word) => `subject:${word.toLowerCase()}`),
	].join(' ');
}

/** Emails sent by this process, by account and key, because Gmail lists an email only some time after it was sent. */
const recentMails = new BoundedMap<string, KeyedMail>(10_000);
/** One send at a time for each account and key. */
const mutex = new KeyedMutex();

interface KeyedSend {
	readonly client: Clients;
	readonly item: Item;
	readonly outgoing: OutgoingMail;
	readonly keyed: KeyHashes;
}

/**
 * Sends an email unless one was sent with its key. Executions in one process wait for each other. Processes that send at the same moment
 * cannot see each other; a search after the send finds and reports that.
 * @throws NodeError 409 if the key was used for another email
 */
export async function sendWithKey(sending: KeyedSend, send: () => Promise<SentMail>): Promise<SentMail> {
	const { client, item, outgoing, keyed } = sending;
	const name = `${await getOwnAddress(client)} ${keyed.mark}`;
	return await mutex.run(name, async () => {
		const before = (await findRecentMail(client, name)) ?? (await findMailsWithKey(sending)).at(-1);
		if (before && before.content !== keyed.content)
			throw createKeyReusedError(`the message ${before.mail.id}`);
		if (before) return { ...before.mail, repeated: true };
		const mail = await send().catch(async (error: unknown) => {
			// The outcome must be known before the next send with this key starts.
			if (isNodeError(error) && error.outcome === 'unknown')
				return await findSentMail(client, outgoing.folder, error, item);
			throw error;
		});
		recentMails.set(name, { mail, content: keyed.content });
		await hintSecondSend(sending, mail);
		return mail;
	});
}

/** An email that this process sent with the key. Gmail is asked for it, because one that the user deleted may be sent again. */
async function findRecentMail({ gmail }: Clients, name: string): Promise<KeyedMail | undefined> {
	const known = recentMails.get(name);
	if (!known) return undefined;
	const request = { userId: 'me', id: known.mail.id, format: 'minimal', fields: 'id,threadId,labelIds' };
	const answer = await ignoreNotFound(gmail.users.messages.get(request));
	if (answer) return { ...known, mail: toSentMail(answer.data, known.mail.draftId) };
	recentMails.delete(name);
	return undefined;
}

/** Adds a hint if another process also sent an email with this key. This email was sent, so nothing here may fail the item. */
async function hintSecondSend(sending: KeyedSend, { id }: SentMail): Promise<void> {
	const { item } = sending;
	const [other] = await findMailsWithKey(sending, id).catch((error: unknown) => {
		item.log(`Could not check whether another email has this key: ${String(error)}`);
		return [];
	});
	if (!other) return;
	item.addHint(
		`Two executions sent an email with this key at the same moment: ${other.mail.id} and ${id}. Gmail cannot prevent this.`,
	);
}
