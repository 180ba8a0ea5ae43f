import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { createRefusal, NodeError } from '../../../../core/errors';
import { joinLines } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { decodeBase64 } from '../../../byteSource';
import type { AttachmentInput, Clients, Item } from '../../../operation';
import { googleTypePrefix } from '../../createdFiles';
import { contentConcurrency, mapWithConcurrency, smallConcurrency } from '../mapWithConcurrency';
import { createTooLargeError, maxMailBytes } from './deliver';
import { type PreparedMail, requireOneLine } from './prepareMail';

/**
 * A file to attach whose bytes are not read yet. The names `filename`, `contentType` and, below,
 * `cid` are those of nodemailer.
 */
interface PendingFile {
	readonly filename: string;
	readonly contentType: string | undefined;
	/** In bytes. 0 for one of Google's own files, because Google has not made its PDF yet. */
	readonly size: number;
	/** The binary field of the item that the file comes from. */
	readonly field?: string;
	/** The ID of the Google document or other file of Google's own type, if its PDF is attached. */
	readonly googleFileId?: string;
	readonly read: () => Promise<Buffer>;
}

export interface LoadedFile extends Omit<PendingFile, 'read' | 'size'> {
	readonly content: Buffer;
	/** The Content-ID, without angle brackets, of a file that the HTML shows. */
	cid?: string;
}

/**
 * Reads the files to attach.
 * @throws NodeError 400 if they do not fit into an email, a file is missing or base64 is invalid
 */
export async function readFiles(
	mail: Pick<PreparedMail, 'attachments' | 'driveFiles'>,
	{ drive }: Clients,
	item: Item,
): Promise<LoadedFile[]> {
	const files: PendingFile[] = [];
	for (const attachment of mail.attachments) {
		if ('field' in attachment) files.push(await findFieldFile(attachment.field, item));
		else files.push(decodeFile(attachment));
	}
	const lookUp = async (id: string) => await findDriveFile(drive, id);
	files.push(...(await mapWithConcurrency(mail.driveFiles, smallConcurrency, lookUp)));
	// An email holds files as base64, which takes four characters for three bytes.
	let encodedBytes = 0;
	for (const { size } of files) encodedBytes += (size * 4) / 3;
	if (encodedBytes > maxMailBytes) throw createTooLargeError(encodedBytes);
	return await mapWithConcurrency(files, contentConcurrency, async (file) => ({
		...file,
		content: await file.read(),
	}));
}

async function findFieldFile(field: string, item: Item) {
	const source = await item.getBinary(field);
	const { buildFileName } = await import('../../mimeTypes');
	const filename = source.fileName || buildFileName(field, source.mimeType);
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

function decodeFile({ fileName, mimeType, content }: Base64Attachment): PendingFile {
	const bytes = decodeBase64(content);
	if (bytes === undefined)
		throw createRefusal(
			`'content' of the attachment '${fileName}' is not base64 text`,
			'Enter the file as base64 without a "data:" prefix, or use the name of a binary field instead.',
		);
	return {
		filename: requireOneLine(fileName, "'fileName' of an attachment"),
		contentType: mimeType && requireOneLine(mimeType, "'mimeType' of an attachment"),
		size: bytes.length,
		read: () => Promise.resolve(bytes),
	};
}

/**
 * The kinds of Google's files that it exports as PDF. Source:
 * https://developers.google.com/workspace/drive/api/guides/ref-export-formats
 */
const pdfKinds = ['document', 'spreadsheet', 'presentation', 'drawing'];
const pdfType = 'application/pdf';

/** Looks up a file without reading its content. @throws NodeError if it cannot be attached */
async function findDriveFile(drive: drive_v3.Drive, fileId: string) {
	const request = { fileId, fields: 'name,mimeType,size,md5Checksum', supportsAllDrives: true };
	const { data: file } = await drive.files.get(request);
	if (!file.mimeType) throw createDownloadError(fileId);
	const name = joinLines(file.name ?? '');
	if (file.mimeType.startsWith(googleTypePrefix)) {
		const kind = file.mimeType.slice(googleTypePrefix.length);
		if (!pdfKinds.includes(kind))
			throw createRefusal(
				`"${name}" in ${quoteField('driveFiles')} is a ${kind}, which cannot be attached to an email`,
				'Nothing was sent. Enter files one by one, or send a link instead.',
			);
		return {
			googleFileId: fileId,
			contentType: pdfType,
			filename: `${name}.pdf`,
			size: 0,
			read: () => exportPdf(drive, fileId),
		};
	}
	const { buildFileName } = await import('../../mimeTypes');
	return {
		contentType: file.mimeType,
		filename: /\.\S+$/.test(name) ? name : buildFileName(name, file.mimeType),
		size: Number(file.size ?? 0),
		read: () => downloadFile(drive, fileId, file.md5Checksum),
	};
}

const binaryResponse = { responseType: 'arraybuffer' } as const;

async function downloadFile(drive: drive_v3.Drive, fileId: string, md5?: string | null) {
	const request = { fileId, alt: 'media', supportsAllDrives: true };
	const { data } = await drive.files.get(request, binaryResponse);
	const bytes: unknown = data;
	if (!Buffer.isBuffer(bytes)) throw createDownloadError(fileId);
	if (md5 && createHash('md5').update(bytes).digest('hex') !== md5)
		throw createDownloadError(fileId);
	return bytes;
}

async function exportPdf(drive: drive_v3.Drive, fileId: string) {
	const request = { fileId, mimeType: pdfType };
	const { data, headers } = await drive.files.export(request, binaryResponse);
	const isPdf = headers['content-type']?.startsWith(pdfType) && data instanceof Buffer;
	if (isPdf && data.length > 0) return data;
	throw createDownloadError(fileId);
}

const createDownloadError = (fileId: string) =>
	new NodeError({
		code: 502,
		message: `Google Drive returned something other than the file ${fileId}`,
		description: 'Nothing was sent. Try again, and check any proxy in between.',
	});
