import { randomInt } from 'node:crypto';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { isServiceAccount } from '../files.ts';
import { ApiError, type Call, type Service } from '../service.ts';
import type { Bodies } from './charsets.ts';
import { Mailbox, buildSnippet, type StoredMail } from './mailbox.ts';
import { collectParts } from './mime.ts';
import { parseQuery } from './query.ts';
import {
	parseAttachmentId,
	renderMessage,
	toPaddedBase64Url,
	type Format,
	type Rendering,
} from './render.ts';
import { buildNewMail, type MailSeed } from './seed.ts';
import { readOutgoing, type SavedDraft, type SentMail } from './sending.ts';

export interface GmailService extends Service {
	/** Every sent email, in order. An email that was sent twice is here twice. */
	readonly sent: readonly SentMail[];
	/** Every saved draft, in order. */
	readonly drafts: readonly SavedDraft[];
	/** Milliseconds until a sent email appears in lists and searches, as in Gmail. Default 0. */
	indexDelayMilliseconds: number;
	/** Adds a received email to a user's mailbox. @returns its ID */
	seed(mail: MailSeed, user?: string): string;
	/** Permanently deletes an email. */
	remove(id: string, user?: string): void;
	/** Addresses, other than the user's own, that may be used in From. */
	aliases: readonly string[];
	/** Addresses in the settings whose owner has not confirmed them yet. Gmail does not send from them. */
	pendingAliases: readonly string[];
	/** The address that Gmail's own pages send from. By default, the user's own. The API does not use it by itself. */
	defaultAlias: string | undefined;
	/** Labels created by the user: names by ID, such as `Label_1`. */
	labels: Readonly<Record<string, string>>;
	/** Display names in the settings, by address. By default, the user's own address has one. */
	displayNames: Readonly<Record<string, string>>;
	/** Signatures in the settings, as HTML, by address. By default, none. */
	signatures: Readonly<Record<string, string>>;
	/** How texts in old charsets are returned. Default `decoded`. */
	bodies: Bodies;
}

const categories = ['PERSONAL', 'SOCIAL', 'PROMOTIONS', 'UPDATES', 'FORUMS'].map(
	(name) => `CATEGORY_${name}`,
);
const systemLabels = [
	...['CHAT', 'SENT', 'INBOX', 'IMPORTANT', 'TRASH', 'DRAFT', 'SPAM', 'STARRED', 'UNREAD'],
	...categories,
];
const hidden = ['SPAM', 'TRASH'];
const ownName = 'Sam Someone';

/**
 * Gmail: mailboxes with their emails, and what was sent.
 * @param user owner of the mailbox if none is named
 */
