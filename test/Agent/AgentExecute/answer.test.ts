import { contentOf } from '../../../nodes/Agent/AgentExecute/response';

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
