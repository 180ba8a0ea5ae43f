import { randomBytes } from 'node:crypto';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { snippetOf, type StoredMail } from './mailbox.ts';
import type { Header, MimePart } from './mime.ts';

/** Text parts above it are fetched like attachments. Bytes; Google's own figure is not known. */
export const largestInline = 256 * 1024;

export type Format = 'full' | 'metadata' | 'minimal' | 'raw';

export function messageOut(
	mail: StoredMail,
	format: Format,
	metadataHeaders: readonly string[] = [],
): gmail_v1.Schema$Message {
	const { id, threadId, labelIds, internalDate, raw } = mail;
	return {
		id,
		threadId,
		labelIds: [...labelIds],
		snippet: snippetOf(mail),
		historyId: String(internalDate),
		internalDate: String(internalDate),
		sizeEstimate: raw.length,
		...contentOf(mail, format, metadataHeaders),
	};
}

function contentOf(
	{ id, mime, raw }: StoredMail,
	format: Format,
	wanted: readonly string[],
): Pick<gmail_v1.Schema$Message, 'payload' | 'raw'> {
	if (format === 'raw') return { raw: padded(raw) };
	if (format === 'minimal') return { payload: { partId: '' } };
	if (format === 'full') return { payload: partOut(mime, id) };
	const names = wanted.map((name) => name.toLowerCase());
	const headers = mime.headers.filter(({ name }) => names.length === 0 || names.includes(name.toLowerCase()));
	return { payload: { mimeType: mime.mimeType, headers: copies(headers) } };
}

function partOut(part: MimePart, messageId: string): gmail_v1.Schema$MessagePart {
	const { partId, mimeType, filename, headers, data, parts } = part;
	const size = data.length;
	const apart = parts.length === 0 && size > 0 && isApart(part);
	return {
		partId,
		mimeType,
		filename,
		headers: copies(headers),
		body: {
			size,
			...(apart && { attachmentId: attachmentIdOf(messageId, partId) }),
			...(!apart && size > 0 && { data: padded(data) }),
		},
		...(parts.length > 0 && { parts: parts.map((inner) => partOut(inner, messageId)) }),
	};
}

function isApart({ mimeType, filename, data }: MimePart): boolean {
	return filename !== '' || !mimeType.startsWith('text/') || data.length > largestInline;
}

/** Long, and another one at every read, as Gmail's are. */
function attachmentIdOf(messageId: string, partId: string): string {
	return `ANGjdJ${Buffer.from(`${messageId}/${partId}/`).toString('base64url')}-${randomBytes(240).toString('base64url')}`;
}

export function attachmentOf(attachmentId: string): { messageId: string; partId: string } | undefined {
	const [, code] = /^ANGjdJ([^-]+)-/.exec(attachmentId) ?? [];
	const [messageId, partId] = Buffer.from(code ?? '', 'base64url')
		.toString('latin1')
		.split('/');
	return messageId !== undefined && partId !== undefined ? { messageId, partId } : undefined;
}

/** Base64url with its padding, which Gmail keeps. */
export function padded(bytes: Buffer): string {
	return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

function copies(headers: readonly Header[]): gmail_v1.Schema$MessagePartHeader[] {
	return headers.map(({ name, value }) => ({ name, value }));
}
