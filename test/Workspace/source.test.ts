import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { Sanitizer } from '../../nodes/core/sanitizer';
import { Naming } from '../../nodes/fields/field';
import { RunItem, RunNotes } from '../../nodes/Workspace/runner/job';
import { inTime, TimedStream } from '../../nodes/Workspace/source';
import { failing } from './failure';
import { contextOf } from './runNode';

const limit = { milliseconds: 20, what: "The binary field 'data'" };
const generous = { ...limit, milliseconds: 60_000 };

test('what comes in time comes as it is', async () => {
	const pieces = [Buffer.from('one '), Buffer.from('two')];
	expect(String(await buffer(new TimedStream(Readable.from(pieces), generous)))).toBe('one two');
	expect(await inTime(Promise.resolve(1), generous)).toBe(1);
});

test('a source that hangs after its first piece fails the reading, and is ended', async () => {
	const source = new Readable({ read() {} });
	source.push('first');
	const failure = await failing(buffer(new TimedStream(source, limit)));
	expect(failure).toMatchObject({
		code: 504,
		message: "The binary field 'data' could not be read within 0.02 seconds",
	});
	expect(source.destroyed).toBe(true);
});

test('an opening that hangs fails', async () => {
	expect(await failing(inTime(new Promise(() => {}), limit))).toMatchObject({ code: 504 });
});

test('a source that fails passes that on', async () => {
	const source = new Readable({
		read() {
			this.destroy(new Error('disk'));
		},
	});
	await expect(buffer(new TimedStream(source, generous))).rejects.toThrow('disk');
});

describe('storage that hangs', () => {
	const hanging = () => new Promise<never>(() => {});
	const sourceWith = (binary: { id?: string }, helpers: object) => {
		const items = [{ json: {}, binary: { invoice: { data: '', mimeType: 'text/plain', ...binary } } }];
		const context = contextOf({ url: 'http://127.0.0.1:9', parameters: {}, items });
		Object.assign(context.helpers, helpers);
		const limits = { maxTries: 1, maxRetryWaitSeconds: 0, timeoutSeconds: 0.02 };
		const notes = new RunNotes(new Sanitizer());
		return new RunItem(context, 0, { notes, naming: new Naming([], 'json'), limits }).binary('invoice');
	};
	const late = {
		code: 504,
		message: "The binary field 'invoice' could not be read within 0.02 seconds",
		description: expect.stringContaining('The storage does not respond') as string,
	};

	test.each([
		['in the item', {}, { getBinaryDataBuffer: hanging }],
		['whose size is asked for', { id: 'database:1' }, { getBinaryMetadata: hanging }],
	])('with a file %s: the field is named', async (_, binary, helpers) => {
		expect(await failing(sourceWith(binary, helpers))).toMatchObject(late);
	});

	test.each([
		['opening', hanging],
		['first piece', () => Promise.resolve(new Readable({ read() {} }))],
	])('at the %s: the field is named', async (_, getBinaryStream) => {
		const getBinaryMetadata = () => Promise.resolve({ fileSize: 5 });
		const source = await sourceWith({ id: 'database:1' }, { getBinaryMetadata, getBinaryStream });
		expect(source.size).toBe(5);
		expect(await failing(source.open().then(buffer))).toMatchObject(late);
	});
});
