import type { BinaryHelperFunctions, IBinaryData } from 'n8n-workflow';

import { appendErrorCode, NodeError } from './errors';

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

function createStorageError(cause: unknown, byteCount: number): NodeError {
	const errorCode = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
	// An error with a code comes from the file system. Its message is not shown, because it names a
	// path of the server.
	const reason = cause instanceof Error && errorCode === undefined ? `: ${cause.message}` : '';
	const description = appendErrorCode(
		'Ask your n8n administrator to check that the binary data storage has free space and that n8n may write to it.',
		errorCode,
	);
	const message = `n8n could not save a file of ${byteCount.toLocaleString('en-US')} bytes${reason}`;
	return new NodeError({ code: 500, message, description, cause });
}
