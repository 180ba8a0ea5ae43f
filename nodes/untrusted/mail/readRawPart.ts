import { unescapeBytes } from './charset';

/** Reads one part of a whole email in base64url. The ID `1.0` means the first part in the second part. Without such a part, it is empty. */
export function readRawPart({ raw, partId }: { raw: string; partId: string }): Uint8Array {
	let part = parsePart(Buffer.from(raw, 'base64url').toString('latin1'));
	for (const position of partId.split('.')) {
		const parts = splitIntoParts(part);
		part = parsePart(parts[Number(position)] ?? '');
	}
	return new Uint8Array(Buffer.from(decodeContent(part), 'latin1'));
}

interface RawPart {
	/** The header lines, of which none is wrapped, with a line break before each. */
	readonly header: string;
	/** One character per byte. */
	readonly body: string;
}

function parsePart(rawPart: string): RawPart {
	// A part without headers begins with the blank line.
	const blankLine = /^\r?\n|\n\r?\n/.exec(rawPart);
	const headerEnd = blankLine ? blankLine.index + blankLine[0].length : rawPart.length;
	const header = rawPart.slice(0, headerEnd).replaceAll(/\r?\n[ \t]+/g, ' ');
	return { header: `\n${header}`, body: rawPart.slice(headerEnd) };
}

const readHeader = ({ header }: RawPart, name: string) =>
	new RegExp(`\\n${name}[ \\t]*:(.*)`, 'i').exec(header)?.[1]?.trim() ?? '';

/** Returns the parts of a multipart; for an attached email, only the email. */
function splitIntoParts(part: RawPart): string[] {
	const type = readHeader(part, 'Content-Type');
	if (!/^multipart\//i.test(type)) return [decodeContent(part)];
	const boundaryPattern = /;\s*boundary\s*=\s*(?:"(?<quoted>[^"]*)"|(?<bare>[^\s;]+))/i;
	const { quoted, bare = '' } = boundaryPattern.exec(type)?.groups ?? {};
	const boundary = (quoted ?? bare).replaceAll(/[^\w]/g, String.raw`\$&`);
	const buildPattern = (dashes: string) =>
		new RegExp(`\\r?\\n--${boundary}${dashes}[ \\t\\r]*(?:\\n|$)`);
	// Two more dashes end the multipart.
	const [content = ''] = `\n${part.body}`.split(buildPattern('--'), 1);
	return content.split(buildPattern('')).slice(1);
}

function decodeContent(part: RawPart): string {
	const encoding = readHeader(part, 'Content-Transfer-Encoding').toLowerCase();
	if (encoding === 'base64') return Buffer.from(part.body, 'base64').toString('latin1');
	if (encoding !== 'quoted-printable') return part.body;
	return unescapeBytes(part.body.replaceAll(/=[ \t]*\r?\n/g, ''), '=');
}
