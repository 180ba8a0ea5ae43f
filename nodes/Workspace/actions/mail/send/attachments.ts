import { buffer } from 'node:stream/consumers';

import { createRefusal } from '../../../../core/errors';
import { initialConcurrency } from '../../../../http/gate';
import { decodeBase64 } from '../../../byteSource';
import type { AttachmentInput, Clients, Item } from '../../../operation';
import { contentConcurrency, mapWithConcurrency } from '../mapWithConcurrency';
import { maxMailBytes, createTooLargeError } from './deliver';
import { lookUpDriveFile, type PendingFile } from './driveFiles';
import { type PreparedMail, requireOneLine } from './prepareMail';

export interface LoadedFile extends Omit<PendingFile, 'read'> {
	readonly content: Buffer;
	/** The Content-ID, without angle brackets, of a file that the HTML shows. */
	readonly cid?: string;
}

/** Reads the files to attach. @throws NodeError 400 if they do not fit into an email, a field is missing or base64 is invalid */
export async function readAttachments(
	{ attachments, driveFiles }: Pick<PreparedMail, 'attachments' | 'driveFiles'>,
	{ drive }: Pick<Clients, 'drive'>,
	item: Item,
): Promise<LoadedFile[]> {
	const getFile = async (file: AttachmentInput, index: number) =>
		'field' in file ? await getFileFromField(file.field, item) : getFileFromBase64(file, index);
	const pendingFiles = await mapWithConcurrency(attachments, 1, getFile);
	const lookUp = async (id: string) => await lookUpDriveFile(drive, id);
	pendingFiles.push(...(await mapWithConcurrency(driveFiles, initialConcurrency, lookUp)));
	let totalBytes = 0;
	const addBytes = (bytes: number) => {
		totalBytes += bytes;
		if (totalBytes > maxMailBytes) throw createTooLargeError(totalBytes, pendingFiles);
	};
	addBytes(pendingFiles.reduce((sum, { size }) => sum + getEncodedSize(size), 0));
	return await mapWithConcurrency(pendingFiles, contentConcurrency, async ({ read, ...file }) => {
		const content = await read();
		// Corrects the total by the size of a PDF, which Google tells only after it has made the PDF.
		addBytes(getEncodedSize(content.length) - getEncodedSize(file.size));
		return { ...file, size: content.length, content };
	});
}

async function getFileFromField(field: string, item: Item): Promise<PendingFile> {
	const source = await item.getBinary(field);
	const filename =
		source.fileName || (await import('../../mimeTypes')).buildFileName(field, source.mimeType);
	return {
		field,
		filename: requireOneLine(filename, `The file name of '${field}'`),
		contentType: source.mimeType,
		size: source.size,
		read: async () => await buffer(await source.open()),
	};
}

/** An attachment that the input object holds itself, as base64 text. */
type Base64Attachment = Exclude<AttachmentInput, { readonly field: string }>;

function getFileFromBase64(
	{ fileName, mimeType, content }: Base64Attachment,
	index: number,
): PendingFile {
	const bytes = decodeBase64(content);
	if (bytes === undefined)
		throw createRefusal(
			`'content' of attachment ${index + 1} is not base64 text`,
			'Enter the file as base64 without a "data:" prefix, or use the name of a binary field instead.',
		);
	return {
		filename: requireOneLine(fileName, `'fileName' of attachment ${index + 1}`),
		contentType: mimeType && requireOneLine(mimeType, `'mimeType' of attachment ${index + 1}`),
		size: bytes.length,
		read: () => Promise.resolve(bytes),
	};
}

/** Returns the size of the base64 text, which has a line break (CR LF) after every 76 characters (RFC 2045, 6.8). */
function getEncodedSize(bytes: number): number {
	const characters = Math.ceil(bytes / 3) * 4;
	return characters + Math.ceil(characters / 76) * 2;
}