export function createGmailService({
	user = 'someone@example.com',
}: { user?: string } = {}): GmailService {
	const mailboxes = new Map<string, Mailbox>();
	const sent: SentMail[] = [];
	const drafts: SavedDraft[] = [];

	const getMailbox = (owner: string): Mailbox => {
		const mailbox = mailboxes.get(owner) ?? new Mailbox();
		mailboxes.set(owner, mailbox);
		return mailbox;
	};
	const findMailbox = (call: Call): Mailbox => {
		// A service account without delegation has no mailbox: googleapis/google-api-nodejs-client#2322.
		if (isServiceAccount(call)) {
			const reasons = { status: 'FAILED_PRECONDITION', reason: 'failedPrecondition' };
			throw new ApiError(400, 'Precondition check failed.', reasons);
		}
		const owner = call.params['userId'];
		if (owner === 'me' || owner === call.user) return getMailbox(call.user);
		throw new ApiError(403, `Delegation denied for ${call.user}`, { reason: 'forbidden' });
	};
	const findMail = (call: Call, name = 'id'): StoredMail => {
		const id = String(call.params[name]);
		if (!mailId.test(id)) throw createInvalidError('Invalid id value');
		return findMailbox(call).get(id) ?? refuseUnknownId();
	};

	const render = (call: Call, mail: StoredMail) =>
		renderMessage(mail, readRendering(call, service.bodies));
	const listLabelIds = () => [...systemLabels, ...Object.keys(service.labels)];

	/** Stores what a call sends or saves, with this label. */
	const storeMail = (call: Call, label: 'SENT' | 'DRAFT') => {
		const mailbox = findMailbox(call);
		const senders = [call.user, ...service.aliases];
		const isDraft = label === 'DRAFT';
		const { kept, ...outgoing } = readOutgoing(call, mailbox, senders, isDraft);
		const listedAt = Date.now() + service.indexDelayMilliseconds;
		const labelIds = [label];
		const { threadId } = outgoing;
		const added = mailbox.add({ raw: kept, labelIds, threadId, listedAt });
		const place = { id: added.id, threadId: added.threadId };
		return { mail: { ...outgoing, ...place }, message: { ...place, labelIds } };
	};

	const initial = {
		indexDelayMilliseconds: 0,
		aliases: [],
		pendingAliases: [],
		defaultAlias: undefined,
		labels: {},
		displayNames: { [user]: ownName },
		signatures: {},
		bodies: 'decoded',
	} as const;
	const service: GmailService = {
		...initial,
		sent,
		drafts,
		seed: (mail, owner = user) => getMailbox(owner).add(buildNewMail(mail)).id,
		remove: (id, owner = user) => {
			getMailbox(owner).remove(id);
		},
		methods: {
			'gmail.users.messages.list': (call) => {
				const unknownLabel = readList(call, 'labelIds').find(
					(id) => !listLabelIds().includes(id),
				);
				if (unknownLabel !== undefined)
					throw createInvalidError(`Invalid label: ${unknownLabel}`);
				return { body: listMails(call, findMailbox(call)) };
			},
			'gmail.users.messages.get': (call) => ({ body: render(call, findMail(call)) }),
			'gmail.users.messages.attachments.get': (call) => ({
				body: readAttachment(findMail(call, 'messageId'), call),
			}),
			'gmail.users.messages.batchModify': (call) => {
				relabel(call, findMailbox(call), listLabelIds());
				return { status: 204 };
			},
			'gmail.users.messages.send': (call) => {
				const { mail, message } = storeMail(call, 'SENT');
				sent.push(mail);
				return { body: message };
			},
			'gmail.users.drafts.create': (call) => {
				const { mail, message } = storeMail(call, 'DRAFT');
				const draftId = `r-${randomInt(1e12, 1e13)}`;
				drafts.push({ ...mail, draftId });
				return { body: { id: draftId, message } };
			},
			'gmail.users.drafts.list': (call) => {
				const ofDrafts = { ...call, params: { ...call.params, labelIds: ['DRAFT'] } };
				const { messages = [], ...page } = listMails(ofDrafts, findMailbox(call));
				const idOf = (id: unknown) => drafts.find((draft) => draft.id === id)?.draftId;
				const entries = messages.map((message) => ({ id: idOf(message.id), message }));
				return { body: { ...(entries.length > 0 && { drafts: entries }), ...page } };
			},
			'gmail.users.threads.get': (call) => {
				const thread = findMailbox(call).listThread(String(call.params['id']));
				const lastMail = thread.at(-1) ?? refuseUnknownId();
				const messages = thread.map((mail) => render(call, mail));
				const { threadId: id } = lastMail;
				return { body: { id, snippet: buildSnippet(lastMail), historyId: '1', messages } };
			},
			'gmail.users.labels.list': (call) => {
				findMailbox(call);
				const own = Object.entries(service.labels);
				const labels = [
					...systemLabels.map((id) => ({ id, name: id, type: 'system' })),
					...own.map(([id, name]) => ({ id, name, type: 'user' })),
				];
				return { body: { labels } };
			},
			'gmail.users.getProfile': (call) => {
				const { size } = findMailbox(call);
				const totals = { messagesTotal: size, threadsTotal: size };
				return { body: { emailAddress: call.user, ...totals, historyId: '1' } };
			},
			'gmail.users.settings.sendAs.list': (call) => {
				findMailbox(call);
				return { body: { sendAs: listSendAs(call.user, service) } };
			},
		},
		reset() {
			mailboxes.clear();
			sent.length = 0;
			drafts.length = 0;
			Object.assign(service, initial);
		},
	};
	return service;
}

