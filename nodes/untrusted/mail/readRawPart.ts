import { maxHeaderCharacters, unescapeBytes } from './charset';

/** Reads one part of a whole email in base64url. The ID `1.0` means the first part in the second part. @returns undefined without such a part */
export function readRawPart({ raw, partId }: { raw: string; partId: string }): Uint8Array | undefined {
	let entity = parseEntity(Buffer.from(raw, 'base64url').toString('latin1'));
	for (const position of partId.split('.')) {
		const innerEntity: string | undefined = getInnerEntities(entity).at(Number(position));
		if (innerEntity === undefined) return undefined;
		entity = parseEntity(innerEntity);
	}
	return new Uint8Array(Buffer.from(decodeContent(entity), 'latin1'));
}

/** A MIME entity. `headers` has the first header of each name, by the name in lower case. `body` has one character per byte. */
type MimeEntity = ReturnType<typeof parseEntity>;

function parseEntity(bytes: string) {
	// An entity without headers begins with the blank line.
	const blankLine = /^\r?\n|\n\r?\n/.exec(bytes);
	const headersEnd = blankLine ? blankLine.index + blankLine[0].length : bytes.length;
	const headers = new Map<string, string>();
	for (const line of bytes.slice(0, headersEnd).split(/\r?\n(?![ \t])/)) {
		const colon = line.indexOf(':');
		const name = line.slice(0, colon).trim().toLowerCase();
		if (colon <= 0 || headers.has(name)) continue;
		const value = line.slice(colon + 1, colon + 1 + maxHeaderCharacters);
		headers.set(name, value.replaceAll(/\s+/g, ' ').trim());
	}
	return { headers, body: bytes.slice(headersEnd) };
}

/** Returns the parts of a multipart; for an attached email, only the email. */
function getInnerEntities(entity: MimeEntity): string[] {
	const type = entity.headers.get('content-type') ?? '';
	if (!/^multipart\//i.test(type)) return [decodeContent(entity)];
	const boundaryPattern = /;\s*boundary\s*=\s*(?:"(?<quoted>[^"]*)"|(?<bare>[^\s;]+))/i;
	const { quoted, bare } = boundaryPattern.exec(type)?.groups ?? {};
	return splitSections(entity.body, `\n--${quoted ?? bare ?? ''}`);
}

/** Splits the body of a multipart into its parts. @param delimiter the line break and the dashes with the boundary after them */
function splitSections(body: string, delimiter: string): string[] {
	const sections: string[] = [];
	const [, ...pieces] = `\n${body}`.split(delimiter);
	for (const piece of pieces) {
		const [line = ''] = /^[^\n]*\n?/.exec(piece) ?? [];
		if (line.trim() === '--') break;
		if (line.trim() === '') sections.push(piece.slice(line.length));
		// The line is a longer boundary that begins with the same characters, so it belongs to the section.
		else if (sections.length > 0) sections.push(`${sections.pop() ?? ''}${delimiter}${piece}`);
	}
	return sections.map((section) => section.replace(/\r$/, ''));
}

function decodeContent({ headers, body }: MimeEntity): string {
	const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
	if (encoding === 'base64') return Buffer.from(body, 'base64').toString('latin1');
	if (encoding !== 'quoted-printable') return body;
	return unescapeBytes(body.replaceAll(/=[ \t]*\r?\n/g, ''), '=').toString('latin1');
}
