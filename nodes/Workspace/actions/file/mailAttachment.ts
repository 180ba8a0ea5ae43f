import { createRefusal, isNodeError } from '../../../core/errors';
import { listNames, shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { createMemorySource } from '../../byteSource';
import type { MailFile } from '../../../untrusted/mail/readContent';
import type { Mail } from '../../../untrusted/mail/readMail';
import type { ByteSource, Clients, Item } from '../../operation';
import { fetchAttachment, fetchMail, readAttachment } from '../mail/message';
import { buildFileName } from '../mimeTypes';
import type { UploadParams } from './fields';

/** Matches an attachment ID of Gmail, which is long. */
const attachmentIdPattern = /^[\w-]{40,}$/;

/**
 * Returns an attachment by its file name, or by any ID that Gmail has returned for it.
 * @throws NodeError 400 that lists the attachments
 */
export async function fetchMailAttachment(clients: Clients, params: UploadParams, item: Item) {
	const nameOrId = params.attachment.trim();
	const mail = await fetchMail(clients, params.messageId, item, { withText: false });
	const [file, ...otherFiles] = mail.files.filter(
		({ info }) => info.fileName.trim() === nameOrId,
	);
	if (!file) return await fetchAttachmentById(clients, mail, nameOrId);
	if (otherFiles.length > 0) throw createNameRefusal(nameOrId, mail);
	return toSource(await readAttachment(clients, mail.summary.id, file), file.info);
}

async function fetchAttachmentById(clients: Clients, mail: Mail, id: string) {
	if (!attachmentIdPattern.test(id)) throw createNameRefusal(id, mail);
	const data = await fetchAttachment(clients, mail.summary.id, id).catch((error: unknown) => {
		if (isNodeError(error) && [400, 404].includes(error.code))
			throw createNameRefusal(id, mail);
		throw error;
	});
	const bytes = Buffer.from(data, 'base64url');
	// Gmail changes the IDs with each read, so only the size can show which of the attachments this
	// is.
	const [info, ...others] = mail.content.attachments.filter(({ size }) => size === bytes.length);
	return toSource(bytes, others.length === 0 ? info : undefined);
}

function toSource(bytes: Buffer, info?: MailFile['info']): ByteSource {
	const mimeType = info?.mimeType ?? '';
	const fileName = info?.fileName || buildFileName('attachment', mimeType);
	return createMemorySource(bytes, { fileName, mimeType });
}

function createNameRefusal(nameOrId: string, { files }: Mail) {
	const names = files.map(({ info }) => info.fileName);
	return createRefusal(
		`The email does not have exactly one attachment '${shorten(nameOrId, 60)}'`,
		`Nothing was uploaded. In ${quoteField('attachment')}, enter the name of an attachment, or its attachmentId from Read. The email has: ${listNames(names) || 'none'}`,
	);
}
