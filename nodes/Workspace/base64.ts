/**
 * Bytes of base64 or base64url text (RFC 4648), with its padding or without. White space may stand at the ends of lines only, and the
 * text must be what an encoder writes: plain text that happens to use the same letters is mostly told by that.
 * @returns undefined for any other text
 */
export function bytesOfBase64(text: string): Buffer | undefined {
	const digits = text
		.split('\n')
		.map((line) => line.trim())
		.join('');
	if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/.test(digits)) return undefined;
	const bytes = Buffer.from(digits, 'base64');
	const written = bytes.toString(/[_-]/.test(digits) ? 'base64url' : 'base64');
	const bare = written.replace(/={1,2}$/, '');
	return digits === bare || digits === bare.padEnd(Math.ceil(bare.length / 4) * 4, '=') ? bytes : undefined;
}
