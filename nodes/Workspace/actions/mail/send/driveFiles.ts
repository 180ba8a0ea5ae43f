import { createHash } from 'node:crypto';
import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { createRefusal, NodeError } from '../../../../core/errors';
import { quoteField } from '../../../../fields/field';
import { googleTypePrefix } from '../../createdFiles';

/** A file to attach whose bytes are not read yet. The names `filename`, `contentType` and, below, `cid` are those of nodemailer. */
export interface PendingFile {
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

/** The kinds of Google's files that it exports as PDF. Source: https://developers.google.com/workspace/drive/api/guides/ref-export-formats */
const pdfKinds = ['document', 'spreadsheet', 'presentation', 'drawing'];
const pdfType = 'application/pdf';
const adviceByKind: Readonly<Record<string, string>> = {
	folder: 'Enter the files in it one by one.',
	shortcut: 'Enter the file that it leads to.',
};

/** Looks up a file without reading its content. @throws NodeError if it cannot be attached */
export async function lookUpDriveFile(drive: drive_v3.Drive, fileId: string): Promise<PendingFile> {
	const request = { fileId, fields: 'name,mimeType,size,md5Checksum', supportsAllDrives: true };
	const file = (await drive.files.get(request)).data;
	const { mimeType } = file;
	if (!mimeType) throw createDownloadError(fileId);
	const name = (file.name ?? '').replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
	if (!mimeType.startsWith(googleTypePrefix)) {
		const { buildFileName } = await import('../../mimeTypes');
		const filename = name.includes('.') ? name : buildFileName(name, mimeType);
		const read = async () => await downloadFile(drive, fileId, name, file.md5Checksum);
		return { contentType: mimeType, filename, size: Number(file.size ?? 0), read };
	}
	const kind = mimeType.slice(googleTypePrefix.length);
	if (!pdfKinds.includes(kind))
		throw createRefusal(
			`"${name}" in ${quoteField('driveFiles')} is a ${kind}, which cannot be attached to an email`,
			`Nothing was sent. ${adviceByKind[kind] ?? 'Send a link to it instead.'}`,
		);
	const read = async () => await exportPdf(drive, fileId, name);
	return { googleFileId: fileId, contentType: pdfType, filename: `${name}.pdf`, size: 0, read };
}

async function downloadFile(
	drive: drive_v3.Drive,
	fileId: string,
	name: string,
	md5?: string | null,
) {
	const request = { fileId, alt: 'media', supportsAllDrives: true };
	const { data } = await drive.files.get(request, { responseType: 'arraybuffer' });
	const bytes: unknown = data;
	if (Buffer.isBuffer(bytes) && (!md5 || createHash('md5').update(bytes).digest('hex') === md5))
		return bytes;
	throw createDownloadError(name);
}

async function exportPdf(drive: drive_v3.Drive, fileId: string, name: string): Promise<Buffer> {
	const request = { fileId, mimeType: pdfType };
	const { data, headers } = await drive.files.export(request, { responseType: 'arraybuffer' });
	if (Buffer.isBuffer(data) && data.length > 0 && headers['content-type']?.startsWith(pdfType))
		return data;
	throw createDownloadError(name);
}

function createDownloadError(nameOrId: string): NodeError {
	const message = `Google Drive returned something other than the file "${nameOrId}"`;
	const description = 'Nothing was sent. Try again, and check any proxy in between.';
	return new NodeError({ code: 502, message, description });
}
