import type { BinaryHelperFunctions, IBinaryData } from 'n8n-workflow';

import { NodeError } from './errors';

/**
 * Stores bytes as n8n's binary data.
 * @throws NodeError if n8n cannot store them, for example because its disk is full
 */
export async function storeBinary(
	{ prepareBinaryData }: Pick<BinaryHelperFunctions, 'prepareBinaryData'>,
	bytes: Buffer,
	fileName?: string,
	mimeType?: string,
): Promise<IBinaryData> {
	try {
		// n8n would take what stands before a slash for folders.
		return await prepareBinaryData(bytes, fileName?.replaceAll(/[/\\]/g, '_'), mimeType);
	} catch (cause) {
		throw createStorageError(cause, bytes.length);
	}
}

const createStorageError = (cause: unknown, byteCount: number) =>
	new NodeError({
		code: 500,
		message: `n8n could not save a file of ${byteCount.toLocaleString('en-US')} bytes`,
		description:
			'Ask your n8n administrator to check that the binary data storage has free space and that n8n may write to it.',
		// Not shown, because it may name a path of the server.
		cause,
	});
