import { longestHeader } from './headers';

interface RawPartQuestion {
	/** The whole email, in base64url. */
	readonly raw: string;
	/** Numbered as by Gmail: `1.0` is the first part of the second part. */
	readonly partId: string;
}

/**
 * The content of a part, taken from the bytes of the whole email.
 * @returns undefined if the email has no such part
 */
export function rawPart({ raw, partId }: RawPartQuestion): Uint8Array | undefined {
	let entity: Entity | undefined = entityOf(Buffer.from(raw, 'base64url'));
	for (const step of partId.split('.')) {
		const inner: Buffer | undefined = innerOf(entity).at(Number(step));
		if (inner === undefined) return undefined;
		entity = entityOf(inner);
	}
	// Of a view, the whole memory behind it would be handed over.
	return new Uint8Array(contentOf(entity));
}

interface Entity {
	/** Names in lower case, values unfolded. Only the first header of each name is kept. */
	readonly headers: ReadonlyMap<string, string>;
	readonly body: Buffer;
}

/** Bytes of the header fields of a part that are read. */
const longestHead = 1_000_000;

function entityOf(bytes: Buffer): Entity {
	const end = headEnd(bytes);
	const head = bytes.toString('latin1', 0, Math.min(end, longestHead));
	const headers = new Map<string, string>();
	for (const line of head.split(/\r?\n(?![ \t])/)) {
		const colon = line.indexOf(':');
		const name = line.slice(0, colon).trim().toLowerCase();
		if (colon <= 0 || headers.has(name)) continue;
		const value = line.slice(colon + 1, colon + 1 + longestHeader);
		headers.set(name, value.replaceAll(/\s+/g, ' ').trim());
	}
	return { headers, body: bytes.subarray(end) };
}

/** Where the body begins. Without any header, the blank line comes first. */
function headEnd(bytes: Buffer): number {
	const start = bytes.toString('latin1', 0, 2);
	if (start.startsWith('\n')) return 1;
	if (start === '\r\n') return 2;
	const ends = ['\n\n', '\n\r\n'].flatMap((blank) => {
		const at = bytes.indexOf(blank);
		return at < 0 ? [] : [at + blank.length];
	});
	return Math.min(bytes.length, ...ends);
}

function innerOf(entity: Entity): Buffer[] {
	const type = entity.headers.get('content-type') ?? '';
	if (!/^multipart\//i.test(type)) return [contentOf(entity)];
	const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(type) ?? [];
	return sectionsOf(entity.body, `--${quoted ?? plain ?? ''}`);
}

/** The sections between lines that begin with a delimiter. */
function sectionsOf(body: Buffer, delimiter: string): Buffer[] {
	const sections: Buffer[] = [];
	let from: number | undefined;
	for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + 1)) {
		if (at > 0 && body[at - 1] !== 0x0a) continue;
		const lineEnd = body.indexOf('\n', at);
		const rest = body.toString('latin1', at + delimiter.length, lineEnd < 0 ? body.length : lineEnd).trim();
		if (rest !== '' && rest !== '--') continue;
		if (from !== undefined) sections.push(body.subarray(from, withoutLineBreak(body, from, at)));
		if (rest === '--' || lineEnd < 0) return sections;
		from = lineEnd + 1;
	}
	if (from !== undefined) sections.push(body.subarray(from));
	return sections;
}

/** The line break before a delimiter is part of the delimiter. */
function withoutLineBreak(body: Buffer, from: number, to: number): number {
	const length = body[to - 2] === 0x0d ? 2 : 1;
	return Math.max(from, to - length);
}

function contentOf({ headers, body }: Entity): Buffer {
	const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
	if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64');
	if (encoding !== 'quoted-printable') return body;
	const text = body
		.toString('latin1')
		.replaceAll(/=[ \t]*\r?\n/g, '')
		.replaceAll(/=([0-9A-F]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
	return Buffer.from(text, 'latin1');
}
