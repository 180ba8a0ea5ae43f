import { decodeBytes, decodeWords, parseParameters, decodeQuotedPrintable } from './words.ts';

export interface Header {
	readonly name: string;
	/** Decoded. */
	readonly value: string;
	/** The received value, unfolded but not decoded, because addresses are read before names are decoded. */
	readonly encoded: string;
}

/** A part of an email, numbered and named as in Gmail. */
export interface MimePart {
	/** '' for the email itself, then `0`, `1`, `1.0` … */
	readonly partId: string;
	readonly mimeType: string;
	readonly charset: string;
	/** '' for a part that is not a file. */
	readonly filename: string;
	readonly headers: readonly Header[];
	/** Content without its transfer encoding; empty for a multipart. */
	readonly data: Buffer;
	readonly parts: readonly MimePart[];
}

export function parseMime(bytes: Buffer, partId = '', defaultType = 'text/plain'): MimePart {
	const { head, body } = splitHead(bytes);
	const headers = parseHeaders(head);
	const contentType = parseParameters(findHeader(headers, 'content-type') ?? defaultType);
	const disposition = parseParameters(findHeader(headers, 'content-disposition') ?? '');
	const mimeType = contentType.get('') || defaultType;
	const boundary = contentType.get('boundary');
	const common = {
		partId,
		mimeType,
		charset: contentType.get('charset') ?? 'us-ascii',
		filename: disposition.get('filename') ?? contentType.get('name') ?? '',
		headers,
	};
	const within = (index: number) => (partId === '' ? String(index) : `${partId}.${index}`);
	if (mimeType.startsWith('multipart/') && boundary !== undefined) {
		// The parts of a digest are emails (RFC 2046, 5.1.5).
		const innerType = mimeType === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
		const inner = splitSections(body, boundary).map((section, index) =>
			parseMime(section, within(index), innerType),
		);
		// Without any delimiter there are no parts, and the whole body is the content.
		if (inner.length > 0) return { ...common, data: Buffer.alloc(0), parts: inner };
	}
	const encoding = findHeader(headers, 'content-transfer-encoding')?.toLowerCase();
	const data = decodeBody(body, encoding);
	// See MessagePart in the contract: an email within an email has `filename`, `parts` and `body` like a
	// part with parts. So has the report of a bounce, whose first fields become headers:
	// oneshot-agent/oneshot-gtm#30.
	const isEmail = ['message/rfc822', 'message/delivery-status'].includes(mimeType);
	const parts = isEmail ? [parseMime(data, within(0))] : [];
	return { ...common, data, parts };
}

/** Finds the value of the first header with that name. */
export function findHeader(headers: readonly Header[], name: string): string | undefined {
	return headers.find((header) => header.name.toLowerCase() === name.toLowerCase())?.value;
}

/** Finds the values, not decoded, of all headers with that name. */
export function findEncodedHeaders(headers: readonly Header[], name: string): string[] {
	return headers
		.filter((header) => header.name.toLowerCase() === name.toLowerCase())
		.map(({ encoded }) => encoded);
}

/** Returns the part and all its descendants. */
export function collectParts(part: MimePart): MimePart[] {
	return [part, ...part.parts.flatMap(collectParts)];
}

export function readText({ data, charset }: MimePart): string {
	return decodeBytes(data, charset);
}

function splitHead(bytes: Buffer): { head: Buffer; body: Buffer } {
	// The part has no header if it begins with the blank line.
	const [firstBlankLine] = /^\r?\n/.exec(bytes.toString('latin1', 0, 2)) ?? [];
	if (firstBlankLine)
		return { head: Buffer.alloc(0), body: bytes.subarray(firstBlankLine.length) };
	const blankLine = ['\r\n\r\n', '\n\n']
		.map((blank) => ({ position: bytes.indexOf(blank), length: blank.length }))
		.filter(({ position }) => position >= 0)
		.sort((one, other) => one.position - other.position)[0];
	if (!blankLine) return { head: bytes, body: Buffer.alloc(0) };
	const { position, length } = blankLine;
	return { head: bytes.subarray(0, position), body: bytes.subarray(position + length) };
}

function parseHeaders(head: Buffer): Header[] {
	const text = head.toString('utf8');
	return text.split(/\r?\n(?![ \t])/).flatMap((line) => {
		const colon = line.indexOf(':');
		if (colon <= 0) return [];
		const encoded = line
			.slice(colon + 1)
			.replaceAll(/\r?\n[ \t]+/g, ' ')
			.trim();
		return [{ name: line.slice(0, colon).trim(), value: decodeWords(encoded), encoded }];
	});
}

/** Returns the content between the delimiters of a multipart. */
function splitSections(body: Buffer, boundary: string): Buffer[] {
	const text = body.toString('latin1');
	const escaped = boundary.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
	const delimiter = new RegExp(`(?:^|\\r?\\n)--${escaped}(--)?[ \\t]*(?:\\r?\\n|$)`, 'g');
	const parts: Buffer[] = [];
	let start: number | undefined;
	for (const match of text.matchAll(delimiter)) {
		if (start !== undefined) parts.push(Buffer.from(text.slice(start, match.index), 'latin1'));
		start = match.index + match[0].length;
		if (match[1] !== undefined) return parts;
	}
	// Many emails end without the closing delimiter.
	if (start !== undefined) parts.push(Buffer.from(text.slice(start), 'latin1'));
	return parts;
}

function decodeBody(body: Buffer, encoding: string | undefined): Buffer {
	if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64');
	if (encoding === 'quoted-printable') {
		return decodeQuotedPrintable(body.toString('latin1').replaceAll(/=\r?\n/g, ''));
	}
	return body;
}
