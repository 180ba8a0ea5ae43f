import type { IDataObject } from 'n8n-workflow';

import { AgentExecute } from '../../../nodes/Agent/AgentExecute/AgentExecute.node';
import { buildHints } from '../../../nodes/Agent/AgentExecute/hints';
import { tagExecution } from '../../../nodes/Agent/AgentExecute/output';
import {
	buildOutputText,
	describeFields,
	TurnText,
} from '../../../nodes/Agent/AgentExecute/messageTexts';
import {
	parseResponseContent,
	buildExcerpt,
	findJsonBytes,
} from '../../../nodes/Agent/AgentExecute/response';
import type { WaitResult } from '../../../nodes/Agent/AgentExecute/callAndWait';
import { buildSanitizeFunction } from '../../../nodes/core/sanitizer';
import type { SessionMessage } from '../../../nodes/Agent/session/messages';
import { type ContextOptions, createExecuteContext } from '../../createExecuteContext';
import { expectLinear } from '../../growth';

describe('response', () => {
	const content = (type: string | undefined, body: Buffer | string) =>
		parseResponseContent({
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
		[undefined, '\uFEFF{"a":1}', { a: 1 }],
		[undefined, 'plain', 'plain'],
		['application/json', '', null],
	])('%s %j is the response %j', (type, body, response) => {
		expect(content(type, body)).toEqual({ response });
	});

	test('a text is read in its own character set', () => {
		expect(content('text/plain; charset=iso-8859-1', Buffer.from([0xfc]))).toEqual({
			response: 'ü',
		});
		expect(content('text/plain; charset=nonsense', 'plain')).toEqual({ response: 'plain' });
	});

	test('other media, and bytes that are no text, stay bytes', () => {
		const bytes = Buffer.from([0x89, 0x50, 0xff]);
		expect(content('image/png', bytes)).toEqual({
			bytes,
			mimeType: 'image/png',
			fileName: undefined,
		});
		expect(content(undefined, bytes)).toEqual({
			bytes,
			mimeType: 'application/octet-stream',
			fileName: undefined,
		});
		const headers = {
			'content-type': 'application/pdf',
			'content-disposition': 'attachment; filename="a b.pdf"',
		};
		expect(parseResponseContent({ statusCode: 200, headers, body: bytes })).toMatchObject({
			fileName: 'a b.pdf',
		});
	});

	test.each([
		['filename="a b.pdf"', 'a b.pdf'],
		['filename=a.pdf; size=3', 'a.pdf'],
		['filename="a \\"b\\"; c.pdf"', 'a "b"; c.pdf'],
		['filename="rates.txt"; filename*=UTF-8\'\'%e2%82%ac%20rates.txt', '€ rates.txt'],
		["filename*=UTF-8'en'%C2%A3.txt", '£.txt'],
		["filename*=iso-8859-1'en'%A3.txt; filename=pound.txt", 'pound.txt'],
		['inline', undefined],
	])('the name of the file in %j is %j', (disposition, fileName) => {
		const headers = { 'content-type': 'application/pdf', 'content-disposition': disposition };
		expect(
			parseResponseContent({ statusCode: 200, headers, body: Buffer.from([1]) }),
		).toMatchObject({
			fileName,
		});
	});

	test('an answer of ordinary length that repeats the secrets of the call has them taken out, its file name, too', () => {
		const parseSanitized = (headers: Record<string, string>, body: string | Buffer) =>
			parseResponseContent({ statusCode: 200, headers, body: Buffer.from(body) }, [
				'canary-key',
				'0',
			]);
		const shown = [
			parseSanitized(
				{ 'content-type': 'application/json' },
				'{"echo":{"x-api-key":"canary-key"},"n":1}',
			),
			parseSanitized({}, 'your key\nis canary-key'),
			parseSanitized(
				{ 'content-type': 'image/png', 'content-disposition': 'filename=canary-key.png' },
				'x',
			),
		];
		expect(JSON.stringify(shown)).not.toContain('canary');
		expect(shown[0]).toMatchObject({ response: { n: 1 } });
	});

	test.each([
		['of 8 characters', 'canary-8', '', '•••'],
		['that is shorter, and may be a word', 'canary7', '', 'canary7'],
		['in a text of 65,536 characters', 'canary-8', ' '.repeat(65_528), '•••'],
		['in a longer one, which is no echo', 'canary-8', ' '.repeat(65_529), 'canary-8'],
	])('a secret %s', (_, secret, rest, shown) => {
		const body = Buffer.from(secret + rest);
		expect(parseResponseContent({ statusCode: 200, headers: {}, body }, [secret])).toEqual({
			response: shown + rest,
		});
	});

	test.each([
		['utf-8', '{"a":"ü"}'],
		['utf-16le', Buffer.from('{"a":"ü"}', 'utf16le')],
		[undefined, '{"a":"ü"}'],
	])('JSON in %s is given to the estimate of its cost in UTF-8', (charset, body) => {
		const headers =
			charset === undefined ? {} : { 'content-type': `application/json; charset=${charset}` };
		expect(
			findJsonBytes({ statusCode: 200, headers, body: Buffer.from(body) })?.toString(),
		).toBe('{"a":"ü"}');
	});

	test('a name of a file without a character, in whatever form, is none', () => {
		const named = (disposition: string) =>
			parseResponseContent({
				statusCode: 200,
				headers: { 'content-type': 'application/pdf', 'content-disposition': disposition },
				body: Buffer.from([1]),
			});
		expect(named("filename*=UTF-8''%; filename=a.pdf")).toMatchObject({ fileName: '%' });
		expect(named("filename*=nonsense'x'%e2%82%ac.txt")).toMatchObject({ fileName: undefined });
	});

	const said = (body: Buffer | string, type = 'text/html') =>
		buildExcerpt(
			{
				statusCode: 500,
				headers: { 'content-type': type },
				body: typeof body === 'string' ? Buffer.from(body) : body,
			},
			buildSanitizeFunction(['canary-key']),
		);

	test.each([
		['<h1>Bad\n\n Gateway</h1><hr>nginx', 'Bad Gateway nginx'],
		[
			'<html><style>h1 { color: red }</style ><SCRIPT src="x">if (a < b) c > d</Script>Down</html>',
			'Down',
		],
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
		[`${'{"error":'.repeat(4)}{"message":"Deep"}${'}'.repeat(4)}`, 'Deep'],
		['{"message":7,"error":null}', '{"message":7,"error":null}'],
		['{"code": 7}', '{"code": 7}'],
		['[]', '[]'],
		['null', ''],
		['"words"', 'words'],
	])('of the JSON %s is %j', (json, text) => {
		expect(said(json, 'application/json')).toBe(text);
	});

	test('is not looked for too deep in an error', () => {
		expect(
			said(`${'{"error":'.repeat(5)}{"message":"Deep"}${'}'.repeat(5)}`, 'application/json'),
		).toMatch(/^{"error":/);
	});

	test('is read as JSON up to 1 MiB', () => {
		const json = (length: number) => `{"message":"Words"${' '.repeat(length - 19)}}`;
		expect(said(json(1_048_576), 'application/json')).toBe('Words');
		expect(said(json(1_048_577), 'application/json')).toBe('{"message":"Words"');
	});

	test.each([
		['text/plain', (text: string) => text],
		['application/json', (text: string) => JSON.stringify({ message: text })],
	])('is looked for in the first 65,536 characters (%s)', (type, bodyOf) => {
		expect(said(bodyOf(`${' '.repeat(65_535)}xy`), type)).toBe('x');
		expect(said(bodyOf(`${' '.repeat(65_536)}xy`), type)).toBe('');
	});

	test('ten fields are named, each by 40 characters', () => {
		const fields = (count: number) => {
			const names = Array.from({ length: count }, (_, n) => [`f${n}`, 1]);
			return describeFields([{ message: Object.fromEntries(names) as unknown }]);
		};
		expect(fields(10)).toBe('f0, f1, f2, f3, f4, f5, f6, f7, f8, f9');
		const twice = Object.fromEntries(Array.from('abcdefghij', (name) => [name, 1]));
		expect(describeFields([{ message: twice }, { message: twice }])).toBe(
			'a, b, c, d, e, f, g, h, i, j',
		);
		expect(fields(11)).toBe('f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, …');
		const [whole, long] = ['x'.repeat(40), 'y'.repeat(41)];
		expect(
			describeFields([
				{ message: [1] },
				{ message: null },
				{ message: { [whole]: 1, [long]: 1 } },
			]),
		).toBe(`${whole}, ${'y'.repeat(40)}…`);
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
			[
				'errors in errors',
				'application/json',
				'{"error":'.repeat(90_000) + '1' + '}'.repeat(90_000),
			],
			['many small objects', 'application/json', `[${'{},'.repeat(5_000_000)}{}]`],
			['bytes that are no text', 'text/html', '\u00ff'.repeat(100_000)],
		])('%s', (_what, type, body) => {
			expect(said(Buffer.from(body, 'latin1'), type).length).toBeLessThanOrEqual(301);
		});

		test.each([
			'<',
			'<style>',
			'<style></style',
			'    at Object.<anonymous\n',
			'</',
			' ',
			'api_key" ',
			'//',
		])('grows no faster than %j does', (unit) => {
			expectLinear(
				unit,
				(text) => Buffer.from(text),
				(body) => said(body),
			);
		});
	});

	describe('the text of a turn', () => {
		const turn = (pieces: 'last' | 'joined', ...texts: string[]) => {
			const all = new TurnText(pieces);
			return [texts.map((text, n) => all.add(text, n === texts.length - 1)), all.text];
		};

		test.each<['last' | 'joined', string[], string[], string]>([
			['last', ['a', 'b'], ['a', '\n\nb'], 'a\n\nb'],
			['last', ['a', 'a'], ['a', '\n\na'], 'a\n\na'],
			['joined', ['a', 'b'], ['a', 'b'], 'ab'],
			['joined', ['a', ' a '], ['a', ''], 'a'],
			['joined', ['a', ' ', 'a'], ['a', ' ', ''], 'a '],
			['joined', ['1', '1', '1'], ['1', '1', '1'], '111'],
		])('%s of %j', (pieces, texts, added, text) => {
			expect(turn(pieces, ...texts)).toEqual([added, text]);
		});

		test.each([
			[
				['a', 'b', 'ab', 'c'],
				['a', 'b', '', 'c'],
			],
			[
				['a', 'a', 'b'],
				['a', 'a', 'b'],
			],
			[
				[' ', ' ', ' ', 'b'],
				[' ', ' ', ' ', 'b'],
			],
		])('has pieces, of which no first one is the whole: %j', (texts, added) => {
			const all = new TurnText('joined');
			expect(texts.map((text) => all.add(text, false))).toEqual(added);
		});

		test('of many pieces grows no faster than they do', () => {
			expectLinear(
				'word ',
				(text) =>
					text.match(/.{5}/g)?.map((message) => ({ message }) as SessionMessage) ?? [],
				(pieces) => buildOutputText(pieces, 'text', 'joined', 'match'),
				500_000,
			);
		});

		test('is a whole again and again, and no shorter piece', () => {
			const all = new TurnText('joined');
			const texts = [' a', ' b ', 'a b', ' a b\n', 'ab', ' a b ab'];
			expect(texts.map((text) => all.add(text, false))).toEqual([
				' a',
				' b ',
				'',
				'',
				'ab',
				'',
			]);
		});

		const messages = ['a', { n: 1 }, 'a'].map((message) => ({
			message,
		})) as unknown as SessionMessage[];

		test('is joined without a whole that only the end of a match tells', () => {
			expect([
				buildOutputText(messages, 'text', 'joined', 'match'),
				buildOutputText(messages, 'text', 'joined', 'count'),
			]).toEqual(['a', 'aa']);
			expect([
				buildOutputText(messages, 'text', 'last', 'match'),
				buildOutputText([], 'text', 'joined', 'match'),
			]).toEqual(['a', null]);
		});
	});
});

