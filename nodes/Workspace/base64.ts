/** Bytes of base64 or base64url text; white space does not count. @returns undefined for any other text */
export function bytesOfBase64(text: string): Buffer | undefined {
	const digits = text.replaceAll(/\s+/g, '');
	const isBase64 = /^[A-Za-z0-9+/_-]*={0,2}$/.test(digits) && digits.replace(/=+$/, '').length % 4 !== 1;
	return isBase64 ? Buffer.from(digits, 'base64') : undefined;
}
