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
			throw new ApiError(400, 'Precondition check failed.', {
				status: 'FAILED_PRECONDITION',
				reason: 'failedPrecondition',
			});
		}
		const owner = call.params['userId'];
		if (owner === 'me' || owner === call.user) return getMailbox(call.user);
		throw new ApiError(403, `Delegation denied for ${call.user}`, { reason: 'forbidden' });
	};
	const getOwner = (call: Call): string => {
		findMailbox(call);
		return call.user;
	};
	const findMail = (call: Call, name = 'id'): StoredMail => {
		const id = String(call.params[name]);
		if (!/^[0-9a-f]{1,16}$/i.test(id))
			throw new ApiError(400, 'Invalid id value', { reason: 'invalidArgument' });
		return findMailbox(call).get(id) ?? refuseUnknownId();
	};

	const getRendering = (call: Call): Rendering => readRendering(call, service.bodies);

	const storeMail = (call: Call, isDraft: boolean) => {
		const mailbox = findMailbox(call);
		const { kept, threadId, ...mail } = readOutgoing(
			call,
			mailbox,
			[call.user, ...service.aliases],
			{
				isDraft,
			},
		);
		const listedAt = Date.now() + service.indexDelayMilliseconds;
		const labelIds = [isDraft ? 'DRAFT' : 'SENT'];
		const added = mailbox.add({ raw: kept, labelIds, threadId, listedAt });
		return { mail: { ...mail, id: added.id, threadId: added.threadId }, labelIds };
	};

	const service: GmailService = {
		sent,
		drafts,
		indexDelayMilliseconds: 0,
		aliases: [],
		pendingAliases: [],
		defaultAlias: undefined,
		labels: {},
		displayNames: { [user]: ownName },
		signatures: {},
		bodies: 'decoded',
		seed: (mail, owner = user) => getMailbox(owner).add(buildNewMail(mail)).id,
		remove: (id, owner = user) => {
			getMailbox(owner).remove(id);
		},
		methods: {
			'gmail.users.messages.list': (call) => {
				const knownLabels = [...systemLabels, ...Object.keys(service.labels)];
				const unknownLabel = [call.params['labelIds'] ?? []]
					.flat()
					.find((id) => !knownLabels.includes(id));
				if (unknownLabel !== undefined) {
					throw new ApiError(400, `Invalid label: ${unknownLabel}`, {
						reason: 'invalidArgument',
					});
				}
				return { body: listMails(call, findMailbox(call)) };
			},
			'gmail.users.messages.get': (call) => ({
				body: renderMessage(findMail(call), getRendering(call)),
			}),
			'gmail.users.messages.attachments.get': (call) => ({
				body: readAttachment(findMail(call, 'messageId'), call),
			}),
			'gmail.users.messages.batchModify': (call) => {
				relabel(call, findMailbox(call), [...systemLabels, ...Object.keys(service.labels)]);
				return { status: 204 };
			},
			'gmail.users.messages.send': (call) => {
				const { mail, labelIds } = storeMail(call, false);
				sent.push(mail);
				return { body: { id: mail.id, threadId: mail.threadId, labelIds } };
			},
			'gmail.users.drafts.create': (call) => {
				const { mail, labelIds } = storeMail(call, true);
				const draftId = `r-${randomInt(1e12, 1e13)}`;
				drafts.push({ ...mail, draftId });
				return {
					body: {
						id: draftId,
						message: { id: mail.id, threadId: mail.threadId, labelIds },
					},
				};
			},
			'gmail.users.drafts.list': (call) => {
				const params = { ...call.params, labelIds: ['DRAFT'] };
				const { messages = [], ...page } = listMails(
					{ ...call, params },
					findMailbox(call),
				);
				const idOf = (id: unknown) => drafts.find((draft) => draft.id === id)?.draftId;
				const entries = messages.map((message) => ({ id: idOf(message.id), message }));
				return { body: { ...(entries.length > 0 && { drafts: entries }), ...page } };
			},
			'gmail.users.threads.get': (call) => {
				const thread = findMailbox(call).listThread(String(call.params['id']));
				const lastMail = thread.at(-1) ?? refuseUnknownId();
				const messages = thread.map((mail) => renderMessage(mail, getRendering(call)));
				return {
					body: {
						id: lastMail.threadId,
						snippet: buildSnippet(lastMail),
						historyId: '1',
						messages,
					},
				};
			},
			'gmail.users.labels.list': (call) => {
				findMailbox(call);
				const labels = [
					...systemLabels.map((id) => ({ id, name: id, type: 'system' })),
					...Object.entries(service.labels).map(([id, name]) => ({
						id,
						name,
						type: 'user',
					})),
				];
				return { body: { labels } };
			},
			'gmail.users.getProfile': (call) => ({
				body: {
					emailAddress: getOwner(call),
					messagesTotal: findMailbox(call).size,
					threadsTotal: findMailbox(call).size,
					historyId: '1',
				},
			}),
			'gmail.users.settings.sendAs.list': (call) => ({
				body: { sendAs: listSendAs(getOwner(call), service) },
			}),
		},
		reset() {
			mailboxes.clear();
			sent.length = 0;
			drafts.length = 0;
			service.indexDelayMilliseconds = 0;
			service.aliases = [];
			service.pendingAliases = [];
			service.defaultAlias = undefined;
			service.labels = {};
			service.displayNames = { [user]: ownName };
			service.signatures = {};
			service.bodies = 'decoded';
		},
	};
	return service;
}

