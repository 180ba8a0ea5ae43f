import { createRefusal, isNodeError } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { createMemorySource } from '../../byteSource';
import type { ByteSource, Clients, Item } from '../../operation';
import { createAttachmentReader, fetchAttachment, readMessage } from '../mail/message';
import { buildFileName } from '../mimeTypes';
import type { UploadParams } from './fields';

/** Gmail's attachment IDs are long and change with each read, so a given one cannot be looked up among the current ones. */
const attachmentIdPattern = /^[\w-]{40,}$/;

/** An attachment by its file name, or by an ID that Gmail has given for it. @throws NodeError 400 that names those that exist */
export async function getMailAttachment(
	client: Clients,
	{ messageId, attachment }: Pick<UploadParams, 'messageId' | 'attachment'>,
	item: Item,
): Promise<ByteSource> {
	const wanted = attachment.trim();
	const mail = await readMessage(client, messageId, item, { withText: false });
	const named = mail.files.filter(({ info }) => info.fileName.trim() === wanted);
	const infos = mail.files.map(({ info }) => info);
	const [file, ...others] = named;
	if (others.length > 0) throw createAttachmentRefusal(`${named.length} attachments named`, wanted, infos);
	if (file) return toSource(await createAttachmentReader(client, mail, item)(file), file.info);
	if (!attachmentIdPattern.test(wanted)) throw createAttachmentRefusal('no attachment', wanted, infos);
	const data = await fetchAttachment(client, messageId, wanted).catch((error: unknown) => {
		const isUnknownId = isNodeError(error) && (error.code === 400 || error.code === 404);
		throw isUnknownId ? createAttachmentRefusal('no attachment', wanted, infos) : error;
	});
	const bytes = Buffer.from(data, 'base64url');
	const [sameSize, ...more] = infos.filter(({ size }) => size === bytes.length);
	return toSource(bytes, more.length === 0 ? sameSize : undefined);
}

type Info = Readonly<Record<'fileName' | 'mimeType', string>>;

const toSource = (bytes: Buffer, { fileName, mimeType }: Info = { fileName: '', mimeType: '' }) =>
	createMemorySource(bytes, { fileName: fileName || buildFileName('attachment', mimeType), mimeType });

const maxListedAttachments = 20;

function createAttachmentRefusal(
	found: string,
	wanted: string,
	infos: ReadonlyArray<{ readonly fileName: string; readonly size: number }>,
): Error {
	const list = infos
		.slice(0, maxListedAttachments)
		.map(({ fileName, size }) => `'${shorten(fileName, 100)}' (${size} bytes)`);
	const more = infos.length > maxListedAttachments ? ` and ${infos.length - maxListedAttachments} more` : '';
	const existing =
		infos.length === 0
			? 'It has no attachments.'
			: `Its attachments are: ${list.join(', ')}${more}. Enter the name of one in ${quoteField('attachment')}, or its attachmentId from Read.`;
	return createRefusal(
		`The email has ${found} '${shorten(wanted, 60)}'`,
		`Nothing was uploaded. ${existing}`,
	);
}
