import { createRefusal, isNodeError } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { createMemorySource } from '../../byteSource';
import type { ByteSource, Clients, Item } from '../../operation';
import { createAttachmentReader, fetchAttachment, readMessage } from '../mail/message';
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
	const mail = await readMessage(clients, messageId, item, { withText: false });
	const [file, ...otherFiles] = mail.files.filter(({ info }) => info.fileName.trim() === nameOrId);
	const infos = mail.files.map(({ info }) => info);
	if (otherFiles.length > 0)
		throw createAttachmentRefusal(`${otherFiles.length + 1} attachments named`, nameOrId, infos);
	if (file) return toSource(await createAttachmentReader(clients, mail, item)(file), file.info);
	if (!attachmentIdPattern.test(nameOrId)) throw createAttachmentRefusal('no attachment', nameOrId, infos);
	const data = await fetchAttachment(clients, messageId, nameOrId).catch((error: unknown) => {
		const isUnknownId = isNodeError(error) && (error.code === 400 || error.code === 404);
		throw isUnknownId ? createAttachmentRefusal('no attachment', nameOrId, infos) : error;
	});
	const bytes = Buffer.from(data, 'base64url');
	// Only the size can show which attachment the ID means.
	const [info, ...otherInfos] = infos.filter(({ size }) => size === bytes.length);
	return toSource(bytes, otherInfos.length === 0 ? info : undefined);
}

type FileInfo = Readonly<Record<'fileName' | 'mimeType', string>>;

const toSource = (bytes: Buffer, { fileName, mimeType }: FileInfo = { fileName: '', mimeType: '' }) =>
	createMemorySource(bytes, { fileName: fileName || buildFileName('attachment', mimeType), mimeType });

const maxListedAttachments = 20;

/** @param countText what stands before the name, such as "no attachment" */
function createAttachmentRefusal(
	countText: string,
	nameOrId: string,
	infos: ReadonlyArray<{ readonly fileName: string; readonly size: number }>,
): Error {
	const list = infos
		.slice(0, maxListedAttachments)
		.map(({ fileName, size }) => `'${shorten(fileName, 100)}' (${size} bytes)`);
	const hiddenCount = infos.length - maxListedAttachments;
	const moreText = hiddenCount > 0 ? ` and ${hiddenCount} more` : '';
	const advice =
		infos.length === 0
			? 'It has no attachments.'
			: `Its attachments are: ${list.join(', ')}${moreText}. Enter the name of one in ${quoteField('attachment')}, or its attachmentId from Read.`;
	return createRefusal(
		`The email has ${countText} '${shorten(nameOrId, 60)}'`,
		`Nothing was uploaded. ${advice}`,
	);
}
