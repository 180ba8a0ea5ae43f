import { longestHeader, unescapeBytes } from './charset';

/** The content of a part, if there is one. @param input the email in base64url, and the part's number: `1.0` is the second one's first */
export function rawPart({ raw, partId }: { raw: string; partId: string }): Uint8Array | undefined {
	let entity = entityOf(Buffer.from(raw, 'base64url').toString('latin1'));
	for (const step of partId.split('.')) {
		const inner: string | undefined = innerOf(entity).at(Number(step));
		if (inner === undefined) return undefined;
		entity = entityOf(inner);
	}
	return new Uint8Array(Buffer.from(contentOf(entity), 'latin1'));
}

/** Names in lower case, values unfolded. Of each name only the first header is kept. Each character of the body is a byte. */
type Entity = ReturnType<typeof entityOf>;

function entityOf(bytes: string) {
	// Without any header, the blank line comes first.
	const blank = /^\r?\n|\n\r?\n/.exec(bytes);
	const end = blank ? blank.index + blank[0].length : bytes.length;
	const headers = new Map<string, string>();
	for (const line of bytes.slice(0, end).split(/\r?\n(?![ \t])/)) {
		const colon = line.indexOf(':');
		const name = line.slice(0, colon).trim().toLowerCase();
		if (colon <= 0 || headers.has(name)) continue;
		const value = line.slice(colon + 1, colon + 1 + longestHeader);
		headers.set(name, value.replaceAll(/\s+/g, ' ').trim());
	}
	return { headers, body: bytes.slice(end) };
}

function innerOf(entity: Entity): string[] {
	const type = entity.headers.get('content-type') ?? '';
	if (!/^multipart\//i.test(type)) return [contentOf(entity)];
	const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(type) ?? [];
	return sectionsOf(entity.body, `\n--${quoted ?? plain ?? ''}`);
}

/** The sections between delimiters. The line break before one is part of it. */
function sectionsOf(body: string, delimiter: string): string[] {
	const sections: string[] = [];
	const [, ...pieces] = `\n${body}`.split(delimiter);
	for (const piece of pieces) {
		const [line = ''] = /^[^\n]*\n?/.exec(piece) ?? [];
		if (line.trim() === '--') break;
		if (line.trim() === '') sections.push(piece.slice(line.length));
		// Another boundary that begins like this one.
		else if (sections.length > 0) sections.push(`${sections.pop() ?? ''}${delimiter}${piece}`);
	}
	return sections.map((section) => section.replace(/\r$/, ''));
}

function contentOf({ headers, body }: Entity): string {
	const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
	if (encoding === 'base64') return Buffer.from(body, 'base64').toString('latin1');
	if (encoding !== 'quoted-printable') return body;
	return unescapeBytes(body.replaceAll(/=[ \t]*\r?\n/g, ''), '=').toString('latin1');
}
