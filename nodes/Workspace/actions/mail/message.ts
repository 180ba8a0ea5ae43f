import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { NodeError } from '../../../core/errors';
import type { Mail, MailInput } from '../../../untrusted/mail/readMail';
import type { MailFile } from '../../../untrusted/mail/readContent';
import { runInWorker } from '../../../untrusted/runInWorker';
import type { Clients, Item, StoredBinary } from '../../operation';
import { createFileNameTest } from '../onlyFiles';
import { contentConcurrency, mapWithConcurrency } from './mapWithConcurrency';

type Message = gmail_v1.Schema$Message;

/** Which text of an email to read. `newTextOnly` leaves out quoted earlier messages and the signature. The default is the whole text. */
type TextOptions = Partial<Pick<MailInput, 'withText' | 'newTextOnly'>>;

export async function fetchMail(clients: Clients, id: string, item: Item, options?: TextOptions) {
	const { data } = await clients.gmail.users.messages.get({ userId: 'me', id, format: 'full' });
	return await parseMessage(clients, data, item, options);
}

/** Fetches all emails of the conversation that an email belongs to, oldest first. */
export async function fetchConversation(
	clients: Clients,
	id: string,
	item: Item,
	options: TextOptions,
) {
	const { gmail } = clients;
	const request = { userId: 'me', id, format: 'minimal', fields: 'threadId' };
	const { threadId } = (await gmail.users.messages.get(request)).data;
	const { data } = await gmail.users.threads.get({
		userId: 'me',
		id: threadId ?? '',
		format: 'full',
	});
	const parse = async (message: Message) => await parseMessage(clients, message, item, options);
	const mails = await mapWithConcurrency(data.messages ?? [], contentConcurrency, parse);
	return mails.sort((a, b) => a.summary.date.localeCompare(b.summary.date));
}

/** Parses an email in the worker thread, because strangers wrote it. If something is unreadable, leaves it out and adds a hint. */
export async function parseMessage(
	clients: Clients,
	message: Message,
	item: Item,
	{ withText = true, newTextOnly = false }: TextOptions = {},
): Promise<Mail> {
	const id = message.id ?? '';
	const parse = async (separateTexts: MailInput['separateTexts']) => {
		const input: MailInput = { message, withText, newTextOnly, separateTexts };
		return await runInWorker('readMail', input, item.signal);
	};
	let workerResult = await parse({});
	const missingTextIds = 'result' in workerResult ? workerResult.result.missingTextIds : [];
	if (missingTextIds.length > 0) {
		// Gmail stores a long text as an attachment, and the message has only the attachment's ID.
		const fetchText = async (textId: string) =>
			[textId, await fetchAttachment(clients, id, textId)] as const;
		const textsById = await mapWithConcurrency(missingTextIds, contentConcurrency, fetchText);
		workerResult = await parse(Object.fromEntries(textsById));
	}
	if ('result' in workerResult) return workerResult.result;
	if (!message.payload)
		throw new NodeError({
			code: 500,
			message: `The email ${id} could not be read: ${workerResult.problem}`,
			description: 'Look at it in Gmail, or leave it out.',
		});
	item.addHint(`The content of the email ${id} could not be read: ${workerResult.problem}.`);
	// What is left are the headers, and without them what Gmail itself says of the email.
	const { headers, ...content } = message.payload;
	const payload = Object.keys(content).length > 0 ? { headers } : undefined;
	return await parseMessage(clients, { ...message, payload }, item, { withText: false });
}

/** Fetches the bytes of an attachment, in base64url. */
export async function fetchAttachment({ gmail }: Clients, messageId: string, attachmentId: string) {
	const request = { userId: 'me', messageId, id: attachmentId, fields: 'data' };
	return (await gmail.users.messages.attachments.get(request)).data.data ?? '';
}

/** A small file arrives with its data in the message. Without an ID and data, the file is empty. */
export async function readAttachment(
	clients: Clients,
	messageId: string,
	{ info: { attachmentId }, data }: MailFile,
): Promise<Buffer> {
	const content =
		attachmentId === '' ? data : await fetchAttachment(clients, messageId, attachmentId);
	return Buffer.from(content, 'base64url');
}

/** @param onlyFiles patterns of file names; empty for all files */
export async function storeAttachments(
	clients: Clients,
	{ summary, files }: Mail,
	item: Item,
	onlyFiles: readonly string[],
): Promise<StoredBinary[]> {
	const { buildFileName } = await import('../mimeTypes');
	const isWanted = createFileNameTest(onlyFiles);
	const wantedFiles: Array<{ file: MailFile; name: string }> = [];
	for (const [index, file] of files.entries()) {
		const name = file.info.fileName || buildFileName(`attachment_${index}`, file.info.mimeType);
		if (isWanted(name)) wantedFiles.push({ file, name });
	}
	return await mapWithConcurrency(wantedFiles, contentConcurrency, async ({ file, name }) => {
		const bytes = await readAttachment(clients, summary.id, file);
		return await item.store(bytes, name, file.info.mimeType || undefined);
	});
}
