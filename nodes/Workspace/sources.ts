import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { refusal } from '../items/failure';

import type { Source } from './operation';

/** Bytes per piece, where n8n's storage honours it. */
const pieceBytes = 1024 * 1024;

/** @throws Failure 400 that names the missing field and those that exist */
export async function binarySource(
	context: IExecuteFunctions,
	itemIndex: number,
	field: string,
	existing: readonly string[],
): Promise<Source> {
	const binary = binaryOf(context, itemIndex, field, existing);
	const { fileName, mimeType, id } = binary;
	if (id === undefined) {
		const data = await context.helpers.getBinaryDataBuffer(itemIndex, binary);
		return { fileName, mimeType, size: data.length, open: () => Promise.resolve(streamOf(data)) };
	}
	const { fileSize } = await context.helpers.getBinaryMetadata(id);
	return { fileName, mimeType, size: fileSize, open: () => context.helpers.getBinaryStream(id, pieceBytes) };
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
				: 'It has no binary data at all. A node before this one must bring the file, such as a form, HTTP Request or Read/Write Files from Disk.',
		);
	}
}

/** A file on the machine that runs n8n; n8n decides whether it may be read. @throws Failure 400 */
export async function fileSource(context: IExecuteFunctions, file: string): Promise<Source> {
	const { helpers } = context;
	const refused = (reason: string) => refusal(`The file ${file} cannot be read`, reason);
	const open = async () => {
		try {
			return await helpers.createReadStream(await helpers.resolvePath(file));
		} catch (error) {
			throw refused(error instanceof Error ? error.message : 'It could not be opened.');
		}
	};
	// Opening first: only n8n's helper knows which files are off limits, and even a size would tell that one exists.
	(await open()).destroy();
	const facts = await stat(await helpers.resolvePath(file));
	if (!facts.isFile()) throw refused('It is not a file.');
	return { fileName: path.basename(file), size: facts.size, open };
}
