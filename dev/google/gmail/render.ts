import { randomBytes } from 'node:crypto';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { recode, type Bodies } from './charsets.ts';
import { buildSnippet, type StoredMail } from './mailbox.ts';
import type { Header, MimePart } from './mime.ts';

/** In bytes. A larger text part is fetched like an attachment. Google's limit is not documented. */
const maxInlineBytes = 256 * 1024;

export type Format = 'full' | 'metadata' | 'minimal' | 'raw';

export interface Rendering {
	readonly format: Format;
	/** Empty means all. */
	readonly metadataHeaders: readonly string[];
	readonly bodies: Bodies;
}

export function renderMessage(mail: StoredMail, rendering: Rendering): gmail_v1.Schema$Message {
	const { id, threadId, labelIds, internalDate, raw } = mail;
	return {
		id,
		threadId,
		labelIds: [...labelIds],
		snippet: buildSnippet(mail),
		historyId: String(internalDate),
		internalDate: String(internalDate),
		sizeEstimate: raw.length,
		...renderContent(mail, rendering),
	};
}

function renderContent(
	{ id, mime, raw }: StoredMail,
	{ format, metadataHeaders, bodies }: Rendering,
): Pick<gmail_v1.Schema$Message, 'payload' | 'raw'> {
	if (format === 'raw') return { raw: toPaddedBase64Url(raw) };
	if (format === 'minimal') return { payload: { partId: '' } };
	if (format === 'full') return { payload: renderPart(mime, id, bodies) };
	const names = metadataHeaders.map((name) => name.toLowerCase());
	const headers = mime.headers.filter(
		({ name }) => names.length === 0 || names.includes(name.toLowerCase()),
	);
	return { payload: { mimeType: mime.mimeType, headers: copyHeaders(headers) } };
}

function renderPart(
	part: MimePart,
	messageId: string,
	bodies: Bodies,
): gmail_v1.Schema$MessagePart {
	const { partId, mimeType, filename, headers, parts } = part;
	return {
		partId,
		mimeType,
		filename,
		headers: copyHeaders(headers),
		body: renderBody(part, messageId, bodies),
		...(parts.length > 0 && {
			parts: parts.map((inner) => renderPart(inner, messageId, bodies)),
		}),
	};
}

function renderBody(
	part: MimePart,
	messageId: string,
	bodies: Bodies,
): gmail_v1.Schema$MessagePartBody {
	const { partId, mimeType, filename, parts } = part;
	if (mimeType === 'message/rfc822') {
		// An email within an email may come without an ID and without bytes: loadsmart/gmail-wrapper#10.
		if (filename === '') return { size: 0 };
	} else if (parts.length > 0) return { size: 0 };
	const data = encodeTextPart(part, bodies);
	// An empty file has no ID: loadsmart/gmail-wrapper#10.
	if (data.length === 0) return filename === '' ? { size: 0 } : { size: 0, data: '' };
	if (isApart(part))
		return { size: data.length, attachmentId: createAttachmentId(messageId, partId) };
	return { size: data.length, data: toPaddedBase64Url(data) };
}

function isApart({ mimeType, filename, data }: MimePart): boolean {
	return filename !== '' || !mimeType.startsWith('text/') || data.length > maxInlineBytes;
}

/** Converts a text as `format=full` does. Files are not changed. */
function encodeTextPart(part: MimePart, bodies: Bodies): Buffer {
	const { mimeType, charset, filename, data } = part;
	const isText = mimeType.startsWith('text/') && filename === '';
	return isText ? recode(data, charset, bodies) : data;
}

/** Makes an attachment ID that is long and different at every read, like Gmail's own. */
function createAttachmentId(messageId: string, partId: string): string {
	return `ANGjdJ${Buffer.from(`${messageId}/${partId}/`).toString('base64url')}-${randomBytes(240).toString('base64url')}`;
}

export function parseAttachmentId(
	attachmentId: string,
): { messageId: string; partId: string } | undefined {
	const [, code] = /^ANGjdJ([^-]+)-/.exec(attachmentId) ?? [];
	const [messageId, partId] = Buffer.from(code ?? '', 'base64url')
		.toString('latin1')
		.split('/');
	return messageId !== undefined && partId !== undefined ? { messageId, partId } : undefined;
}

/** Encodes bytes as base64url with padding, as Gmail does. */
export function toPaddedBase64Url(bytes: Buffer): string {
	return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

function copyHeaders(headers: readonly Header[]): gmail_v1.Schema$MessagePartHeader[] {
	return headers.map(({ name, value }) => ({ name, value }));
}
