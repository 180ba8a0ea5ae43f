import type { IncomingHttpHeaders } from 'node:http';
import type { IDataObject } from 'n8n-workflow';

import { AgentExecute } from '../../../nodes/Agent/AgentExecute/AgentExecute.node';
import { buildHints } from '../../../nodes/Agent/AgentExecute/hints';
import { tagExecution } from '../../../nodes/Agent/AgentExecute/run';
import { Answer } from '../../../nodes/Agent/AgentExecute/wait/answer';
import { parseResponseContent, quoteResponse } from '../../../nodes/Agent/AgentExecute/response';
import type { AgentCall } from '../../../nodes/Agent/AgentExecute/call';
import type { Turn } from '../../../nodes/Agent/AgentExecute/wait/turn';
import { Sanitizer } from '../../../nodes/core/sanitizer';
import type { SessionMessage } from '../../../nodes/Agent/session/messages';
import { createExecuteContext } from '../../createExecuteContext';
import { expectLinear } from '../../growth';

/** What a response with these headers is. */
const parse = (headers: IncomingHttpHeaders, body: Buffer | string, secrets?: string[]) =>
	parseResponseContent({ statusCode: 200, headers, body: Buffer.from(body) }, secrets);
const content = (type: string | undefined, body: Buffer | string) =>
	parse(type === undefined ? {} : { 'content-type': type }, body);

test.each([
	['application/json', '{"a":1}', { a: 1 }],
	['application/json; charset=utf-8', '"x"', 'x'],
	['application/problem+json', '[1]', [1]],
	['application/json', 'not json', 'not json'],
	['text/html', '<b>hi</b>', '<b>hi</b>'],
	['text/plain', '{"a":1}', { a: 1 }],
	['text/event-stream', ' [1]', [1]],
	['application/octet-stream', '{"a":1}', { a: 1 }],
	['application/ld+json', '5', 5],
	['application/x-yaml', 'a: 1', 'a: 1'],
	['application/soap+xml', '<a/>', '<a/>'],
	['text/plain', '5', '5'],
	['text/plain', 'null', 'null'],
	['text/plain', '[12:00] done', '[12:00] done'],
	[undefined, '{"a":1}', { a: 1 }],
	[undefined, '\uFEFF{"a":1}', { a: 1 }],
	[undefined, 'plain', 'plain'],
	['application/json', '', null],
])('%s %j is the response %j', (type, body, response) => {
	expect(content(type, body)).toEqual({ response });
});

test.each(['text/plain', 'text/plain; charset=iso-8859-1', 'application/json'])(
	'%s that is not UTF-8 stays bytes, so that nothing is lost',
	(type) => {
		const bytes = Buffer.from('"Grüße"', 'latin1');
		expect(content(type, bytes)).toMatchObject({ bytes, mimeType: type.split(';')[0] });
	},
);

test.each([
	['image/png', 'image/png'],
	[undefined, 'application/octet-stream'],
])('other media, and bytes that are no text, stay bytes: %s', (type, mimeType) => {
	const bytes = Buffer.from([0x89, 0x50, 0xff]);
	expect(content(type, bytes)).toEqual({ bytes, mimeType, fileName: undefined });
});

test('an Office file is no text, although its type contains xml', () => {
	const mimeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
	const bytes = Buffer.from('PK');
	expect(content(mimeType, bytes)).toMatchObject({ bytes, mimeType });
});

test.each([
	['inline; filename="a b.pdf"', 'a b.pdf'],
	['attachment; filename=a.pdf; size=3', 'a.pdf'],
	['attachment; filename="a;b.pdf"', 'a;b.pdf'],
	["attachment; filename=a.pdf; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf", 'résumé.pdf'],
	['inline', undefined],
])('the name of the file in %j is %j', (disposition, fileName) => {
	const headers = { 'content-type': 'application/pdf', 'content-disposition': disposition };
	expect(parse(headers, Buffer.from([1]))).toMatchObject({ fileName });
});

