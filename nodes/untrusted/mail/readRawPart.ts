import { maxHeaderCharacters, unescapeBytes } from './charset';

/** Reads one part's content out of the whole email in base64url. The part ID `1.0` is the first part in the second part. */
export function readRawPart({ raw, partId }: { raw: string; partId: string }): Uint8Array | undefined {
	let entity = parseEntity(Buffer.from(raw, 'base64url').toString('latin1'));
	for (const step of partId.split('.')) {
		const inner: string | undefined = getInnerEntities(entity).at(Number(step));
		if (inner === undefined) return undefined;
		entity = parseEntity(inner);
	}
	return new Uint8Array(Buffer.from(decodeContent(entity), 'latin1'));
}

/** Headers by lower-case name, unfolded, only the first one of each name; and the body with one character per byte. */
type MimeEntity = ReturnType<typeof parseEntity>;

function parseEntity(bytes: string) {
	// An entity without headers begins with the blank line.
	const blank = /^\r?\n|\n\r?\n/.exec(bytes);
	const end = blank ? blank.index + blank[0].length : bytes.length;
	const headers = new Map<string, string>();
	for (const line of bytes.slice(0, end).split(/\r?\n(?![ \t])/)) {
		const colon = line.indexOf(':');
		const name = line.slice(0, colon).trim().toLowerCase();
		if (colon <= 0 || headers.has(name)) continue;
		const value = line.slice(colon + 1, colon + 1 + maxHeaderCharacters);
		headers.set(name, value.replaceAll(/\s+/g, ' ').trim());
	}
	return { headers, body: bytes.slice(end) };
}

function getInnerEntities(entity: MimeEntity): string[] {
	const type = entity.headers.get('content-type') ?? '';
	if (!/^multipart\//i.test(type)) return [decodeContent(entity)];
	const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(type) ?? [];
	return splitSections(entity.body, `\n--${quoted ?? plain ?? ''}`);
}

/** Splits a multipart's body at its delimiter, which includes the line break before it. */
function splitSections(body: string, delimiter: string): string[] {
	const sections: string[] = [];
	const [, ...pieces] = `\n${body}`.split(delimiter);
	for (const piece of pieces) {
		const [line = ''] = /^[^\n]*\n?/.exec(piece) ?? [];
		if (line.trim() === '--') break;
		if (line.trim() === '') sections.push(piece.slice(line.length));
		// This was no delimiter, but a longer boundary that begins like this one.
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
