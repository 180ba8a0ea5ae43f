import { createRefusal, isNodeError } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { createMemorySource } from '../../byteSource';
import type { ByteSource, Clients, Item } from '../../operation';
import { createAttachmentReader, fetchAttachment, fetchMail } from '../mail/message';
import { buildFileName } from '../mimeTypes';
import type { UploadParams } from './fields';

/** Matches an attachment ID of Gmail, which is long. The IDs change with each read, so an ID from an earlier read is not among those of this read. */
const attachmentIdPattern = /^[\w-]{40,}$/;

/** Returns an attachment by its file name, or by any ID that Gmail has returned for it. @throws NodeError 400 that lists the attachments */
export async function getMailAttachment(
	clients: Clients,
	{ messageId, attachment }: Pick<UploadParams, 'messageId' | 'attachment'>,
	item: Item,
): Promise<ByteSource> {
	const nameOrId = attachment.trim();
	const mail = await fetchMail(clients, messageId, item, { withText: false });
	const [named, ...otherNamed] = mail.files.filter(({ info }) => info.fileName.trim() === nameOrId);
	const { attachments } = mail;
	if (otherNamed.length > 0)
		throw createNameRefusal(`${otherNamed.length + 1} attachments named`, nameOrId, attachments);
	if (named) return toSource(await createAttachmentReader(clients, mail, item)(named), named.info);
	if (!attachmentIdPattern.test(nameOrId)) throw createNameRefusal('no attachment', nameOrId, attachments);
	const data = await fetchAttachment(clients, messageId, nameOrId).catch((error: unknown) => {
		const isUnknownId = isNodeError(error) && (error.code === 400 || error.code === 404);
		throw isUnknownId ? createNameRefusal('no attachment', nameOrId, attachments) : error;
	});
	const bytes = Buffer.from(data, 'base64url');
	// Only the size can show which attachment the ID means.
	const [sameSize, ...othersOfSize] = attachments.filter(({ size }) => size === bytes.length);
	return toSource(bytes, othersOfSize.length === 0 ? sameSize : undefined);
}

type FileInfo = Readonly<Record<'fileName' | 'mimeType', string>>;

const toSource = (bytes: Buffer, { fileName, mimeType }: FileInfo = { fileName: '', mimeType: '' }) =>
	createMemorySource(bytes, { fileName: fileName || buildFileName('attachment', mimeType), mimeType });

const maxListedAttachments = 20;

/** @param countText what stands before the name, such as "no attachment" */
function createNameRefusal(
	countText: string,
	nameOrId: string,
	attachments: ReadonlyArray<{ readonly fileName: string; readonly size: number }>,
): Error {
	const list = attachments
		.slice(0, maxListedAttachments)
		.map(({ fileName, size }) => `'${shorten(fileName, 100)}' (${size} bytes)`);
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
