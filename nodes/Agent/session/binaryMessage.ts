import { isUtf8 } from 'node:buffer';
import type { BinaryHelperFunctions, IBinaryData } from 'n8n-workflow';

import { storeBinary } from '../../core/storeBinary';

/** The bytes of a message as n8n keeps them. n8n tells the media type from the first bytes where it can. */
export async function binaryOf(
	helpers: Pick<BinaryHelperFunctions, 'prepareBinaryData'>,
	bytes: Buffer,
): Promise<IBinaryData> {
	const data = await storeBinary(helpers, bytes);
	// n8n reports unknown types as text.
	if (data.mimeType !== 'text/plain' || isUtf8(bytes)) return data;
	return { ...data, mimeType: 'application/octet-stream', fileType: undefined, fileExtension: 'bin' };
}
