import { ApiError } from './service.ts';

interface UploadBody {
	/** The JSON part of a multipart upload; undefined for plain media. */
	readonly metadata: unknown;
	readonly media: { readonly contentType: string; readonly data: Buffer };
}

/**
 * Parses the body of a simple or multipart upload.
 * @throws ApiError 400
 */
export function parseUploadBody(
	uploadType: string | null,
	contentType: string,
	body: Buffer,
): UploadBody {
	if (uploadType === 'media') return { metadata: undefined, media: { contentType, data: body } };
	if (uploadType !== 'multipart')
		throw createUploadError(`Unknown upload type ${String(uploadType)}.`);
	const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
	const [metadata, media] = boundary === undefined ? [] : splitParts(body, boundary);
	if (!metadata || !media) throw createUploadError('A multipart upload has two parts.');
	return {
		metadata: JSON.parse(metadata.data.toString('utf8')) as unknown,
		media: {
			contentType: media.headers['content-type'] ?? 'application/octet-stream',
			data: decodePart(media),
		},
	};
}

interface Part {
	readonly headers: Readonly<Record<string, string>>;
	readonly data: Buffer;
}

function splitParts(body: Buffer, boundary: string): Part[] {
	const delimiter = Buffer.from(`--${boundary}`);
	const parts: Part[] = [];
	let position = body.indexOf(delimiter);
	while (position >= 0) {
		const start = position + delimiter.length;
		const next = body.indexOf(Buffer.concat([Buffer.from('\r\n'), delimiter]), start);
		if (next < 0) break;
		// The line break after the delimiter does not belong to the part.
		parts.push(parsePart(body.subarray(start + 2, next)));
		position = next + 2;
	}
	return parts;
}

function parsePart(bytes: Buffer): Part {
	const blank = bytes.indexOf('\r\n\r\n');
	const lines = bytes.subarray(0, Math.max(0, blank)).toString('latin1').split('\r\n');
	const headers = lines.map((line) => {
		const colon = line.indexOf(':');
		return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
	});
	return {
		headers: Object.fromEntries(headers) as Record<string, string>,
		data: bytes.subarray(blank + 4),
	};
}

function decodePart({ headers, data }: Part): Buffer {
	const encoding = headers['content-transfer-encoding']?.toLowerCase();
	return encoding === 'base64' ? Buffer.from(data.toString('latin1'), 'base64') : data;
}

function createUploadError(message: string): ApiError {
	return new ApiError(400, message, { reason: 'badContent' });
}
