import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { read, ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';

import { type NodeError, createRefusal, toNodeError } from '../core/errors';
import { shorten } from '../core/text';
import { quoteField } from '../fields/field';

/** The bytes of a binary field, an attachment, a text or a file. */
export interface ByteSource {
	readonly fileName?: string;
	readonly mimeType?: string;
	/** In bytes. */
	readonly size: number;
	/** Returns the bytes from the first one on, each time it is called. */
	open(): Promise<AsyncIterable<Buffer>>;
}

export const createMemorySource = (
	data: Buffer,
	metadata: Pick<ByteSource, 'fileName' | 'mimeType'> = {},
): ByteSource => ({
	...metadata,
	size: data.length,
	open: () => Promise.resolve(Readable.from([data])),
});

/**
 * Decodes base64 or base64url text (RFC 4648), with or without padding. White space may stand only
 * where a line begins or ends. The text must be exactly what an encoder writes, which rules out
 * most plain text that happens to use the same characters.
 * @returns undefined for any other text
 */
export function decodeBase64(text: string): Buffer | undefined {
	const lines = text.split('\n').map((line) => line.trim());
	const characters = lines.join('');
	if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/.test(characters)) return undefined;
	const digits = characters.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_');
	const isComplete = characters.length === digits.length || characters.length % 4 === 0;
	const bytes = Buffer.from(characters, 'base64');
	return isComplete && bytes.toString('base64url') === digits ? bytes : undefined;
}

/** How many bytes are read and hashed at a time. More would block the event loop for longer. */
const pieceBytes = 1024 * 1024;

/**
 * Returns a source for the bytes of a binary field.
 * @throws NodeError 400 if n8n has not stored them
 */
export async function getBinarySource(
	{ helpers }: IExecuteFunctions,
	itemIndex: number,
	field: string,
): Promise<ByteSource> {
	const binary = helpers.assertBinaryData(itemIndex, field);
	const { fileName, mimeType, id } = binary;
	if (id === undefined) {
		const data = await helpers.getBinaryDataBuffer(itemIndex, binary);
		return createMemorySource(data, { fileName, mimeType });
	}
	const { fileSize } = await helpers.getBinaryMetadata(id).catch((error: unknown) => {
		throw createRefusal(
			`The binary field '${field}' is not in n8n's storage`,
			`If n8n runs as several processes (queue mode), all of them must use the same storage for binary data: one shared folder, or S3. n8n says: ${toNodeError(error).message}`,
		);
	});
	const open = () => helpers.getBinaryStream(id, pieceBytes);
	return { fileName, mimeType, size: fileSize, open };
}

/**
 * Returns the names of the binary fields to use. In `names`, * means all.
 * @throws NodeError 400 if one is missing, or no file is wanted
 */
export function findBinaryFields(
	context: IExecuteFunctions,
	itemIndex: number,
	names: readonly string[],
	formField: string,
	isWanted: (fileName: string) => boolean = () => true,
): string[] {
	const binary = context.getInputData()[itemIndex]?.binary ?? {};
	const fields = new Set<string>();
	for (const name of names) {
		if (name === '*') for (const field of Object.keys(binary)) fields.add(field);
		else if (Object.hasOwn(binary, name)) fields.add(name);
		else throw createFieldRefusal(`The item has no binary field '${name}'`, binary, formField);
	}
	const wantedFields = [...fields].filter((field) => isWanted(getFileName(binary, field)));
	if (wantedFields.length === 0 && names.length > 0)
		throw createFieldRefusal('The item has no file to use', binary, formField);
	return wantedFields;
}

/** Returns the name of a binary field's file. A file without a name gets that of its field. */
function getFileName(binary: IBinaryKeyData, field: string): string {
	const { fileName, fileExtension } = binary[field] ?? {};
	return fileName || (fileExtension ? `${field}.${fileExtension}` : field);
}

function createFieldRefusal(message: string, binary: IBinaryKeyData, formField: string): NodeError {
	const files = Object.entries(binary).map(
		([field, { fileName }]) => `'${field}' (${shorten(fileName ?? 'no name')})`,
	);
	const advice =
		files.length === 0
			? 'It has no binary data. A previous node must provide the file, such as a form trigger, HTTP Request or Read/Write Files from Disk. For the attachments of an email, turn on Download Attachments in List, Search or Read.'
			: `Its binary fields are: ${files.join(', ')}. Enter one of them in ${quoteField(formField)}, or * for all. ${quoteField('onlyFiles')} must allow the name of the file.`;
	return createRefusal(message, advice);
}

