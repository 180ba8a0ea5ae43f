/** Decodes the encoded words (RFC 2047) in an unfolded header value, as Gmail shows it. */
export function decodeWords(value: string): string {
	return value
		.replaceAll(/(=\?[^?]+\?[BbQq]\?[^?]*\?=)\s+(?==\?)/g, '$1')
		.replaceAll(
			/=\?([^?*]+)(?:\*[^?]*)?\?([BbQq])\?([^?]*)\?=/g,
			(_word, charset, encoding, text) =>
				decodeBytes(decodeWord(String(encoding), String(text)), String(charset)),
		);
}

/** Reads a header's parameters by lower-case name, with RFC 2231 forms decoded; the value itself is under ''. */
export function parseParameters(header: string): Map<string, string> {
	const [main = '', ...rest] = splitPieces(header);
	const texts = new Map([['', main.trim().toLowerCase()]]);
	const extended = new Map<string, string>();
	for (const piece of rest) {
		const equals = piece.indexOf('=');
		if (equals < 0) continue;
		const name = piece.slice(0, equals).trim().toLowerCase();
		const value = piece.slice(equals + 1).trim();
		// Gmail does not read an extended value (RFC 8187) in quotes.
		if (name.endsWith('*') && value.startsWith('"')) continue;
		const text = unquote(value);
		const [base = name] = name.split('*');
		if (name.includes('*')) extended.set(base, (extended.get(base) ?? '') + text);
		else texts.set(name, decodeWords(text));
	}
	for (const [name, text] of extended) texts.set(name, decodeExtended(text));
	return texts;
}

export function decodeBytes(bytes: Buffer, charset: string): string {
	try {
		return new TextDecoder(charset).decode(bytes);
	} catch {
		// For an unknown charset, the bytes are used unchanged, as mail programs do.
		return bytes.toString('latin1');
	}
}

function decodeWord(encoding: string, text: string): Buffer {
	return encoding.toUpperCase() === 'B'
		? Buffer.from(text, 'base64')
		: decodeQuotedPrintable(text.replaceAll('_', ' '));
}

/** Decodes quoted-printable text that has no soft line breaks. */
export function decodeQuotedPrintable(text: string): Buffer {
	return Buffer.from(
		text.replaceAll(/=([0-9A-Fa-f]{2})/g, (_match, hex) =>
			String.fromCharCode(Number.parseInt(String(hex), 16)),
		),
		'latin1',
	);
}

/** Splits at semicolons outside quotes. */
function splitPieces(value: string): string[] {
	return value.match(/(?:"(?:\\.|[^"\\])*"|[^;"])+/g) ?? [];
}

function unquote(text: string): string {
	return text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text;
}

function decodeExtended(text: string): string {
	const [, charset = 'utf-8', encoded = text] = /^([^']*)'[^']*'([^]*)$/.exec(text) ?? [];
	return decodeBytes(decodeQuotedPrintable(encoded.replaceAll('%', '=')), charset);
}
