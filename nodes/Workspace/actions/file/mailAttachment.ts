import { createRefusal, isNodeError } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { createMemorySource } from '../../byteSource';
import type { Mail } from '../../../untrusted/mail/readMail';
import type { ByteSource, Clients, Item } from '../../operation';
import { fetchAttachment, fetchMail, readAttachment } from '../mail/message';
import { buildFileName } from '../mimeTypes';
import type { UploadParams } from './fields';

/** Matches an attachment ID of Gmail, which is long. */
const attachmentIdPattern = /^[\w-]{40,}$/;

/** Returns an attachment by its file name, or by any ID that Gmail has returned for it. @throws NodeError 400 that lists the attachments */
export async function getMailAttachment(clients: Clients, params: UploadParams, item: Item) {
	const nameOrId = params.attachment.trim();
	const mail = await fetchMail(clients, params.messageId, item, { withText: false });
	const { attachments } = mail;
	const namedFiles = mail.files.filter(({ info }) => info.fileName.trim() === nameOrId);
	const [file] = namedFiles;
	if (namedFiles.length > 1)
		throw createNameRefusal(`${namedFiles.length} attachments named`, nameOrId, attachments);
	if (file) return toSource(await readAttachment(clients, params.messageId, file), file.info);
	const createNotFoundError = () => createNameRefusal('no attachment', nameOrId, attachments);
	if (!attachmentIdPattern.test(nameOrId)) throw createNotFoundError();
	const data = await fetchAttachment(clients, params.messageId, nameOrId).catch(
		(error: unknown) => {
			const isUnknownId = isNodeError(error) && (error.code === 400 || error.code === 404);
			throw isUnknownId ? createNotFoundError() : error;
		},
	);
	const bytes = Buffer.from(data, 'base64url');
	// Gmail changes the IDs with each read, so only the size can show which of the attachments this is.
	const attachmentsOfSize = attachments.filter(({ size }) => size === bytes.length);
	return toSource(bytes, attachmentsOfSize.length === 1 ? attachmentsOfSize[0] : undefined);
}

function toSource(bytes: Buffer, info?: Mail['attachments'][number]): ByteSource {
	const mimeType = info?.mimeType ?? '';
	const fileName = info?.fileName || buildFileName('attachment', mimeType);
	return createMemorySource(bytes, { fileName, mimeType });
}

const maxListedAttachments = 20;

/** Creates an error that lists the attachments. @param countText what its message says before the name, such as "no attachment" */
function createNameRefusal(countText: string, nameOrId: string, attachments: Mail['attachments']) {
	const listedAttachments = attachments.slice(0, maxListedAttachments);
	const list = listedAttachments.map(
		({ fileName, size }) => `'${shorten(fileName, 100)}' (${size} bytes)`,
	);
	const hiddenCount = attachments.length - maxListedAttachments;
	const moreText = hiddenCount > 0 ? ` and ${hiddenCount} more` : '';
	const advice =
		attachments.length === 0
			? 'It has no attachments.'
			: `Its attachments are: ${list.join(', ')}${moreText}. Enter the name of one in ${quoteField('attachment')}, or its attachmentId from Read.`;
	return createRefusal(
		`The email has ${countText} '${shorten(nameOrId, 60)}'`,
		`Nothing was uploaded. ${advice}`,
	);
}
