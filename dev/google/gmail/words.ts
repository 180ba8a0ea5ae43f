/** Decodes the encoded words (RFC 2047) in an unfolded header value, as Gmail shows it. */
export function decodedWords(value: string): string {
	return value
		.replaceAll(/(=\?[^?]+\?[BbQq]\?[^?]*\?=)\s+(?==\?)/g, '$1')
		.replaceAll(/=\?([^?*]+)(?:\*[^?]*)?\?([BbQq])\?([^?]*)\?=/g, (_word, charset, encoding, text) =>
			decodeBytes(wordBytes(String(encoding), String(text)), String(charset)),
		);
}

/** Reads a header's parameters by lower-case name, with RFC 2231 forms decoded; the value itself is under ''. */
export function parametersOf(value: string): Map<string, string> {
	const [main = '', ...rest] = pieces(value);
	const texts = new Map([['', main.trim().toLowerCase()]]);
	const extended = new Map<string, string>();
	for (const piece of rest) {
		const equals = piece.indexOf('=');
		if (equals < 0) continue;
		const name = piece.slice(0, equals).trim().toLowerCase();
		const text = unquoted(piece.slice(equals + 1).trim());
		const [base = name] = name.split('*');
		if (name.includes('*')) extended.set(base, (extended.get(base) ?? '') + text);
		else texts.set(name, decodedWords(text));
	}
	for (const [name, text] of extended) texts.set(name, decodedExtended(text));
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

function wordBytes(encoding: string, text: string): Buffer {
	return encoding.toUpperCase() === 'B'
		? Buffer.from(text, 'base64')
		: quotedBytes(text.replaceAll('_', ' '));
}

/** Decodes quoted-printable text that has no soft line breaks. */
export function quotedBytes(text: string): Buffer {
	return Buffer.from(
		text.replaceAll(/=([0-9A-Fa-f]{2})/g, (_match, hex) =>
			String.fromCharCode(Number.parseInt(String(hex), 16)),
		),
		'latin1',
	);
}

/** Splits at semicolons outside quotes. */
function pieces(value: string): string[] {
	return value.match(/(?:"(?:\\.|[^"\\])*"|[^;"])+/g) ?? [];
}

function unquoted(text: string): string {
	return text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text;
}

function decodedExtended(text: string): string {
	const [, charset = 'utf-8', encoded = text] = /^([^']*)'[^']*'([^]*)$/.exec(text) ?? [];
	return decodeBytes(quotedBytes(encoded.replaceAll('%', '=')), charset);
}
