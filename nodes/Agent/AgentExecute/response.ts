import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

/** An answer of the agent service, read to its end. */
export interface Answer {
	readonly statusCode: number;
	readonly headers: IncomingHttpHeaders;
	readonly body: Buffer;
}

/** What an output item says of a body: the parsed JSON, the text, null when empty; or the bytes for `binary.data`. */
export type Content =
	| { readonly response: unknown }
	| { readonly bytes: Buffer; readonly mimeType: string; readonly fileName: string | undefined };

/** JSON is parsed, text passed on, anything else is bytes. What a service labels JSON but is none stays text. */
export function contentOf({ body, headers }: Answer): Content {
	if (body.length === 0) return { response: null };
	const contentType = headers['content-type'] ?? '';
	const mimeType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
	const text = asText(body, contentType, mimeType);
	if (text === undefined)
		return { bytes: body, mimeType: mimeType || 'application/octet-stream', fileName: fileNameOf(headers) };
	return { response: isText(mimeType) && !isJson(mimeType) ? text : parsedOrText(text) };
}

const isJson = (mimeType: string) =>
	mimeType === 'application/json' || mimeType.endsWith('+json') || mimeType === 'text/json';

const textTypes = [
	'application/javascript',
	'application/jsonl',
	'application/jsonlines',
	'application/ndjson',
	'application/toml',
	'application/x-jsonlines',
	'application/x-ndjson',
	'application/x-www-form-urlencoded',
	'application/x-yaml',
	'application/xml',
	'application/yaml',
];

const isText = (mimeType: string) =>
	mimeType.startsWith('text/') ||
	isJson(mimeType) ||
	mimeType.endsWith('+xml') ||
	mimeType.endsWith('+yaml') ||
	textTypes.includes(mimeType);

/** The body as text, or undefined when it is bytes: by its media type, without one by whether it is valid UTF-8. */
function asText(body: Buffer, contentType: string, mimeType: string): string | undefined {
	if (mimeType !== '' && !isText(mimeType)) return undefined;
	if (mimeType !== '') return decoder(/charset="?([^";\s]+)/i.exec(contentType)?.[1]).decode(body);
	return isUtf8(body) ? body.toString('utf8') : undefined;
}

function decoder(charset = 'utf-8'): InstanceType<typeof TextDecoder> {
	try {
		return new TextDecoder(charset);
	} catch {
		// A label that Node does not know: UTF-8 keeps at least the ASCII part readable.
		return new TextDecoder();
	}
}

function parsedOrText(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// Labelled JSON and is none: the text is what the service said.
		return text;
	}
}

function fileNameOf(headers: IncomingHttpHeaders): string | undefined {
	return /filename="?([^";]+)"?/i.exec(headers['content-disposition'] ?? '')?.[1]?.trim();
}
