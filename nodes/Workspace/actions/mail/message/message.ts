import type { Clients, Item, StoredBinary } from '../../../operation';
import { anatomyOf, typeOf, type Part } from '../../../../untrusted/mail/mimeStructure';
import { attachmentInfo, type AttachmentInfo } from '../../../../untrusted/mail/attachments';
import { headersOf } from '../../../../untrusted/mail/headers';
import { inParallel } from '../inParallel';
import { messageText } from './mailText';
import { partBytes } from './partBytes';
import { summaryOf } from '../../../../untrusted/mail/readMail';
import { decodedWords } from '../../../../untrusted/mail/encodedWords';

interface Header {
	readonly name: string;
	readonly value: string;
}

/** An email as returned by Read. Addresses are text, as in the email. */
export interface FullMessage {
	readonly id: string;
	readonly threadId: string;
	readonly labelIds: string[];
	readonly snippet: string;
	readonly subject: string;
	readonly sender: string;
	readonly to: string;
	readonly cc: string;
	readonly bcc: string;
	readonly replyTo: string;
	readonly date: string;
	readonly status: 'read' | 'unread';
	readonly text: string;
	readonly html: string;
	readonly attachments: AttachmentInfo[];
	readonly headers?: Header[];
}

export interface Fetched {
	readonly message: FullMessage;
	/** The parts that the attachments describe, in the same order. */
	readonly files: Part[];
	/** All headers in their original order, including repeated ones. */
	readonly headers: Header[];
}

export async function fullMessage(client: Clients, messageId: string, item: Item): Promise<Fetched> {
	const { data } = await client.gmail.users.messages.get({ userId: 'me', id: messageId, format: 'full' });
	const { id, threadId, labelIds, snippet, subject, sender, to, date, status } = summaryOf(data);
	const { body, files } = anatomyOf(data.payload ?? {});
	const list = (name: string) => headersOf(data, name).join(', ');
	const message = {
		...{ id, threadId, labelIds, snippet, subject, sender, to },
		...{ cc: list('Cc'), bcc: list('Bcc'), replyTo: list('Reply-To'), date, status },
		...(await messageText(client, messageId, body, item)),
		attachments: files.map(attachmentInfo),
	};
	const headers = (data.payload?.headers ?? []).map(({ name, value }) => ({
		name: name ?? '',
		value: decodedWords(value ?? ''),
	}));
	return { message, files: files.map(({ part }) => part), headers };
}

/** Attachments loaded at once. Few, because one may fill the memory of a small machine. */
const atOnce = 2;

export async function downloaded(
	client: Clients,
	id: string,
	files: readonly Part[],
	item: Item,
): Promise<StoredBinary[]> {
	return await inParallel(files, atOnce, async (part, index) => {
		const data = await partBytes(client, id, part);
		const mimeType = typeOf(part) || undefined;
		const fileName = decodedWords(part.filename ?? '') || (await madeUpName(index, mimeType));
		return await item.store({ data, fileName, mimeType });
	});
}

async function madeUpName(index: number, mimeType: string | undefined): Promise<string> {
	const { fileNameFor } = await import('../fileName');
	return fileNameFor(`attachment_${index}`, mimeType);
}
