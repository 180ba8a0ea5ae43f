import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { NodeError } from '../../../core/errors';
import type { Mail, MailInput } from '../../../untrusted/mail/readMail';
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
	// What is left are the headers, and without them what Gmail itself says of the email.
	const { headers, ...content } = message.payload;
	const hasContent = Object.keys(content).length > 0;
	const unreadThing = hasContent ? 'content' : 'header';
	item.addHint(
		`The ${unreadThing} of the email ${id} could not be read: ${workerResult.problem}.`,
	);
	const payload = hasContent ? { headers } : undefined;
	return await parseMessage(clients, { ...message, payload }, item, { withText: false });
}

/** Fetches the bytes of an attachment, in base64url. */
export async function fetchAttachment({ gmail }: Clients, messageId: string, attachmentId: string) {
	const request = { userId: 'me', messageId, id: attachmentId, fields: 'data' };
	return (await gmail.users.messages.attachments.get(request)).data.data ?? '';
}

/** Creates a function that returns the bytes of an attachment of this email. */
export function createAttachmentReader(clients: Clients, { summary: { id } }: Mail, item: Item) {
	let rawMail: Promise<string> | undefined;
	return async ({
		info: { attachmentId },
		data,
		partId,
		isMail,
	}: Mail['files'][number]): Promise<Buffer> => {
		if (attachmentId)
			return Buffer.from(await fetchAttachment(clients, id, attachmentId), 'base64url');
		// A small file arrives with its data in the message. Without an ID and data, the file is empty, unless it is an attached email.
		if (data || !isMail) return Buffer.from(data, 'base64url');
		// Gmail sometimes gives an attached email no attachment ID. Its bytes are then only in the raw form of the outer email.
		rawMail ??= clients.gmail.users.messages
			.get({ userId: 'me', id, format: 'raw', fields: 'raw' })
			.then(({ data: { raw } }) => raw ?? '');
		const raw = await rawMail;
		const workerResult = await runInWorker('readRawPart', { raw, partId }, item.signal);
		if ('result' in workerResult) return Buffer.from(workerResult.result);
		item.addHint(
			`An email attached to the email ${id} could not be read, so its file is empty: ${workerResult.problem}.`,
		);
		return Buffer.alloc(0);
	};
}

export async function storeAttachments(
	clients: Clients,
	mail: Mail,
	item: Item,
	onlyFiles: readonly string[],
): Promise<StoredBinary[]> {
	const { buildFileName } = await import('../mimeTypes');
	const readBytes = createAttachmentReader(clients, mail, item);
	const isWanted = createFileNameTest(onlyFiles);
	const namedFiles = mail.files.map((file, index) => {
		const { fileName, mimeType } = file.info;
		return { file, name: fileName || buildFileName(`attachment_${index}`, mimeType) };
	});
	const wantedFiles = namedFiles.filter(({ name }) => isWanted(name));
	return await mapWithConcurrency(
		wantedFiles,
		contentConcurrency,
		async ({ file, name }) =>
			await item.store(await readBytes(file), name, file.info.mimeType || undefined),
	);
}