describe('output', () => {
	const contextOf = (more: Partial<ContextOptions> = {}) =>
		createExecuteContext({ nodeType: new AgentExecute(), ...more });

	test('an execution is found by each of its sessions, as long as n8n keeps their IDs whole', () => {
		const context = contextOf();
		for (const id of ['s1', 's2', 's1']) tagExecution(context, id);
		const kept = () => [
			context.customData.getAll(),
			context.getExecuteData().metadata?.tracing,
		];
		expect(kept()).toEqual([{ session_id: 's1, s2' }, { session_id: 's1, s2' }]);
		tagExecution(context, 'x'.repeat(256 - 's1, s2, '.length));
		expect(kept()).toEqual([{ session_id: 's1, s2' }, { session_id: 's1, s2' }]);
		const longest = 'x'.repeat(255 - 's1, s2, '.length);
		tagExecution(context, longest);
		expect(context.customData.getAll()).toEqual({ session_id: `s1, s2, ${longest}` });
	});

	describe('a hint', () => {
		const waited = { messages: [], repeatedCount: 0, hasGap: false } as unknown as WaitResult;
		const hints = (json: IDataObject, more: Partial<WaitResult> = {}, binary?: object) =>
			buildHints(
				{ json, ...(binary && { binary: binary as never }) },
				{ textField: 'text', sessionId: 's1', silenceSeconds: 5 },
				{ ...waited, ...more },
			);

		test('says that no message arrived', () => {
			expect(hints({ output: null })).toEqual([
				"'output' is null because no message arrived.",
			]);
		});

		test('is not needed for a text, or a file', () => {
			expect([hints({ output: 'x' }), hints({ output: null }, {}, { data: {} })]).toEqual([
				[],
				[],
			]);
		});

		test('names no fields where there are none', () => {
			const messages = [{ message: 7 }] as unknown as WaitResult['messages'];
			expect(hints({ output: null }, { messages })).toEqual([
				"'output' is null, because the messages have no text in the field 'text'.",
			]);
		});

		test('counts what was left out, unless a lost channel explains that it was sent twice', () => {
			expect(hints({ output: 'x' }, { repeatedCount: 1 })).toEqual([
				expect.stringContaining('before: 1.'),
			]);
			expect(hints({ output: 'x' }, { repeatedCount: 1, hasGap: true })).toEqual([]);
		});

		test.each<[string, string[], string | undefined]>([
			['a type of its own', ['step', 'step', 'answer'], 'answer'],
			['the only message', ['answer'], 'answer'],
			['a type that came before', ['answer', 'answer'], undefined],
			['a type that is a text', ['This is a whole sentence.'], undefined],
			['no message', [], undefined],
		])('names the end that needs no silence, if there is one: %s', (_, types, value) => {
			const messages = types.map((type) => ({
				message: { type },
			})) as unknown as WaitResult['messages'];
			expect(hints({ output: 'x' }, { endedBy: 'silence', messages })).toEqual(
				value === undefined
					? []
					: [
							expect.stringContaining(
								`'Final Message Field' type and 'Final Message Values' ${value}:`,
							),
						],
			);
			expect(hints({ output: 'x' }, { endedBy: 'count', messages })).toEqual([]);
		});
	});
});