test('an answer of ordinary length that repeats the secrets of the call has them taken out, its file name, too', () => {
	const secrets = ['canary-key', '0'];
	const json = '{"echo":{"x-api-key":"canary-key"},"n":1}';
	const picture = {
		'content-type': 'image/png',
		'content-disposition': 'inline; filename=canary-key.png',
	};
	const shown = [
		parse({ 'content-type': 'application/json' }, json, secrets),
		parse({}, 'your key\nis canary-key', secrets),
		parse(picture, 'x', secrets),
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
	expect(parse({}, secret + rest, [secret])).toEqual({ response: shown + rest });
});

const sanitizer = new Sanitizer(['canary-key']);
const said = (body: Buffer | string, type = 'text/html') => {
	const headers = { 'content-type': type };
	return quoteResponse({ statusCode: 500, headers, body: Buffer.from(body) }, sanitizer);
};
const errorInJson = '{"error":{"message":"No such\n step"}}';

test.each([
	['<h1>Bad\n\n Gateway</h1><hr>nginx', 'text/html', ''],
	['1 < 2', 'text/html', '1 < 2'],
	['', 'text/html', ''],
	[errorInJson, 'application/json', '{"error":{"message":"No such step"}}'],
	['\u0000', 'image/png', ''],
	['PK', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', ''],
])('of %j as %s is %j', (body, type, text) => {
	expect(said(body, type)).toBe(text);
});

test('is cut, and a secret that the cut goes through is not shown', () => {
	expect(said('x'.repeat(400))).toBe(`${'x'.repeat(300)}…`);
	expect(said(`${'x'.repeat(295)} canary-key`)).not.toContain('can');
	expect(said(`key canary-key and ${'x'.repeat(400)}`)).toMatch(/^key ••• and x+…$/);
});

describe('of what a stranger made up', () => {
	const errors = '{"error":'.repeat(90_000) + '1' + '}'.repeat(90_000);

	test.each([
		['a page that opens tags and closes none', 'text/html', '<'.repeat(60_000)],
		['a trace text', 'text/plain', '    at Object.<anonymous\n'.repeat(16_000)],
		['styles without an end', 'text/html', '<style>'.repeat(500_000)],
		['ends without an end', 'text/html', `<style>${'</style'.repeat(500_000)}`],
		['JSON that opens and never closes', 'application/json', '['.repeat(900_000)],
		['deep JSON', 'application/json', '['.repeat(400_000) + ']'.repeat(400_000)],
		['errors in errors', 'application/json', errors],
		['many small objects', 'application/json', `[${'{},'.repeat(5_000_000)}{}]`],
		['bytes that are no text', 'text/html', '\u00ff'.repeat(100_000)],
	])('%s', (_what, type, body) => {
		expect(said(Buffer.from(body, 'latin1'), type).length).toBeLessThanOrEqual(301);
	});

	const units = ['<', '<style>', '<style></style', '    at Object.<anonymous\n'];

	test.each([...units, '</', ' ', 'api_key" ', '//'])('grows no faster than %j does', (unit) => {
		expectLinear(
			unit,
			(text) => Buffer.from(text),
			(body) => said(body),
		);
	});
});

describe('the answer of a turn', () => {
	const params = { textField: 'text', matchField: 'type' };
	const message = (content: unknown) => ({ message: content }) as SessionMessage;
	/** @returns what a chat shows of each message, without the line between them, and the output */
	const answer = (
		textPieces: 'last' | 'joined',
		contents: readonly unknown[],
		more: { matchField?: string; isOver?: boolean } = {},
	) => {
		const { isOver = true, matchField = 'type' } = more;
		const all = new Answer({ ...params, textPieces, matchField });
		const shown = contents.map((content, n) =>
			all.add(message(content), isOver && n === contents.length - 1),
		);
		return [shown, all.output];
	};

	test.each<['last' | 'joined', unknown[], string[], string | null]>([
		['last', ['a', 'b'], ['a', 'b'], 'b'],
		['last', ['a', 'a'], ['a', 'a'], 'a'],
		['last', ['a', { n: 1 }], ['a', ''], 'a'],
		['joined', ['a', 'b'], ['a', 'b'], 'ab'],
		['joined', ['a', ' a '], ['a', ''], 'a'],
		['joined', ['a', { n: 1 }, 'a'], ['a', '', ''], 'a'],
		['joined', ['a', ' ', 'a'], ['a', ' ', ''], 'a '],
		['joined', ['a', '\n\n\n', 'a'], ['a', '\n\n\n', ''], 'a\n\n\n'],
		['joined', ['1', '1', '1'], ['1', '1', '1'], '111'],
		['joined', [], [], null],
	])('%s of %j', (pieces, contents, shown, output) => {
		expect(answer(pieces, contents)).toEqual([shown, output]);
	});

	test.each([
		['a|b|ab|c', 'a|b||c'],
		['a|a|b', 'a|a|b'],
		['a|a', 'a|a'],
		[' | | |b', ' | | |b'],
		[' a| b |a b| a b\n|ab| a b ab', ' a| b |||ab|'],
	])('of the pieces %j is %j: one piece alone is no whole, later ones are', (texts, added) => {
		const [shown] = answer('joined', texts.split('|'), { isOver: false });
		expect((shown as string[]).join('|')).toBe(added);
	});

	test.each<['last' | 'joined', string[], string[], string]>([
		['last', ['a', '[DONE]'], ['a', ''], 'a'],
		['joined', ['a', 'b', '[DONE]'], ['a', 'b', ''], 'ab'],
		['last', ['[DONE]'], [''], '[DONE]'],
	])('%s: a text that only ends the wait is it if there is no other: %j', (...row) => {
		const [pieces, contents, shown, output] = row;
		expect(answer(pieces, contents, { matchField: '' })).toEqual([shown, output]);
	});

	test('of many pieces grows no faster than they do', () => {
		expectLinear(
			'word ',
			(text) => text.match(/.{5}/g) ?? [],
			(pieces) => answer('joined', pieces),
			500_000,
		);
	});
});

describe('output', () => {
	test('an execution is found by each of its sessions, as long as n8n keeps their IDs whole', () => {
		const context = createExecuteContext({ nodeType: new AgentExecute() });
		const kept = () => [
			context.customData.getAll(),
			context.getExecuteData().metadata?.tracing,
		];
		for (const id of ['s1', 's2', 's1']) tagExecution(context, id);
		tagExecution(context, 'x'.repeat(256 - 's1, s2, '.length));
		expect(kept()).toEqual(Array(2).fill({ session_id: 's1, s2' }));
		const longest = 'x'.repeat(255 - 's1, s2, '.length);
		tagExecution(context, longest);
		expect(kept()).toEqual(Array(2).fill({ session_id: `s1, s2, ${longest}` }));
	});

	describe('a hint', () => {
		const fields = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`f${n}`, 1]));
		const hints = (json: IDataObject, more: Partial<Turn> = {}, binary?: object) =>
			buildHints(
				{ json, ...(binary && { binary: binary as never }) },
				{
					params: { textField: 'text', sessionId: 's1' } as AgentCall['params'],
					turn: { messages: [], ...more } as unknown as Turn,
				},
				false,
			);

		test.each([
			['none', []],
			['f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, …', [7, fields]],
		])('says why there is no text, and which fields there are: %s', (found, texts) => {
			const messages = texts.map((message) => ({ message })) as SessionMessage[];
			const hint = `no text was found in the field 'text'. Fields found: ${found}. To get one`;
			expect(hints({ output: null }, { messages })).toEqual([
				expect.stringContaining(hint) as string,
			]);
		});

		test('is not needed for a text, or a file', () => {
			expect(hints({ output: 'x' })).toEqual([]);
			expect(hints({ output: null }, {}, { data: {} })).toEqual([]);
		});
	});
});
