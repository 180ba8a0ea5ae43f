import { redactorOf } from '../../../nodes/Agent/session/credentials';
import { contentOf, excerpt } from '../../../nodes/Agent/AgentExecute/response';
import { expectLinear } from '../../growth';

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

test.each([
	['filename="a b.pdf"', 'a b.pdf'],
	['filename=a.pdf; size=3', 'a.pdf'],
	['filename="a \\"b\\"; c.pdf"', 'a "b"; c.pdf'],
	['filename="rates.txt"; filename*=UTF-8\'\'%e2%82%ac%20rates.txt', '€ rates.txt'],
	["filename*=iso-8859-1'en'%A3.txt", '£.txt'],
	['inline', undefined],
])('the name of the file in %j is %j', (disposition, fileName) => {
	const headers = { 'content-type': 'application/pdf', 'content-disposition': disposition };
	expect(contentOf({ statusCode: 200, headers, body: Buffer.from([1]) })).toMatchObject({ fileName });
});

test('an answer of ordinary length that repeats the secrets of the call has them taken out, its file name, too', () => {
	const redacted = (headers: Record<string, string>, body: string | Buffer) =>
		contentOf({ statusCode: 200, headers, body: Buffer.from(body) }, ['canary-key', '0']);
	const shown = [
		redacted({ 'content-type': 'application/json' }, '{"echo":{"x-api-key":"canary-key"},"n":1}'),
		redacted({}, 'your key\nis canary-key'),
		redacted({ 'content-type': 'image/png', 'content-disposition': 'filename=canary-key.png' }, 'x'),
	];
	expect(JSON.stringify(shown)).not.toContain('canary');
	expect(shown[0]).toMatchObject({ response: { n: 1 } });
});

const said = (body: Buffer | string, type = 'text/html') =>
	excerpt(
		{
			statusCode: 500,
			headers: { 'content-type': type },
			body: typeof body === 'string' ? Buffer.from(body) : body,
		},
		{ redact: redactorOf(['canary-key']) },
	);

test.each([
	['<h1>Bad\n\n Gateway</h1><hr>nginx', 'Bad Gateway nginx'],
	['<html><style>h1 { color: red }</style ><SCRIPT src="x">if (a < b) c > d</Script>Down</html>', 'Down'],
	['before<script>never ends', 'before'],
	['before<style>never ends</style', 'before'],
	['<styled>text', 'text'],
	['1 < 2', '1 < 2'],
	['', ''],
])('of the page %j is %j', (page, text) => {
	expect(said(page)).toBe(text);
});

test.each([
	['{"message":"No such step"}', 'No such step'],
	['{"error":"No such step"}', 'No such step'],
	['{"error":{"message":"No such\\n step"}}', 'No such step'],
	['{"code": 7}', '{"code": 7}'],
	['[]', '[]'],
	['null', ''],
	['"words"', 'words'],
])('of the JSON %s is %j', (json, text) => {
	expect(said(json, 'application/json')).toBe(text);
});

test('is cut, and a secret that the cut goes through is not shown', () => {
	expect(said('x'.repeat(400))).toBe(`${'x'.repeat(300)}…`);
	expect(said(`${'<i>'.repeat(21_842)}canary-key-is-cut`)).not.toContain('canary');
	expect(said(`key canary-key and ${'x'.repeat(400)}`)).toMatch(/^key ••• and x+…$/);
});

describe('of what a stranger made up', () => {
	test.each([
		['a page that opens tags and closes none', 'text/html', '<'.repeat(60_000)],
		['a trace text', 'text/plain', '    at Object.<anonymous\n'.repeat(16_000)],
		['styles without an end', 'text/html', '<style>'.repeat(500_000)],
		['ends without an end', 'text/html', `<style>${'</style'.repeat(500_000)}`],
		['JSON that opens and never closes', 'application/json', '['.repeat(900_000)],
		['deep JSON', 'application/json', '['.repeat(400_000) + ']'.repeat(400_000)],
		['errors in errors', 'application/json', '{"error":'.repeat(90_000) + '1' + '}'.repeat(90_000)],
		['many small objects', 'application/json', `[${'{},'.repeat(5_000_000)}{}]`],
		['bytes that are no text', 'text/html', '\u00ff'.repeat(100_000)],
	])('%s', (_what, type, body) => {
		expect(said(Buffer.from(body, 'latin1'), type).length).toBeLessThanOrEqual(301);
	});

	test.each(['<', '<style>', '<style></style', '    at Object.<anonymous\n', '</', ' ', 'api_key" ', '//'])(
		'grows no faster than %j does',
		(unit) => {
			expectLinear(
				unit,
				(text) => Buffer.from(text),
				(body) => said(body),
			);
		},
	);
});
