import { buffer } from 'node:stream/consumers';

import { refusal } from '../../../../core/failure';
import { bytesOfBase64 } from '../../../base64';
import type { Attachment, Item } from '../../../operation';
import { oneLine } from './headerFields';

/** Gmail's limit for a whole email, in bytes. */
export const maxMailBytes = 36_700_160;

export interface AttachedFile {
	readonly filename: string;
	readonly contentType: string | undefined;
	readonly content: Buffer;
	/** The binary field of the item that the file came from. */
	readonly field?: string;
	/** Content-ID, without angle brackets, of a file that the HTML shows. */
	readonly cid?: string;
}

/** A file whose size is known but that is not read yet. */
interface Announced {
	readonly field?: string;
	readonly filename: string;
	readonly contentType: string | undefined;
	/** Bytes. */
	readonly size: number;
	readonly read: () => Promise<Buffer>;
}

/**
 * The files to attach. They are read only if all of them fit.
 * @throws Failure 400 for a missing field, invalid base64, or more than an email can hold
 */
export async function attachedFiles(attachments: readonly Attachment[], item: Item): Promise<AttachedFile[]> {
	const announced: Announced[] = [];
	for (const [index, attachment] of attachments.entries()) {
		announced.push('field' in attachment ? await ofField(attachment.field, item) : ofText(attachment, index));
	}
	const total = announced.reduce((sum, { size }) => sum + encodedSize(size), 0);
	if (total > maxMailBytes) throw tooLarge(total, announced);
	return await Promise.all(
		announced.map(async ({ field, filename, contentType, read }) => ({
			field,
			filename,
			contentType,
			content: await read(),
		})),
	);
}

/** @param bytes size of the whole email, or of its encoded files alone */
export function tooLarge(bytes: number, files: ReadonlyArray<{ filename: string; size: number }>): Error {
	const list = files.map(({ filename, size }) => `${filename} ${megabytes(size)}`).join(', ');
	return refusal(
		`The email is too large for Gmail: ${megabytes(bytes)}, with a limit of ${megabytes(maxMailBytes)}`,
		`Files grow by a third in an email. ${list ? `Attachments: ${list}. ` : ''}Upload large files to Google Drive and send a link.`,
	);
}

async function ofField(field: string, item: Item): Promise<Announced> {
	const source = await item.binary(field);
	const filename = source.fileName || (await nameFor(field, source.mimeType));
	return {
		field,
		filename: oneLine(filename, `The file name of '${field}'`),
		contentType: source.mimeType,
		size: source.size,
		read: async () => await buffer(await source.open()),
	};
}

type TextAttachment = Exclude<Attachment, { readonly field: string }>;

function ofText({ fileName, mimeType, content }: TextAttachment, index: number): Announced {
	const bytes = bytesOfBase64(content);
	if (bytes === undefined) {
		throw refusal(
			`'content' of attachment ${index + 1} is not base64 text`,
			'Enter the file as base64 without a "data:" prefix, or use the name of a binary field instead.',
		);
	}
	return {
		filename: oneLine(fileName, `'fileName' of attachment ${index + 1}`),
		contentType:
			mimeType === undefined ? undefined : oneLine(mimeType, `'mimeType' of attachment ${index + 1}`),
		size: bytes.length,
		read: () => Promise.resolve(bytes),
	};
}

async function nameFor(field: string, mimeType: string | undefined): Promise<string> {
	const { fileNameFor } = await import('../fileName');
	return fileNameFor(field, mimeType);
}

/** Size in base64 with line breaks after 76 characters. */
function encodedSize(bytes: number): number {
	const characters = Math.ceil(bytes / 3) * 4;
	return characters + Math.ceil(characters / 76) * 2;
}

function megabytes(bytes: number): string {
	if (bytes < 100_000) return `${bytes} bytes`;
	return `${(bytes / 1_048_576).toFixed(1)} MiB (${bytes} bytes)`;
}