/** IDs of emails that do not exist are ignored, as Gmail says of this method. */
function relabel({ body }: Call, mailbox: Mailbox, knownLabels: readonly string[]): void {
	const { ids, addLabelIds, removeLabelIds } = (body ??
		{}) as gmail_v1.Schema$BatchModifyMessagesRequest;
	const [added, removed] = [addLabelIds ?? [], removeLabelIds ?? []];
	if (!ids?.length) throw createInvalidError('No message ids specified');
	if (ids.length > 1000) throw createInvalidError('Too many message ids specified: at most 1000');
	if (!ids.every((id) => mailId.test(id))) throw createInvalidError('Invalid ids value');
	if (added.length + removed.length === 0)
		throw createInvalidError('No label add or removes specified');
	const wrong = [...added, ...removed].find(
		(id) => !knownLabels.includes(id) || /^(?:SENT|DRAFT|CHAT)$/.test(id),
	);
	if (wrong !== undefined) throw createInvalidError(`Invalid label: ${wrong}`);
	if (added.some((id) => removed.includes(id)))
		throw createInvalidError('Cannot both add and remove the same label');
	for (const id of ids) {
		const labels = mailbox.get(id)?.labelIds;
		for (const label of added) labels?.add(label);
		for (const label of removed) labels?.delete(label);
	}
}

function listMails(call: Call, mailbox: Mailbox): gmail_v1.Schema$ListMessagesResponse {
	const { params } = call;
	const query = String(params['q'] ?? '');
	const test = parseQuery(query);
	const labels = readList(call, 'labelIds');
	const showsHidden =
		params['includeSpamTrash'] === 'true' ||
		/\bin:(anywhere|spam|trash)\b/.test(query) ||
		hidden.some((id) => labels.includes(id));
	const mails = mailbox
		.listShown()
		.filter(({ labelIds }) => showsHidden || !hidden.some((id) => labelIds.has(id)))
		.filter(({ labelIds }) => labels.every((id) => labelIds.has(id)))
		.filter(test);
	const size = Math.min(500, Number(params['maxResults'] ?? 100));
	const start = params['pageToken'] === undefined ? 0 : readOffset(String(params['pageToken']));
	const page = mails.slice(start, start + size);
	return {
		...(page.length > 0 && { messages: page.map(({ id, threadId }) => ({ id, threadId })) }),
		...(start + size < mails.length && { nextPageToken: buildPageToken(start + size) }),
		resultSizeEstimate: mails.length,
	};
}

/** Makes a page token, which looks like a number of 20 digits but is text. */
function buildPageToken(offset: number): string {
	return `1${String(offset).padStart(19, '0')}`;
}

function readOffset(pageToken: string): number {
	if (!/^1\d{19}$/.test(pageToken)) throw createInvalidError('Invalid pageToken');
	return Number(pageToken.slice(1));
}

function readRendering(call: Call, bodies: Bodies): Rendering {
	const format = (call.params['format'] ?? 'full') as Format;
	const metadataOnly = call.scopes.every(
		(scope) => !/\/(mail\.google\.com\/|auth\/gmail\.(readonly|modify))$/.test(scope),
	);
	if (metadataOnly && (format === 'full' || format === 'raw')) {
		const message = `Metadata scope doesn't allow format ${format.toUpperCase()}`;
		throw new ApiError(403, message, { reason: 'forbidden' });
	}
	return { format, metadataHeaders: readList(call, 'metadataHeaders'), bodies };
}

function readAttachment(mail: StoredMail, { params }: Call): gmail_v1.Schema$MessagePartBody {
	const named = parseAttachmentId(String(params['id']));
	const part = collectParts(mail.mime).find(({ partId }) => partId === named?.partId);
	if (named?.messageId !== mail.id || !part) throw createInvalidError('Invalid attachment token');
	return { size: part.data.length, data: toPaddedBase64Url(part.data) };
}

function listSendAs(
	user: string,
	{ aliases, pendingAliases, defaultAlias = user, displayNames, signatures }: GmailService,
): gmail_v1.Schema$SendAs[] {
	return [user, ...aliases, ...pendingAliases].map((sendAsEmail) => ({
		sendAsEmail,
		displayName: displayNames[sendAsEmail] ?? '',
		signature: signatures[sendAsEmail] ?? '',
		// Gmail leaves out what is false, and gives no status of the user's own address.
		...(sendAsEmail === user
			? { isPrimary: true }
			: { verificationStatus: aliases.includes(sendAsEmail) ? 'accepted' : 'pending' }),
		...(sendAsEmail === defaultAlias && { isDefault: true }),
	}));
}

const mailId = /^[0-9a-f]{1,16}$/i;

const readList = ({ params }: Call, name: string): string[] => [params[name] ?? []].flat();

const createInvalidError = (message: string): ApiError =>
	new ApiError(400, message, { reason: 'invalidArgument' });

function refuseUnknownId(): never {
	throw new ApiError(404, 'Requested entity was not found.', { reason: 'notFound' });
}
