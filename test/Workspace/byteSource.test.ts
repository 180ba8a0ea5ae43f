import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { IBinaryData } from 'n8n-workflow';

import { Sanitizer } from '../../nodes/core/sanitizer';
import { FieldNaming } from '../../nodes/fields/field';
import { InputItem, RunState } from '../../nodes/Workspace/runner/job';
import { awaitInTime, readChunks, readInTime } from '../../nodes/Workspace/byteSource';
import { catchFailure } from './catchFailure';
import { createNodeContext } from './runNode';

const limit = { seconds: 0.02, sourceName: "The binary field 'data'" };
const generous = { ...limit, seconds: 60 };

test('what comes in time comes as it is', async () => {
	const pieces = [Buffer.from('one '), Buffer.from('two')];
	expect(String(await buffer(readInTime(Readable.from(pieces), generous)))).toBe('one two');
	expect(await awaitInTime(Promise.resolve(1), generous)).toBe(1);
});

test('a source that hangs after its first piece fails the reading, and is ended', async () => {
	const source = new Readable({ read() {} });
	source.push('first');
	const failure = await catchFailure(buffer(readInTime(source, limit)));
	expect(failure).toMatchObject({
		code: 504,
		message: "The binary field 'data' could not be read within 0.02 seconds",
	});
	expect(source.destroyed).toBe(true);
});

test('an opening that hangs fails', async () => {
	expect(await catchFailure(awaitInTime(new Promise(() => {}), limit))).toMatchObject({
		code: 504,
	});
});

test('a source that fails passes that on', async () => {
	const source = new Readable({
		read() {
			this.destroy(new Error('disk'));
		},
	});
	await expect(buffer(readInTime(source, generous))).rejects.toThrow('disk');
});

test('no timer is left of what came in time', async () => {
	const countTimers = () =>
		process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
	const before = countTimers();
	await awaitInTime(Promise.resolve(1), generous);
	expect(countTimers()).toBe(before);
});

/** An item with a binary field, in a node whose requests may take 0.02 seconds. */
function itemWith(binary: Partial<IBinaryData>, helpers: object = {}) {
	const items = [
		{ json: {}, binary: { invoice: { data: '', mimeType: 'text/plain', ...binary } } },
	];
	const context = createNodeContext({ url: 'http://127.0.0.1:9', parameters: {}, items });
	Object.assign(context.helpers, helpers);
	const limits = { maxRetryWaitSeconds: 0, timeoutSeconds: 0.02 };
	const naming = new FieldNaming([], 'json');
	return new InputItem(context, 0, new RunState(new Sanitizer()), {
		naming,
		limits,
	});
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

describe('storage that hangs', () => {
	const hanging = () => new Promise<never>(() => {});
	const sourceWith = (binary: { id?: string }, helpers: object) =>
		itemWith(binary, helpers).getBinary('invoice');
	const late = {
		code: 504,
		message: "The binary field 'invoice' could not be read within 0.02 seconds",
		description: expect.stringContaining('The storage does not respond') as string,
	};

	test.each([
		['in the item', {}, { getBinaryDataBuffer: hanging }],
		['whose size is asked for', { id: 'database:1' }, { getBinaryMetadata: hanging }],
	])('with a file %s: the field is named', async (_, binary, helpers) => {
		expect(await catchFailure(sourceWith(binary, helpers))).toMatchObject(late);
	});

	test.each([
		['opening', hanging],
		['first piece', () => Promise.resolve(new Readable({ read() {} }))],
	])('at the %s: the field is named', async (_, getBinaryStream) => {
		const getBinaryMetadata = () => Promise.resolve({ fileSize: 5 });
		const source = await sourceWith(
			{ id: 'database:1' },
			{ getBinaryMetadata, getBinaryStream },
		);
		expect(source.size).toBe(5);
		expect(await catchFailure(source.open().then(buffer))).toMatchObject(late);
	});

	test('at the opening of a file for its first chunk: the field is named', async () => {
		const none = jest.fn();
		const stream = createReadStream('a', { fs: { open: none, read: none, close: none } });
		const getBinaryMetadata = () => Promise.resolve({ fileSize: 5 });
		const getBinaryStream = () => Promise.resolve(stream);
		const source = await sourceWith(
			{ id: 'filesystem:1' },
			{ getBinaryMetadata, getBinaryStream },
		);
		const opened = await source.open();
		expect(await catchFailure(readChunks(opened, 6, createHash('md5')).next())).toMatchObject(
			late,
		);
		expect([stream.destroyed, none.mock.calls.length]).toEqual([true, 1]);
	});

	test('with a file on the machine: the file is named', async () => {
		expect(
			await catchFailure(itemWith({}, { resolvePath: hanging }).getFile('/a/b')),
		).toMatchObject({
			code: 504,
			message: 'The file /a/b could not be read within 0.02 seconds',
		});
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

	test.each([
		[3, ['012', '345', '678', '9']],
		[5, ['01234', '56789']],
		[20, ['0123456789']],
	])('of %d bytes', async (size, chunks) => {
		expect(await cut(createReadStream(file), size)).toEqual(chunks);
		const pieces = ['', '0', '12345678', '9'].map((piece) => Buffer.from(piece));
		expect(await cut(Readable.from(pieces), size)).toEqual(chunks);
	});
});
