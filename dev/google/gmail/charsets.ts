import { isUtf8 } from 'node:buffer';

/**
 * How `format=full` hands over texts of old charsets; their headers name the old one either way.
 *
 * `decoded`: in UTF-8, all but those of seven bits with escapes (openclaw/gogcli#511, #418, macro-inc/macro#6133);
 * `allDecoded`: those too (openclaw/gogcli#446); `asSent`: none (openclaw/gogcli#126).
 */
export type Bodies = 'decoded' | 'allDecoded' | 'asSent';

const escaped = /^(?:iso-2022-|hz)/i;

export function recoded(data: Buffer, charset: string, bodies: Bodies): Buffer {
	if (bodies === 'asSent' || (bodies === 'decoded' && escaped.test(charset))) return data;
	// Senders mislabel their emails. What is UTF-8 by chance is left to those who read it.
	if (charset === 'us-ascii' || (isUtf8(data) && !escaped.test(charset))) return data;
	try {
		return Buffer.from(new TextDecoder(charset, { fatal: true }).decode(data));
	} catch {
		// Not in that charset.
		return data;
	}
}
