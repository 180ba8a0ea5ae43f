import { isUtf8 } from 'node:buffer';

/**
 * How `format=full` returns texts in old charsets. Their headers name the old charset in any case.
 *
 * `decoded`: in UTF-8, except seven-bit charsets with escapes (openclaw/gogcli#511, #418,
 * macro-inc/macro#6133);
 * `allDecoded`: those too (openclaw/gogcli#446); `asSent`: none (openclaw/gogcli#126).
 */
export type Bodies = 'decoded' | 'allDecoded' | 'asSent';

const escapedCharset = /^(?:iso-2022-|hz)/i;

export function recode(data: Buffer, charset: string, bodies: Bodies): Buffer {
	if (bodies === 'asSent' || (bodies === 'decoded' && escapedCharset.test(charset))) return data;
	// Some senders name a wrong charset. A text that is valid UTF-8 is therefore returned as it is.
	if (charset === 'us-ascii' || (isUtf8(data) && !escapedCharset.test(charset))) return data;
	try {
		return Buffer.from(new TextDecoder(charset, { fatal: true }).decode(data));
	} catch {
		// The text is not in that charset.
		return data;
	}
}
