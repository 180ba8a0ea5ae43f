import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { toNodeError } from '../../core/nodeErrors';
import { type NodeError, refusal } from '../../core/errors';

import type { Source } from '../operation';
import { inTime, TimedStream } from '../source';

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
