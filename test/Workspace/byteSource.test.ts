import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import type { IBinaryData } from 'n8n-workflow';

import { Sanitizer } from '../../nodes/core/sanitizer';
import { FieldNaming } from '../../nodes/fields/field';
import { InputItem, RunState } from '../../nodes/Workspace/runner/job';
import { computeMd5, createMemorySource, readChunks } from '../../nodes/Workspace/byteSource';
import { createNodeContext } from './runNode';

/** An item with a binary field. */
function itemWith(binary: Partial<IBinaryData>, helpers: object = {}) {
	const items = [
		{ json: {}, binary: { invoice: { data: '', mimeType: 'text/plain', ...binary } } },
	];
	const context = createNodeContext({ url: 'http://127.0.0.1:9', parameters: {}, items });
	Object.assign(context.helpers, helpers);
	const naming = new FieldNaming([], { mode: 'json' });
	return new InputItem(context, 0, new RunState(new Sanitizer()), naming);
}

test('a file that is not in the storage of this process names what processes must share', async () => {
	const getBinaryMetadata = () => Promise.reject(new Error('File not found: invoice'));
	const item = itemWith({ id: 'filesystem-v2:1' }, { getBinaryMetadata });
	await expect(item.getBinary('invoice')).rejects.toMatchObject({
		code: 400,
		message: "The binary field 'invoice' is not in n8n's storage",
		description: expect.stringMatching(/same storage.*File not found: invoice$/) as string,
	});
});

test.each(['', 'a', 'ab'])('the content %j of an item is read as it is', async (text) => {
	const data = Buffer.from(text);
	const source = await itemWith(
		{},
		{ getBinaryDataBuffer: () => Promise.resolve(data) },
	).getBinary('invoice');
	expect(source.size).toBe(text.length);
	expect(String(await buffer(await source.open()))).toBe(text);
});

test('a file that cannot be opened is refused before its upload begins', async () => {
	const item = itemWith(
		{},
		{
			resolvePath: (given: string) => Promise.resolve(given),
			isFilePathBlocked: () => false,
			createReadStream: () => Promise.reject(new Error('EACCES: permission denied')),
		},
	);
	await expect(item.getFile(__filename)).rejects.toMatchObject({
		code: 400,
		message: `The file ${__filename} cannot be read`,
		description: 'EACCES: permission denied',
	});
});

describe('chunks', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'chunks-'));
	const file = path.join(folder, 'ten');
	writeFileSync(file, '0123456789');
	afterAll(() => {
		rmSync(folder, { recursive: true });
	});

	async function cut(stream: Readable, size: number) {
		const chunks: string[] = [];
		const hash = createHash('md5');
		for await (const chunk of readChunks(stream, size, hash)) chunks.push(String(chunk));
		expect(hash.digest('hex')).toBe(createHash('md5').update(chunks.join('')).digest('hex'));
		expect(stream.destroyed).toBe(true);
		return chunks;
	}

	test('a file that cannot be opened gives its error, whenever it is read', async () => {
		const missing = createReadStream(`${file}.missing`);
		await expect(cut(missing, 3)).rejects.toThrow('ENOENT');
		await expect(cut(missing, 3)).rejects.toThrow();
	});

	test('other work goes on while a piece with the whole file is hashed', async () => {
		const source = createMemorySource(Buffer.alloc(5 * 1024 * 1024));
		const read = async () => {
			for await (const chunk of readChunks(await source.open(), 6e6, createHash('md5')))
				expect(chunk).toHaveLength(source.size);
		};
		expect(await countTurns(read())).toBeGreaterThan(3);
		expect(await countTurns(computeMd5(source))).toBeGreaterThan(3);
	});

	test.each([
		[3, ['012', '345', '678', '9']],
		[5, ['01234', '56789', '']],
		[20, ['0123456789']],
	])('of %d bytes', async (size, chunks) => {
		expect(await cut(createReadStream(file), size)).toEqual(chunks);
		const openStream = createReadStream(file);
		await once(openStream, 'open');
		expect(await cut(openStream, size)).toEqual(chunks);
		const pieces = ['', '0', '12345678', '9'].map((piece) => Buffer.from(piece));
		expect(await cut(Readable.from(pieces), size)).toEqual(chunks);
	});
});

/** Counts how often other work gets its turn meanwhile. */
async function countTurns(work: Promise<unknown>): Promise<number> {
	let turns = 0;
	const end = work.then(() => 'end');
	while ((await Promise.race([end, turn('turn')])) === 'turn') turns++;
	return turns;
}