/** IDs of emails that do not exist are ignored, as Gmail says of this method. */
function relabel({ body }: Call, mailbox: Mailbox, knownLabels: readonly string[]): void {
	const { ids, addLabelIds, removeLabelIds } = (body ??
		{}) as gmail_v1.Schema$BatchModifyMessagesRequest;
	const [added, removed] = [addLabelIds ?? [], removeLabelIds ?? []];
	const invalid = (message: string) => new ApiError(400, message, { reason: 'invalidArgument' });
	if (!ids?.length) throw invalid('No message ids specified');
	if (ids.length > 1000) throw invalid('Too many message ids specified: at most 1000');
	if (ids.some((id) => !/^[0-9a-f]{1,16}$/i.test(id))) throw invalid('Invalid ids value');
	if (added.length + removed.length === 0) throw invalid('No label add or removes specified');
	const wrong = [...added, ...removed].find(
		(id) => !knownLabels.includes(id) || /^(?:SENT|DRAFT|CHAT)$/.test(id),
	);
	if (wrong !== undefined) throw invalid(`Invalid label: ${wrong}`);
	if (added.some((id) => removed.includes(id)))
		throw invalid('Cannot both add and remove the same label');
	for (const id of ids) {
		const labels = mailbox.get(id)?.labelIds;
		for (const label of added) labels?.add(label);
		for (const label of removed) labels?.delete(label);
	}
}

function listMails({ params }: Call, mailbox: Mailbox): gmail_v1.Schema$ListMessagesResponse {
	const query = String(params['q'] ?? '');
	const test = parseQuery(query);
	const labels = [params['labelIds'] ?? []].flat();
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
	if (!/^1\d{19}$/.test(pageToken))
		throw new ApiError(400, 'Invalid pageToken', { reason: 'invalidArgument' });
	return Number(pageToken.slice(1));
}

function readRendering({ params, scopes }: Call, bodies: Bodies): Rendering {
	const format = (params['format'] ?? 'full') as Format;
	const metadataOnly = scopes.every(
		(scope) => !/\/(mail\.google\.com\/|auth\/gmail\.(readonly|modify))$/.test(scope),
	);
	if (metadataOnly && (format === 'full' || format === 'raw')) {
		throw new ApiError(403, `Metadata scope doesn't allow format ${format.toUpperCase()}`, {
			reason: 'forbidden',
		});
	}
	return { format, metadataHeaders: [params['metadataHeaders'] ?? []].flat(), bodies };
}

function readAttachment(mail: StoredMail, { params }: Call): gmail_v1.Schema$MessagePartBody {
	const named = parseAttachmentId(String(params['id']));
	const part = collectParts(mail.mime).find(({ partId }) => partId === named?.partId);
	if (named?.messageId !== mail.id || !part) {
		throw new ApiError(400, 'Invalid attachment token', { reason: 'invalidArgument' });
	}
	return { size: part.data.length, data: toPaddedBase64Url(part.data) };
}

function listSendAs(
	user: string,
	{
		aliases,
		pendingAliases,
		defaultAlias = user,
		displayNames,
		signatures,
	}: Pick<
		GmailService,
		'aliases' | 'pendingAliases' | 'defaultAlias' | 'displayNames' | 'signatures'
	>,
): gmail_v1.Schema$SendAs[] {
	return [user, ...aliases, ...pendingAliases].map((sendAsEmail) => ({
		sendAsEmail,
		displayName: displayNames[sendAsEmail] ?? '',
		signature: signatures[sendAsEmail] ?? '',
		// Gmail leaves out what is false, and gives no status of the user's own address.
		...(sendAsEmail === user
			? { isPrimary: true }
			: {
					verificationStatus: pendingAliases.includes(sendAsEmail)
						? 'pending'
						: 'accepted',
				}),
		...(sendAsEmail === defaultAlias && { isDefault: true }),
	}));
}

function refuseUnknownId(): never {
	throw new ApiError(404, 'Requested entity was not found.', { reason: 'notFound' });
}
