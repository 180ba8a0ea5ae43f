import { Readable } from 'node:stream';

import { maxAnswerBytes, readBody, readErrorBody } from '../../nodes/http/body';

const breaking = () =>
	Readable.from(
		(function* () {
			yield Buffer.from('{"a":');
			throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
		})(),
	);

const endless = (count: () => void) =>
	Readable.from(
		(function* () {
			for (;;) {
				count();
				yield Buffer.alloc(1024 * 1024);
			}
		})(),
	);

test('a body that announces more than the limit is not read', async () => {
	const stream = Readable.from([Buffer.from('x')]);
	await expect(readBody(stream, { announcedBytes: maxAnswerBytes + 1 })).rejects.toMatchObject({
		reason: 'tooLarge',
	});
	expect(stream.destroyed).toBe(true);
});

test('a body that grows beyond the limit is left there', async () => {
	let made = 0;
	await expect(readBody(endless(() => made++))).rejects.toMatchObject({ reason: 'tooLarge' });
	expect(made).toBeLessThan(70);
});

test('a body that breaks off says so, with the code alone', async () => {
	await expect(readBody(breaking())).rejects.toMatchObject({ reason: 'cutShort', code: 'ECONNRESET' });
});

test('a signal ends the reading', async () => {
	const stop = new AbortController();
	const silent = new Readable({ read() {} });
	const reading = readBody(silent, { signal: stop.signal });
	stop.abort();
	await expect(reading).rejects.toMatchObject({ reason: 'cutShort' });
	expect(silent.destroyed).toBe(true);
});

test('of an error’s body that is cut short, or too long, there is what came', async () => {
	expect((await readErrorBody(breaking())).toString()).toBe('{"a":');
	let made = 0;
	expect((await readErrorBody(endless(() => made++))).length).toBeLessThanOrEqual(1024 * 1024);
	expect(made).toBeLessThan(5);
});
