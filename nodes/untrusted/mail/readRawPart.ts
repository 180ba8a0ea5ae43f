import { maxHeaderCharacters, unescapeBytes } from './charset';

/** Reads one part of a whole email in base64url. The ID `1.0` means the first part in the second part. @returns undefined without such a part */
export function readRawPart({
	raw,
	partId,
}: {
	raw: string;
	partId: string;
}): Uint8Array | undefined {
	let part = parsePart(Buffer.from(raw, 'base64url').toString('latin1'));
	for (const position of partId.split('.')) {
		const rawInnerPart: string | undefined = splitIntoRawParts(part).at(Number(position));
		if (rawInnerPart === undefined) return undefined;
		part = parsePart(rawInnerPart);
	}
	return new Uint8Array(Buffer.from(decodeContent(part), 'latin1'));
}

/** A part, or the whole email. `headers` has the first header of each name, by its name in lower case. `body` has one character per byte. */
type ParsedPart = ReturnType<typeof parsePart>;

function parsePart(rawPart: string) {
	// A part without headers begins with the blank line.
	const blankLine = /^\r?\n|\n\r?\n/.exec(rawPart);
	const headersEnd = blankLine ? blankLine.index + blankLine[0].length : rawPart.length;
	const headers = new Map<string, string>();
	for (const line of rawPart.slice(0, headersEnd).split(/\r?\n(?![ \t])/)) {
		const colon = line.indexOf(':');
		const name = line.slice(0, colon).trim().toLowerCase();
		if (colon <= 0 || headers.has(name)) continue;
		const value = line.slice(colon + 1, colon + 1 + maxHeaderCharacters);
		headers.set(name, value.replaceAll(/\s+/g, ' ').trim());
	}
	return { headers, body: rawPart.slice(headersEnd) };
}

/** Returns the parts of a multipart; for an attached email, only the email. */
function splitIntoRawParts(part: ParsedPart): string[] {
	const type = part.headers.get('content-type') ?? '';
	if (!/^multipart\//i.test(type)) return [decodeContent(part)];
	const boundaryPattern = /;\s*boundary\s*=\s*(?:"(?<quoted>[^"]*)"|(?<bare>[^\s;]+))/i;
	const { quoted, bare } = boundaryPattern.exec(type)?.groups ?? {};
	return splitBody(part.body, `\n--${quoted ?? bare ?? ''}`);
}

/** Splits the body of a multipart into its parts. @param delimiter the line break and the dashes with the boundary after them */
function splitBody(body: string, delimiter: string): string[] {
	const rawParts: string[] = [];
	const [, ...textsAfterDelimiter] = `\n${body}`.split(delimiter);
	for (const text of textsAfterDelimiter) {
		const [restOfLine = ''] = /^[^\n]*\n?/.exec(text) ?? [];
		// Two more dashes end the multipart.
		if (restOfLine.trim() === '--') break;
		if (restOfLine.trim() === '') rawParts.push(text.slice(restOfLine.length));
		// The line is a longer boundary that begins with the same characters, so it belongs to the part.
		else if (rawParts.length > 0) rawParts.push(`${rawParts.pop() ?? ''}${delimiter}${text}`);
	}
	return rawParts.map((rawPart) => rawPart.replace(/\r$/, ''));
}

function decodeContent({ headers, body }: ParsedPart): string {
	const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
	if (encoding === 'base64') return Buffer.from(body, 'base64').toString('latin1');
	if (encoding !== 'quoted-printable') return body;
	return unescapeBytes(body.replaceAll(/=[ \t]*\r?\n/g, ''), '=').toString('latin1');
}