/** Returns a source for a file on n8n's machine. @throws NodeError 400 if n8n refuses it */
export async function getFileSource(
	{ helpers }: IExecuteFunctions,
	filePath: string,
): Promise<ByteSource> {
	const openOrRefuse = async () =>
		await openFile(helpers, filePath).catch((error: unknown) => {
			const { message } = toNodeError(error);
			throw createRefusal(`The file ${filePath} cannot be read`, message);
		});
	// Opens the file to learn its size. An unreadable file is then refused before the upload
	// begins.
	const { stream, size } = await openOrRefuse();
	stream.destroy();
	const open = async () => (await openOrRefuse()).stream;
	return { fileName: path.basename(filePath), size, open };
}

type Helpers = IExecuteFunctions['helpers'];

/** Opens a file that n8n allows. */
async function openFile(helpers: Helpers, filePath: string) {
	const resolvedPath = await resolveAllowedPath(helpers, filePath);
	const stats = await stat(resolvedPath);
	// A named pipe would block one of the few threads with which all of n8n reads files, until
	// something writes to the pipe.
	if (!stats.isFile())
		throw createRefusal('It is not a file. Enter the path of a file, not of a folder.');
	return { stream: await helpers.createReadStream(resolvedPath), size: stats.size };
}

/**
 * Resolves a path as n8n does. The error for a path that n8n does not allow must not reveal whether
 * the file exists.
 */
async function resolveAllowedPath(helpers: Helpers, filePath: string) {
	type ResolvedPath = Awaited<ReturnType<Helpers['resolvePath']>>;
	const refuseBlockedPath = (absolutePath: string) => {
		// Older versions of n8n check the path only when the file is opened.
		if (typeof helpers.isFilePathBlocked !== 'function') return;
		if (helpers.isFilePathBlocked(absolutePath as ResolvedPath))
			throw createRefusal("n8n's file access rules do not allow this path.");
	};
	// `resolvePath` throws if even the folder does not exist, so the unresolved path is checked.
	const resolvedPath = await helpers.resolvePath(filePath).catch((error: unknown) => {
		refuseBlockedPath(path.resolve(filePath));
		throw toNodeError(error);
	});
	refuseBlockedPath(resolvedPath);
	return resolvedPath;
}

/**
 * How many bytes of an upload are sent at a time. Drive requires multiples of 256 KiB. Google's own
 * clients use 8 MiB.
 */
export const chunkBytes = 8 * 1024 * 1024;

/**
 * Puts bytes into chunks of `chunkSize`, and hashes them. The last chunk is shorter, and may be
 * empty. A chunk is valid until the next one is requested, because all have the same memory: for
 * each gigabyte of new memory, V8 would search n8n's whole heap some dozens of times.
 */
export async function* readChunks(
	bytes: AsyncIterable<Buffer>,
	chunkSize: number,
	hash: Hash,
): AsyncGenerator<Buffer> {
	const chunk = Buffer.allocUnsafeSlow(chunkSize);
	let length = 0;
	for await (const piece of readPieces(bytes))
		for (let unread = piece; unread.length > 0;) {
			const part = unread.subarray(0, chunkSize - length);
			hash.update(part);
			chunk.set(part, length);
			length += part.length;
			unread = unread.subarray(part.length);
			if (length < chunkSize) continue;
			yield chunk;
			length = 0;
		}
	yield chunk.subarray(0, length);
}

/**
 * Reads bytes in small pieces, because a piece of a stream may be the whole file. Without a pause,
 * n8n would do nothing else while it is hashed.
 */
async function* readPieces(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	for await (const piece of readStream(bytes))
		for (let start = 0; start < piece.length; start += pieceBytes) {
			if (start > 0) await yieldToEventLoop();
			yield piece.subarray(start, start + pieceBytes);
		}
}

const readInto = promisify(read);

/** Reads a file into one piece of memory, and leaves other streams as they are. */
async function* readStream(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	// A stream that was already destroyed gives its error.
	if (!(bytes instanceof ReadStream) || bytes.destroyed) {
		yield* bytes;
		return;
	}
	try {
		if (bytes.pending) await once(bytes, 'open');
		const { fd: descriptor } = bytes as unknown as { fd: number };
		const piece = Buffer.allocUnsafeSlow(pieceBytes);
		for (;;) {
			const { bytesRead } = await readInto(descriptor, piece, 0, pieceBytes, null);
			if (bytesRead === 0) return;
			yield piece.subarray(0, bytesRead);
		}
	} finally {
		bytes.destroy();
	}
}

/** Computes the MD5 in the form of Drive's `md5Checksum`: lower-case hex. */
export async function computeMd5(source: ByteSource): Promise<string> {
	const hash = createHash('md5');
	for await (const piece of readPieces(await source.open())) hash.update(piece);
	return hash.digest('hex');
}
