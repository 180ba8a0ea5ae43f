import type { Clients } from '../../../operation';
import type { Part } from '../../../../untrusted/mail/mimeStructure';

/** The content of a part. Gmail stores files and long texts separately. */
export async function partBytes(client: Clients, messageId: string, part: Part): Promise<Buffer> {
	const { body, partId } = part;
	if (body?.attachmentId) return await attachmentBytes(client, messageId, body.attachmentId);
	if (body?.data) return Buffer.from(body.data, 'base64url');
	// Gmail sometimes gives an email within an email no ID. Its bytes are then only in the whole email.
	if (!part.parts?.length || !partId) return Buffer.alloc(0);
	const { rawPart } = await import('../../../../untrusted/mail/rawPart');
	const { data } = await client.gmail.users.messages.get({
		userId: 'me',
		id: messageId,
		format: 'raw',
		fields: 'raw',
	});
	return rawPart(Buffer.from(data.raw ?? '', 'base64url'), partId) ?? Buffer.alloc(0);
}

async function attachmentBytes({ gmail }: Clients, messageId: string, id: string): Promise<Buffer> {
	const { data } = await gmail.users.messages.attachments.get({
		userId: 'me',
		messageId,
		id,
		fields: 'data',
	});
	return Buffer.from(data.data ?? '', 'base64url');
}
