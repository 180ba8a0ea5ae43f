import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { NodeError, toError } from '../../../core/errors';
import { isTooCostly } from '../../../http/body';
import type { Mail, MailInput } from '../../../untrusted/mail/readMail';
import type { MailFile } from '../../../untrusted/mail/readContent';
import { runInWorker } from '../../../untrusted/runInWorker';
import { type Clients, type Item, type OutputItem, requireId } from '../../operation';
import { createFileNameTest } from '../onlyFiles';
import { contentConcurrency, mapWithConcurrency } from './mapWithConcurrency';

type Message = gmail_v1.Schema$Message;

/**
 * Which text of an email to read. `newTextOnly` leaves out quoted earlier messages and the
 * signature. The default is the whole text.
 */
type TextOptions = Partial<Pick<MailInput, 'withText' | 'newTextOnly'>>;

interface FileParams {
	readonly downloadAttachments: boolean;
	readonly onlyFiles: readonly string[];
	readonly attachmentPrefix?: string;
}

/** The header fields that a list and a reply need. */
const metadataHeaders = [
	'Subject',
	'From',
	'To',
	'Cc',
	'Reply-To',
	'Message-ID',
	'In-Reply-To',
	'References',
];

const payloadFields = { full: 'payload', metadata: 'payload/headers' };

/**
 * Fetches a whole email, or only its metadata. If the response for a whole one would block n8n,
 * fetches only the metadata, so that no stranger's email can end a list.
 */
export async function fetchMail(
	clients: Clients,
	id: string,
	item: Item,
	options?: TextOptions,
	format: keyof typeof payloadFields = 'full',
): Promise<Mail> {
	const fields = `id,threadId,labelIds,snippet,internalDate,${payloadFields[format]}`;
	const request = { userId: 'me', id, format, metadataHeaders, fields };
	try {
		const { data } = await clients.gmail.users.messages.get(request);
		requireId(data.id);
		return await parseMessage(clients, data, item, options);
	} catch (error) {
		if (format === 'metadata' || !isTooCostly(error)) throw toError(error);
		item.addHint(
			`The content of the email ${id} could not be read: it has too many parts or is nested too deeply.`,
		);
		return await fetchMail(clients, id, item, options, 'metadata');
	}
}

/** Fetches all emails of the conversation that an email belongs to, oldest first. */
export async function fetchConversation(
	clients: Clients,
	options: TextOptions & { readonly messageId: string },
	item: Item,
) {
	const { messages, threads } = clients.gmail.users;
	const request = { id: options.messageId, format: 'minimal', fields: 'threadId' };
	const id = (await messages.get({ userId: 'me', ...request })).data.threadId ?? '';
	const thread = (await threads.get({ userId: 'me', id, format: 'full' })).data;
	const { messages: emails = [] } = thread;
	return await mapWithConcurrency(
		emails.toSorted((a, b) => Number(a.internalDate) - Number(b.internalDate)),
		contentConcurrency,
		(message) => parseMessage(clients, message, item, options),
	);
}

/**
 * Parses an email in the worker thread, because strangers wrote it. If something is unreadable,
 * leaves it out and adds a hint.
 */
export async function parseMessage(
	clients: Clients,
	message: Message,
	item: Item,
	{ withText = true, newTextOnly = false }: TextOptions = {},
): Promise<Mail> {
	const workerResult = await readInWorker(
		clients,
		{ message, withText, newTextOnly, separateTexts: {} },
		item,
	);
	if ('result' in workerResult) return workerResult.result;
	const problem = `The content of the email ${message.id ?? ''} could not be read: ${workerResult.problem}`;
	if (!message.payload)
		throw new NodeError({
			code: 500,
			message: problem,
			description: 'Look at it in Gmail, or leave it out.',
		});
	item.addHint(`${problem}.`);
	// What is left are the headers, and without them what Gmail itself says of the email.
	const { headers, ...content } = message.payload;
	const payload = Object.keys(content).length > 0 ? { headers } : undefined;
	return await parseMessage(clients, { ...message, payload }, item, { withText: false });
}

async function readInWorker(clients: Clients, input: MailInput, item: Item) {
	const workerResult = await runInWorker('readMail', input, item.signal);
	if (!('result' in workerResult)) return workerResult;
	const { missingTextIds } = workerResult.result;
	if (missingTextIds.length === 0) return workerResult;
	// Gmail stores a long text as an attachment, and the message has only the attachment's ID.
	const fetchText = async (textId: string) =>
		[textId, await fetchAttachment(clients, input.message.id ?? '', textId)] as const;
	const texts = await mapWithConcurrency(missingTextIds, contentConcurrency, fetchText);
	const separateTexts = Object.fromEntries(texts);
	return await runInWorker('readMail', { ...input, separateTexts }, item.signal);
}

/** Fetches the bytes of an attachment, in base64url. */
export async function fetchAttachment({ gmail }: Clients, messageId: string, attachmentId: string) {
	const request = { userId: 'me', messageId, id: attachmentId, fields: 'data' };
	return (await gmail.users.messages.attachments.get(request)).data.data ?? '';
}

/**
 * Reads the bytes of an attachment. A small one has its data in the message. Without an ID and
 * data, it is empty.
 */
export async function readAttachment(
	clients: Clients,
	messageId: string,
	{ info: { attachmentId }, data }: MailFile,
): Promise<Buffer> {
	const content =
		attachmentId === '' ? data : await fetchAttachment(clients, messageId, attachmentId);
	return Buffer.from(content, 'base64url');
}

/**
 * Stores the attachments of an email as binary fields, if the user wants them: attachment_0,
 * attachment_1 and so on, with the default prefix.
 */
export async function storeAttachments(
	clients: Clients,
	mail: Mail,
	{ downloadAttachments, onlyFiles, attachmentPrefix = 'attachment_' }: FileParams,
	item: Item,
): Promise<OutputItem['binary']> {
	if (!downloadAttachments) return undefined;
	const { buildFileName } = await import('../mimeTypes');
	const files = mail.files.map((file, index) => ({
		...file,
		name: file.info.fileName || buildFileName(`attachment_${index}`, file.info.mimeType),
	}));
	const isWanted = createFileNameTest(onlyFiles);
	const wantedFiles = files.filter(({ name }) => isWanted(name));
	const stored = await mapWithConcurrency(wantedFiles, contentConcurrency, async (file) => {
		const bytes = await readAttachment(clients, mail.summary.id, file);
		return await item.store(bytes, file.name, file.info.mimeType || undefined);
	});
	const binary = stored.map((file, index) => [`${attachmentPrefix}${index}`, file] as const);
	return stored.length > 0 ? Object.fromEntries(binary) : undefined;
}
