import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { NodeError, refusal, toNodeError } from '../core/errors';

/** The bytes of a source, each piece of which comes in time, or the stream fails: storage that hangs must not hold an item up forever. */
export class TimedStream extends Readable {
	readonly source: Readable;
	readonly #limit: ReadLimit;
	#pieces: AsyncIterator<Buffer> | undefined;

	constructor(source: Readable, limit: ReadLimit) {
		super();
		this.source = source;
		this.#limit = limit;
	}

	override _read(): void {
		this.#pieces ??= (this.source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
		this.within(this.#pieces.next()).then(
			({ value, done }) => this.push(done === true ? null : value),
			(error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
		);
	}

	override _destroy(error: Error | null, done: (error: Error | null) => void): void {
		this.source.destroy();
		done(error);
	}

	/** @throws NodeError 504 when the work takes too long */
	async within<T>(work: Promise<T>): Promise<T> {
		return await inTime(work, this.#limit);
	}
}

interface ReadLimit {
	readonly milliseconds: number;
	/** As in "… could not be read". */
	readonly what: string;
}

/** @throws NodeError 504 when the work takes too long; what it gives later is dropped */
export async function inTime<T>(work: Promise<T>, { milliseconds, what }: ReadLimit): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_resolve, reject) => {
		timer = setTimeout(() => {
			reject(tooSlow(what, milliseconds));
		}, milliseconds);
	});
	try {
		return await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}

function tooSlow(what: string, milliseconds: number): NodeError {
	return new NodeError({
		code: 504,
		message: `${what} could not be read within ${milliseconds / 1000} seconds`,
		description:
			"The storage does not respond. If it is only slow, raise 'Timeout (Seconds)' in the options.",
	});
}

/** Bytes of an input: a binary field, base64 text or a file. */
export interface Source {
	readonly fileName?: string;
	readonly mimeType?: string;
	/** Bytes. */
	readonly size: number;
	/** Opens the bytes again at each call. */
	open(): Promise<Readable>;
}

/**
 * Bytes of base64 or base64url text (RFC 4648), with its padding or without. White space may stand at the ends of lines only, and the
 * text must be what an encoder writes: plain text that happens to use the same letters is mostly told by that.
 * @returns undefined for any other text
 */
export function bytesOfBase64(text: string): Buffer | undefined {
	const digits = text
		.split('\n')
		.map((line) => line.trim())
		.join('');
	if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/.test(digits)) return undefined;
	const bytes = Buffer.from(digits, 'base64');
	const written = bytes.toString(/[_-]/.test(digits) ? 'base64url' : 'base64');
	const bare = written.replace(/={1,2}$/, '');
	return digits === bare || digits === bare.padEnd(Math.ceil(bare.length / 4) * 4, '=') ? bytes : undefined;
}

/** Bytes per piece, where n8n's storage honors it. */
const pieceBytes = 1024 * 1024;

/**
 * @param milliseconds that opening it, and each read of it, may take
 * @throws NodeError 400 that names the missing field and those that exist
 */
export async function binarySource(
	context: IExecuteFunctions,
	itemIndex: number,
	field: string,
	{ existing, milliseconds }: { readonly existing: readonly string[]; readonly milliseconds: number },
): Promise<Source> {
	const { helpers } = context;
	const binary = binaryOf(context, itemIndex, field, existing);
	const { fileName, mimeType, id } = binary;
	const limit = { milliseconds, what: `The binary field '${field}'` };
	if (id === undefined) {
		const data = await inTime(helpers.getBinaryDataBuffer(itemIndex, binary), limit);
		return { fileName, mimeType, size: data.length, open: () => Promise.resolve(streamOf(data)) };
	}
	const { fileSize } = await inTime(helpers.getBinaryMetadata(id), limit);
	const open = async () =>
		new TimedStream(await inTime(helpers.getBinaryStream(id, pieceBytes), limit), limit);
	return { fileName, mimeType, size: fileSize, open };
}

/** An empty buffer as a chunk would end the stream as an error. */
function streamOf(data: Buffer): Readable {
	return Readable.from(data.length > 0 ? [data] : []);
}

function binaryOf(
	context: IExecuteFunctions,
	itemIndex: number,
	field: string,
	existing: readonly string[],
): IBinaryData {
	try {
		return context.helpers.assertBinaryData(itemIndex, field);
	} catch {
		// n8n's message does not say which fields there are.
		const fields = existing.map((name) => `'${name}'`).join(', ');
		throw refusal(
			`The item has no binary field '${field}'`,
			existing.length > 0
				? `Its binary fields are: ${fields}.`
				: 'It has no binary data. A previous node must provide the file, such as a form trigger, HTTP Request or Read/Write Files from Disk.',
		);
	}
}

/**
 * A file on the machine that runs n8n; n8n decides whether it may be read.
 * @param milliseconds that opening it, and each read of it, may take
 * @throws NodeError 400
 */
export async function fileSource(
	context: IExecuteFunctions,
	file: string,
	milliseconds: number,
): Promise<Source> {
	const { helpers } = context;
	const limit = { milliseconds, what: `The file ${file}` };
	const opened = async () => {
		try {
			const resolved = await inTime(allowedPath(helpers, file), limit);
			const facts = await inTime(stat(resolved), limit);
			// Opening a pipe waits for its writer, in one of the few threads that all of n8n reads files with.
			if (!facts.isFile()) throw refusal('It is not a file.');
			const stream = await inTime(helpers.createReadStream(resolved), limit);
			return { stream: new TimedStream(stream, limit), size: facts.size };
		} catch (error) {
			throw unreadable(file, toNodeError(error));
		}
	};
	const { stream, size } = await opened();
	stream.destroy();
	return { fileName: path.basename(file), size, open: async () => (await opened()).stream };
}

function unreadable(file: string, failure: NodeError): NodeError {
	return failure.code === 504 ? failure : refusal(`The file ${file} cannot be read`, failure.message);
}

/**
 * The path as n8n's helper reads it, once it is one that n8n allows: the answer for one that is off limits must not tell whether
 * anything is there.
 */
async function allowedPath(helpers: IExecuteFunctions['helpers'], file: string) {
	type Resolved = Awaited<ReturnType<typeof helpers.resolvePath>>;
	// Older versions of n8n tell it only when the file is opened.
	const isBlocked = (resolved: Resolved) =>
		typeof helpers.isFilePathBlocked === 'function' && helpers.isFilePathBlocked(resolved);
	const notAllowed = refusal('n8n does not allow access to it.');
	try {
		const resolved = await helpers.resolvePath(file);
		if (isBlocked(resolved)) throw notAllowed;
		return resolved;
	} catch (error) {
		// Where even the folder is not there, n8n gives no path to ask about.
		if (isBlocked(path.resolve(file) as Resolved)) throw notAllowed;
		throw toNodeError(error);
	}
}
