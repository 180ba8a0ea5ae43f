import { Readable } from 'node:stream';

import { contentOf, maxAnswerBytes, readBody } from '../../../nodes/Agent/AgentExecute/answer';

const content = (type: string | undefined, body: Buffer | string) =>
	contentOf({
		statusCode: 200,
		headers: type === undefined ? {} : { 'content-type': type },
		body: Buffer.from(body),
	});

test.each([
	['application/json', '{"a":1}', { a: 1 }],
	['application/json; charset=utf-8', '"x"', 'x'],
	['application/problem+json', '[1]', [1]],
	['application/json', 'not json', 'not json'],
	['text/html', '<b>hi</b>', '<b>hi</b>'],
	['text/plain', '{"a":1}', '{"a":1}'],
	[undefined, '{"a":1}', { a: 1 }],
	[undefined, 'plain', 'plain'],
	['application/json', '', null],
])('%s %j is the response %j', (type, body, response) => {
	expect(content(type, body)).toEqual({ response });
});

test('a text is read in its own character set', () => {
	expect(content('text/plain; charset=iso-8859-1', Buffer.from([0xfc]))).toEqual({ response: 'ü' });
	expect(content('text/plain; charset=nonsense', 'plain')).toEqual({ response: 'plain' });
});

test('other media, and bytes that are no text, stay bytes', () => {
	const bytes = Buffer.from([0x89, 0x50, 0xff]);
	expect(content('image/png', bytes)).toEqual({ bytes, mimeType: 'image/png', fileName: undefined });
	expect(content(undefined, bytes)).toEqual({
		bytes,
		mimeType: 'application/octet-stream',
		fileName: undefined,
	});
	const headers = {
		'content-type': 'application/pdf',
		'content-disposition': 'attachment; filename="a b.pdf"',
	};
	expect(contentOf({ statusCode: 200, headers, body: bytes })).toMatchObject({ fileName: 'a b.pdf' });
});

test('a body that announces more than the limit is not read', async () => {
	const stream = Readable.from([Buffer.from('x')]);
	await expect(readBody(stream, { 'content-length': String(maxAnswerBytes + 1) })).rejects.toMatchObject({
		code: 502,
	});
	expect(stream.destroyed).toBe(true);
});

test('a body that grows beyond the limit is left there, and the limit is named', async () => {
	let made = 0;
	const endless = Readable.from(
		(function* () {
			for (;;) {
				made++;
				yield Buffer.alloc(1024 * 1024);
			}
		})(),
	);
	await expect(readBody(endless, {})).rejects.toMatchObject({
		code: 502,
		message: expect.stringContaining('64 MiB') as string,
	});
	expect(made).toBeLessThan(70);
});

test('a body that breaks off is a failure of its own', async () => {
	const broken = Readable.from(
		(function* () {
			yield Buffer.from('{"a":');
			throw new Error('aborted');
		})(),
	);
	await expect(readBody(broken, {})).rejects.toMatchObject({
		code: 502,
		status: 'UNAVAILABLE',
		ambiguous: true,
	});
});
