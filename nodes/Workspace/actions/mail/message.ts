import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { NodeError } from '../../../core/errors';
import { limitMessage } from '../../../untrusted/mail/mimeStructure';
import type { Mail, MailInput } from '../../../untrusted/mail/readMail';
import { runInWorker } from '../../../untrusted/runInWorker';
import type { Clients, Item, StoredBinary } from '../../operation';
import { maxPartsAtOnce, runInParallel } from './runInParallel';

type Message = gmail_v1.Schema$Message;

/** What to read of an email; by default all of its text. */
type WantedContent = Partial<Pick<MailInput, 'withText' | 'newTextOnly'>>;

export async function readMessage(client: Clients, messageId: string, item: Item, wanted?: WantedContent) {
	const { data } = await client.gmail.users.messages.get({ userId: 'me', id: messageId, format: 'full' });
	return await parseMessage(client, data, item, wanted);
}

/** All messages of a message's conversation, oldest first. */
export async function readConversation(
	client: Clients,
	messageId: string,
	item: Item,
	wanted: WantedContent,
) {
	const { gmail } = client;
	const message = { userId: 'me', id: messageId, format: 'minimal', fields: 'threadId' };
	const { threadId } = (await gmail.users.messages.get(message)).data;
	const { data } = await gmail.users.threads.get({ userId: 'me', id: threadId ?? '', format: 'full' });
	const parse = async (one: Message) => await parseMessage(client, one, item, wanted);
	const mails = await runInParallel(data.messages ?? [], maxPartsAtOnce, parse);
	return mails.sort((one, other) => one.summary.date.localeCompare(other.summary.date));
}

/** Parses an email in the worker thread, because strangers wrote it. What cannot be read is left out, and a hint says so. */
export async function parseMessage(
	client: Clients,
	given: Message,
	item: Item,
	{ withText = true, newTextOnly = false }: WantedContent = {},
): Promise<Mail> {
	const { message, characters, isCut } = limitMessage(given);
	const id = message.id ?? '';
	if (isCut) {
		item.addHint(
			`The message ${id} has more parts or longer headers than emails usually have. Not all of them were read.`,
		);
	}
	const read = async (texts: MailInput['texts']) => {
		const more = Object.values(texts).reduce((sum, fetchText) => sum + fetchText.length, characters);
		return await runInWorker('readMail', { message, withText, newTextOnly, texts }, item.signal, more);
	};
	let answer = await read({});
	const missing = 'result' in answer ? answer.result.missingTextIds : [];
	if (missing.length > 0) {
		// Gmail stores long texts separately.
		const text = async (one: string) => [one, await fetchAttachment(client, id, one)] as const;
		answer = await read(Object.fromEntries(await runInParallel(missing, maxPartsAtOnce, text)));
	}
	if ('result' in answer) return answer.result;
	if (!withText && characters === 0) {
		throw new NodeError({
			code: 500,
			message: `The message ${id} could not be read: ${answer.trouble}`,
			description: 'Look at it in Gmail, or leave it out.',
		});
	}
	item.addHint(`The content of the message ${id} could not be read: ${answer.trouble}.`);
	const headersAlone = { ...message, payload: { headers: message.payload.headers } };
	return await parseMessage(client, headersAlone, item, { withText: false });
}

/** The bytes of an attachment in base64url. */
export async function fetchAttachment({ gmail }: Clients, messageId: string, id: string): Promise<string> {
	const request = { userId: 'me', messageId, id, fields: 'data' };
	return (await gmail.users.messages.attachments.get(request)).data.data ?? '';
}

/** @returns a function that reads the bytes of an attachment of the email */
export function createAttachmentReader(client: Clients, { summary: { id } }: Mail, item: Item) {
	let whole: Promise<string> | undefined;
	return async ({ info: { attachmentId }, data, partId, isMail }: Mail['files'][number]): Promise<Buffer> => {
		if (attachmentId) return Buffer.from(await fetchAttachment(client, id, attachmentId), 'base64url');
		// Gmail sometimes gives an email within an email no ID. Its bytes are then only in the whole email.
		if (data || !isMail) return Buffer.from(data, 'base64url');
		whole ??= client.gmail.users.messages
			.get({ userId: 'me', id, format: 'raw', fields: 'raw' })
			.then(({ data: { raw } }) => raw ?? '');
		const raw = await whole;
		const answer = await runInWorker('readRawPart', { raw, partId }, item.signal, raw.length);
		if ('result' in answer) return Buffer.from(answer.result ?? []);
		item.addHint(
			`An email attached to the message ${id} could not be read, so its file is empty: ${answer.trouble}.`,
		);
		return Buffer.alloc(0);
	};
}

/** Hands the attachments to n8n's storage, in their order. */
export async function storeAttachments(client: Clients, mail: Mail, item: Item): Promise<StoredBinary[]> {
	const readBytes = createAttachmentReader(client, mail, item);
	return await runInParallel(mail.files, maxPartsAtOnce, async (file, index) => {
		const { fileName, mimeType } = file.info;
		const name = fileName || (await import('../mimeTypes')).buildFileName(`attachment_${index}`, mimeType);
		return await item.store(await readBytes(file), name, mimeType || undefined);
	});
}
