import type { Clients, Item } from '../../../operation';
import { hashOf, markOf, usedBefore } from '../../../idempotency';
import { headerOf } from '../../../../untrusted/mail/headers';
import { inParallel } from '../inParallel';
import type { Address } from './addresses';
import { sentMail, type SentMail } from './deliver';
import { markerHeader } from './headerFields';
import type { Draft } from './compose';
import type { SendParams } from './fields';

/** What identifies an email with an idempotency key. */
export interface Keyed {
	/** Hash of the key. */
	readonly mark: string;
	/** Hash of everything that makes up the email. A different email with the same key is refused. */
	readonly content: string;
}

/** @returns undefined if there is no key */
export function keyedOf(params: SendParams, { files }: Pick<Draft, 'files'>): Keyed | undefined {
	const mark = markOf({ key: params.idempotencyKey, operation: 'mail send', target: '' });
	if (mark === undefined) return undefined;
	const { to, cc, bcc, replyTo, subject, body, bodyFormat, senderName, fromAlias, replyToMessageId } = params;
	const texts = [to, cc, bcc, replyTo, subject, body, bodyFormat, senderName, fromAlias, replyToMessageId];
	const content = hashOf([
		...texts,
		JSON.stringify(params.headers),
		...files.flatMap(({ filename, contentType = '', content: bytes }) => [filename, contentType, bytes]),
	]);
	// Half of it is enough to tell the emails of one key apart, and keeps the header line short.
	return { mark, content: content.slice(0, 32) };
}

/** The value of the marker header: the token of this try, and the key's data if there is one. */
export function markerOf(token: string, keyed: Keyed | undefined): string {
	return keyed === undefined ? token : `${token} ${keyed.mark} ${keyed.content}`;
}

const daysBack = 30;
/** Limit on the sent emails that are checked; each costs a request. */
const mostCandidates = 100;
const atOnce = 5;

export interface Looked {
	/** The emails with the key, newest first. */
	readonly found: ReadonlyArray<{ readonly mail: SentMail; readonly content: string }>;
	/** There were more emails than were checked. */
	readonly isPartial: boolean;
}

/** Looks for emails with a key among those sent to the same recipients with the same subject. */
export async function lookForKey(
	client: Clients,
	{ mark }: Keyed,
	{ to, subject }: Pick<Draft, 'to' | 'subject'>,
	known: readonly string[] = [],
): Promise<Looked> {
	const { data } = await client.gmail.users.messages.list({
		userId: 'me',
		labelIds: ['SENT'],
		q: queryFor(to, subject),
		maxResults: mostCandidates,
		fields: 'messages/id,nextPageToken',
	});
	const ids = (data.messages ?? []).flatMap(({ id }) => (id && !known.includes(id) ? [id] : []));
	const marked = await inParallel(ids, atOnce, async (id) => await markedMail(client, id));
	return {
		found: marked.flatMap(({ mail, parts: [, ofKey, content = ''] }) =>
			ofKey === mark ? [{ mail, content }] : [],
		),
		isPartial: Boolean(data.nextPageToken),
	};
}

async function markedMail({ gmail }: Clients, id: string): Promise<{ mail: SentMail; parts: string[] }> {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: [markerHeader],
		fields: 'id,threadId,labelIds,payload/headers',
	});
	return { mail: sentMail(data), parts: (headerOf(data, markerHeader) ?? '').split(/\s+/) };
}

/**
 * Uses only words that every search takes literally: one word too many would hide the email, one too few only
 * costs a request.
 */
function queryFor(to: readonly Address[], subject: string): string {
	const since = Math.floor(Date.now() / 1000) - daysBack * 86_400;
	const addresses = to.map(({ address }) => address).filter((address) => /^[\w.-]+@[\w.-]+$/.test(address));
	const words = subject.split(/\s+/).filter((word) => /^[A-Za-z0-9]{2,30}$/.test(word));
	return [
		`after:${since}`,
		...addresses.slice(0, 3).map((address) => `to:${address}`),
		...words.slice(0, 8).map((word) => `subject:${word.toLowerCase()}`),
	].join(' ');
}

/**
 * The first result for a key.
 * @throws Failure 409 if the key was used for another email
 */
export function repeated(
	{ mail, content }: { readonly mail: SentMail; readonly content: string },
	keyed: Keyed,
): SentMail {
	if (content !== keyed.content) throw usedBefore(`the message ${mail.id}`);
	return { ...mail, repeated: true };
}

/** Tells the user when the check was incomplete. */
export function hintAboutPartial({ isPartial }: Looked, item: Item): void {
	if (!isPartial) return;
	item.hint(
		`More than ${mostCandidates} emails of the last ${daysBack} days have these recipients and this subject. The node searched only the newest ones for the key. To include all of them, add something unique to the subject, such as an order number.`,
	);
}
