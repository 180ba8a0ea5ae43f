import { TextDecoder } from 'node:util';

/**
 * Decodes text in a charset that writes all letters in seven bits, recognized by its escapes. Such text is
 * also valid UTF-8, so only the escapes reveal it; without them it is something else or plain ASCII.
 * @returns undefined for any other text
 */
export function sevenBitText(bytes: Buffer, charset: string): string | undefined {
	const name = charset.toLowerCase();
	if (/^(?:unicode-1-1-)?utf-?7/.test(name)) return isSevenBit(bytes) ? utf7Text(bytes) : undefined;
	const isHz = name.startsWith('hz');
	if (isHz && bytes.includes('~{') && isSevenBit(bytes)) return hzText(bytes);
	// Some senders name no charset, or ASCII: zammad/zammad#6144.
	const isNamed = name.startsWith('iso-2022-') || /^(?:$|(?:us-)?ascii|utf-?8|iso-8859-1$)/.test(name);
	if (!isNamed || !bytes.includes(0x1b) || !isSevenBit(bytes)) return undefined;
	if (bytes.includes('\u001b$)C')) return shiftedText(bytes, 'euc-kr');
	if (bytes.includes('\u001b$)A')) return shiftedText(bytes, 'gbk');
	if (!/\u001b\$[@B(]|\u001b\([IJ]/.test(bytes.toString('latin1'))) return undefined;
	return new TextDecoder('iso-2022-jp').decode(bytes);
}

function isSevenBit(bytes: Buffer): boolean {
	return bytes.every((byte) => byte < 0x80);
}

/**
 * RFC 1843: `~{` and `~}` around two-byte letters, `~~` for the tilde itself, `~` at the end of a line to
 * join it with the next.
 */
function hzText(bytes: Buffer): string {
	const text = bytes.toString('latin1');
	return text.replaceAll(/~\{([^]*?)(?:~\}|(?=\n)|$)|~~|~\r?\n/g, (whole, letters: string | undefined) => {
		if (letters !== undefined) return decoded(letters, 'gbk');
		return whole === '~~' ? '~' : '';
	});
}

/** RFC 1557 and RFC 1922: the letters are between the control characters SO and SI. */
function shiftedText(bytes: Buffer, charset: string): string {
	return bytes
		.toString('latin1')
		.replaceAll(/\u001b\$\)[AC]/g, '')
		.replaceAll(/\u000e([^\u000f\r\n]*)\u000f?/g, (_whole, letters: string) => decoded(letters, charset));
}

function decoded(letters: string, charset: string): string {
	const bytes = Buffer.from(letters, 'latin1').map((byte) => (byte > 0x20 ? byte | 0x80 : byte));
	return new TextDecoder(charset).decode(bytes);
}

/** RFC 2152. */
function utf7Text(bytes: Buffer): string {
	return bytes.toString('latin1').replaceAll(/\+([A-Za-z0-9+/]*)-?/g, (whole, digits: string) => {
		if (digits === '') return whole === '+-' ? '+' : whole;
		const units = Buffer.from(digits, 'base64');
		return units
			.subarray(0, units.length - (units.length % 2))
			.swap16()
			.toString('utf16le');
	});
}
