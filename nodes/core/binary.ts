import type { BinaryHelperFunctions, IBinaryData } from 'n8n-workflow';

import { NodeError, withCode } from './errors';

/** Gives bytes to n8n's storage. @throws NodeError if it does not take them, as when its disk is full */
export async function storeBinary(
	{ prepareBinaryData }: Pick<BinaryHelperFunctions, 'prepareBinaryData'>,
	bytes: Buffer,
	fileName?: string,
	mimeType?: string,
): Promise<IBinaryData> {
	try {
		return await prepareBinaryData(bytes, fileName, mimeType);
	} catch (cause) {
		throw notStored(cause, bytes.length);
	}
}

function notStored(cause: unknown, bytes: number): NodeError {
	const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
	// Other errors of a file system, whose words name a path of the server.
	const said = cause instanceof Error && code === undefined ? `: ${cause.message}` : '';
	return new NodeError({
		code: 500,
		message: `n8n could not store a file of ${bytes.toLocaleString('en-US')} bytes${said}`,
		description: withCode(
			'Ask whoever operates this n8n to look at its binary data storage: whether there is room, and whether n8n may write there.',
			code,
		),
		cause,
	});
}
