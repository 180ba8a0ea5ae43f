import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';

import { canParse, countJsonParts } from '../../nodes/untrusted/jsonParts';
import {
	maxResponseBytes,
	mayBeJson,
	readBody,
	readBodyStart,
	tryParseJson,
} from '../../nodes/http/body';
import { expectLinear } from '../growth';

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

const { signal } = new AbortController();

test('JSON is parsed behind a byte order mark, too', () => {
	const body = Buffer.from('\uFEFF{"a":1}');
	expect([mayBeJson(body), tryParseJson(body)]).toEqual([true, { a: 1 }]);
});

test('a body that grows beyond the limit is left there', async () => {
	let made = 0;
	const reading = readBody({ body: endless(() => made++) }, signal);
	await expect(reading).rejects.toMatchObject({ reason: 'tooLarge' });
	expect(made).toBeLessThan(70);
});

test('a body that breaks off says so, with the code alone', async () => {
	await expect(readBody({ body: breaking() }, signal)).rejects.toMatchObject({
		reason: 'cutShort',
		errorCode: 'ECONNRESET',
	});
});

test('a signal ends the reading, also one that is aborted already', async () => {
	const stop = new AbortController();
	const silent = new Readable({ read() {} });
	const reading = readBody({ body: silent }, stop.signal);
	stop.abort();
	const again = readBody({ body: new Readable({ read() {} }) }, stop.signal);
	for (const one of [reading, again])
		await expect(one).rejects.toMatchObject({ reason: 'cutShort' });
	expect(silent.destroyed).toBe(true);
});

test('of an error’s body that is cut short, or longer than 256 KiB, there is what came', async () => {
	expect((await readBodyStart(breaking())).toString()).toBe('{"a":');
	let made = 0;
	expect((await readBodyStart(endless(() => made++))).length).toBe(256 * 1024);
	expect(made).toBeLessThan(5);
});

test('a limit is kept to the byte', async () => {
	const bodyOf = (text: string) => Readable.from([Buffer.from(text)]);
	expect(await readBody({ body: bodyOf('abc') }, signal, 3)).toEqual(Buffer.from('abc'));
	await expect(readBody({ body: bodyOf('abcd') }, signal, 3)).rejects.toMatchObject({
		reason: 'tooLarge',
	});
});

test('after the reading no listener stays', async () => {
	const body = Readable.from([Buffer.from('abc'), Buffer.from('de')]);
	expect((await readBody({ body: body }, signal)).length).toBe(5);
	expect(getEventListeners(signal, 'abort')).toEqual([]);
	expect(maxResponseBytes).toBe(64 * 1024 * 1024);
});

test('JSON has a thousand levels at most', () => {
	const nested = (levels: number) => Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
	expect([canParse(nested(1000)), canParse(nested(1001))]).toEqual([true, false]);
});

test.each([
	['many lists', '[],', 2_000_000],
	['many objects', '{},', 2_000_000],
	['many numbers', '1,', 5_999_999],
])('JSON has six million parts at most: %s', (_what, unit, count) => {
	const json = (units: number) => Buffer.from(`[${unit.repeat(units - 1)}0]`);
	expect([canParse(json(count)), canParse(json(count + 2))]).toEqual([true, false]);
});

describe('parts of JSON', () => {
	const json = (value: unknown) => Buffer.from(JSON.stringify(value));

	test('what stands in texts is no part', () => {
		expect(countJsonParts(json('{[:,"'.repeat(10) + String.fromCharCode(92)))).toBe(0);
		expect(countJsonParts(json([{ a: 1234 }, {}]))).toBe(2 + 2 + 1 + 1 + 2);
	});

	test('an object with very many keys costs far more than objects with as many of them together', () => {
		const keys = (from: number, count: number) =>
			`{${Array.from({ length: count }, (_, at) => `"key${from + at}":0`).join()}}`;
		expect(canParse(Buffer.from(keys(0, 800_000)))).toBe(false);
		expect(canParse(Buffer.from(`{"a":{},"b":[${keys(0, 800_000)}]}`))).toBe(false);
		const small = Array.from({ length: 8_000 }, (_, at) => keys(at * 100, 100));
		expect(canParse(Buffer.from(`[${small.join()}]`))).toBe(true);
	});

	test('a key that V8 would compare with all others of its length is refused, a text of any length is not', () => {
		const long = 'k'.repeat(17_000);
		expect(canParse(json([long, { a: long }]))).toBe(true);
		expect(canParse(json([{ [long]: 1 }]))).toBe(false);
	});

	test.each([
		['{"a":1}', true],
		['\uFEFF \n[1]', true],
		[' '.repeat(200), true],
		['"text"', false],
		['<html>', false],
		['\u0089PNG', false],
	])('%j may be JSON: %s', (text, expected) => {
		expect(mayBeJson(Buffer.from(text))).toBe(expected);
	});

	test.each(['{},', '"', '\\', '[', '"a":1,', '{', '}', '{"a":'])(
		'is counted in the time of its length: %j',
		(unit) => {
			expectLinear(
				unit,
				(text) => Buffer.from(text),
				(bytes) => countJsonParts(bytes),
			);
		},
	);
});
