import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import type { Clients } from '../../operation';
import { decodedWords } from './words';

export interface AttachmentInfo {
	/** Good for this read only: Gmail gives another one each time. */
	readonly attachmentId: string;
	/** '' for a file without a name. */
	readonly fileName: string;
	readonly mimeType: string;
	/** Bytes. */
	readonly size: number;
	/** Whether it belongs into the text, as a picture of an HTML mail does. */
	readonly inline: boolean;
	/** Without angle brackets; '' when it has none. */
	readonly contentId: string;
}

type Part = gmail_v1.Schema$MessagePart;

/** The parts of a mail that are files, in their order. A mail within the mail is one file. */
export function fileParts(part: Part, related = false): Array<{ part: Part; related: boolean }> {
	if (isFile(part)) return [{ part, related }];
	const inRelated = part.mimeType === 'multipart/related';
	return (part.parts ?? []).flatMap((inner) => fileParts(inner, inRelated));
}

export function isFile(part: Part): boolean {
	const { filename, mimeType = '' } = part;
	if (mimeType?.startsWith('multipart/')) return false;
	if (filename || partHeader(part, 'Content-Disposition').toLowerCase().startsWith('attachment')) return true;
	return mimeType !== '' && mimeType !== 'text/plain' && mimeType !== 'text/html';
}

export function attachmentInfo({ part, related }: { part: Part; related: boolean }): AttachmentInfo {
	const contentId = partHeader(part, 'Content-ID').replaceAll(/^<|>$/g, '');
	const disposition = partHeader(part, 'Content-Disposition').toLowerCase();
	return {
		attachmentId: part.body?.attachmentId ?? '',
		fileName: decodedWords(part.filename ?? ''),
		mimeType: part.mimeType ?? '',
		size: part.body?.size ?? 0,
		inline:
			disposition.startsWith('inline') ||
			(related && contentId !== '' && !disposition.startsWith('attachment')),
		contentId,
	};
}

export function partHeader({ headers }: Part, name: string): string {
	const wanted = name.toLowerCase();
	return headers?.find((header) => header.name?.toLowerCase() === wanted)?.value ?? '';
}

/** The content of a part; Gmail keeps files and long texts apart. */
export async function partBytes({ gmail }: Clients, messageId: string, { body }: Part): Promise<Buffer> {
	if (!body?.attachmentId) return Buffer.from(body?.data ?? '', 'base64url');
	const { data } = await gmail.users.messages.attachments.get({
		userId: 'me',
		messageId,
		id: body.attachmentId,
		fields: 'data',
	});
	return Buffer.from(data.data ?? '', 'base64url');
}
