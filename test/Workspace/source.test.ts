import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { inTime, TimedStream } from '../../nodes/Workspace/source';
import { failing } from './failure';

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
