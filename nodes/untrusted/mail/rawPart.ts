import { longestField } from './mimeStructure';

/**
 * The content of a part, taken from the bytes of the whole email.
 * @param partId numbered as by Gmail: `1.0` is the first part of the second part
 * @returns undefined if the email has no such part
 */
export function rawPart(mail: Buffer, partId: string): Buffer | undefined {
	let entity: Entity | undefined = entityOf(mail);
	for (const step of partId.split('.')) {
		if (entity === undefined) return undefined;
		entity = innerOf(entity).at(Number(step));
	}
	return entity && contentOf(entity);
}

interface Entity {
	/** Names in lower case, values unfolded. Only the first header of each name is kept. */
	readonly headers: ReadonlyMap<string, string>;
	readonly body: Buffer;
}

function entityOf(bytes: Buffer): Entity {
	const text = bytes.toString('latin1');
	// Without any header, the blank line comes first.
	const end = /^\r?\n|\r?\n\r?\n/.exec(text);
	const head = end ? text.slice(0, end.index) : text;
	const headers = new Map<string, string>();
	for (const line of head.split(/\r?\n(?![ \t])/)) {
		const colon = line.indexOf(':');
		const name = line.slice(0, colon).trim().toLowerCase();
		if (colon > 0 && !headers.has(name))
			headers.set(
				name,
				line
					.slice(colon + 1)
					.replaceAll(/\s+/g, ' ')
					.trim(),
			);
	}
	return { headers, body: bytes.subarray(end ? end.index + end[0].length : bytes.length) };
}

function innerOf(entity: Entity): Entity[] {
	const type = (entity.headers.get('content-type') ?? '').slice(0, longestField);
	if (!/^multipart\//i.test(type)) return [entityOf(contentOf(entity))];
	const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(type) ?? [];
	return sectionsOf(entity.body, `--${quoted ?? plain ?? ''}`).map(entityOf);
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
