import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import v8 from 'node:v8';

import {
	BodyError,
	defaultMaxBytes,
	readResponseBody,
	readErrorBody,
	mayBeJson,
} from '../../nodes/http/body';
import {
	canParse,
	itemParsingLimits,
	MemoryReservation,
	estimateParsingCost,
} from '../../nodes/http/responseMemory';
import { expectLinear } from '../growth';
import { getBytesInFlight } from '../sharedState';

describe('body', () => {
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
		await expect(
			readResponseBody(stream, { announcedBytes: defaultMaxBytes + 1 }),
		).rejects.toMatchObject({
			reason: 'tooLarge',
		});
		expect(stream.destroyed).toBe(true);
	});

	test('a body that grows beyond the limit is left there', async () => {
		let made = 0;
		await expect(readResponseBody(endless(() => made++))).rejects.toMatchObject({
			reason: 'tooLarge',
		});
		expect(made).toBeLessThan(70);
	});

	test('a body that breaks off says so, with the code alone', async () => {
		await expect(readResponseBody(breaking())).rejects.toMatchObject({
			reason: 'cutShort',
			errorCode: 'ECONNRESET',
		});
	});

	test('a signal ends the reading', async () => {
		const stop = new AbortController();
		const silent = new Readable({ read() {} });
		const reading = readResponseBody(silent, { signal: stop.signal });
		stop.abort();
		await expect(reading).rejects.toMatchObject({ reason: 'cutShort' });
		expect(silent.destroyed).toBe(true);
	});

	test('of an error’s body that is cut short, or too long, there is what came', async () => {
		expect((await readErrorBody(breaking())).toString()).toBe('{"a":');
		let made = 0;
		expect((await readErrorBody(endless(() => made++))).length).toBeLessThanOrEqual(
			1024 * 1024,
		);
		expect(made).toBeLessThan(5);
	});

	test('of an error’s body, 256 KiB are kept', async () => {
		const large = Buffer.alloc(256 * 1024 + 1);
		expect(await readErrorBody(large)).toHaveLength(256 * 1024);
		expect(
			await readErrorBody(Readable.from([large.subarray(1), large.subarray(0, 1)])),
		).toHaveLength(256 * 1024);
	});

	test.each([
		['bytes', (text: string) => Buffer.from(text)],
		['a stream', (text: string) => Readable.from([Buffer.from(text)])],
	])('a limit is kept to the byte: %s', async (_what, bodyOf) => {
		expect(await readResponseBody(bodyOf('abc'), { maxBytes: 3, announcedBytes: 3 })).toEqual(
			Buffer.from('abc'),
		);
		await expect(readResponseBody(bodyOf('abcd'), { maxBytes: 3 })).rejects.toMatchObject({
			reason: 'tooLarge',
		});
	});

	test('what is read counts, and no listener stays', async () => {
		const memory = new MemoryReservation();
		const { signal } = new AbortController();
		await readResponseBody(Readable.from([Buffer.from('abc'), Buffer.from('de')]), {
			memory,
			signal,
		});
		expect([getBytesInFlight(), getEventListeners(signal, 'abort').length]).toEqual([5, 0]);
		await readResponseBody(Buffer.from('fg'), { memory });
		expect(getBytesInFlight()).toBe(7);
		memory.release();
		expect(getBytesInFlight()).toBe(0);
	});

	test('a signal that is aborted already ends the reading', async () => {
		const reading = readResponseBody(new Readable({ read() {} }), {
			signal: AbortSignal.abort(),
		});
		await expect(reading).rejects.toMatchObject({ reason: 'cutShort' });
	});

	describe('in a heap of 10,000 bytes', () => {
		const memory = new MemoryReservation();
		const heap = { used_heap_size: 0 };

		beforeEach(() => {
			heap.used_heap_size = 0;
			const real = v8.getHeapStatistics();
			jest.spyOn(v8, 'getHeapStatistics').mockImplementation(() => ({
				...real,
				...heap,
				heap_size_limit: 10_000,
			}));
		});
		afterEach(() => {
			memory.release();
			jest.restoreAllMocks();
		});

		/** A text whose parsing costs so much. */
		const costing = (cost: number) => Buffer.from(JSON.stringify('x'.repeat(cost - 26)));
		const parsed = async (cost: number) =>
			await memory.reserveForParsing(costing(cost)).then(
				() => 'held',
				(error: unknown) => error instanceof BodyError && error.reason,
			);

		test('one answer may cost a quarter of it', async () => {
			expect(estimateParsingCost(costing(2500))).toBe(2500);
			expect([await parsed(2501), await parsed(2500), getBytesInFlight()]).toEqual([
				'tooCostly',
				'held',
				2500,
			]);
			memory.release();
			expect([canParse(costing(2500)), canParse(costing(2501))]).toEqual([true, false]);
		});

		test('all answers together may take half of it', () => {
			memory.reserve(4999);
			memory.reserve(1);
			expect(() => {
				memory.reserve(1);
			}).toThrow('noMemory');
			expect(getBytesInFlight()).toBe(5000);
		});

		test('with what is in use, 85 percent may be taken', async () => {
			heap.used_heap_size = 7000;
			memory.reserve(500);
			expect([canParse(costing(1000)), canParse(costing(1001))]).toEqual([true, false]);
			expect([await parsed(1001), await parsed(1000)]).toEqual(['noMemory', 'held']);
		});
	});

	test('an item has a thousand levels and 128 MiB at most', () => {
		const nested = (levels: number) =>
			Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
		expect([canParse(nested(1000)), canParse(nested(1001))]).toEqual([true, false]);
		expect(itemParsingLimits.bytes / 1024 / 1024).toBe(128);
	});

	test('the keys of an object cost more from the thousand and first on', () => {
		const keys = (count: number) => Buffer.from(`{${Array(count).fill('"k":0').join()}}`);
		const step = keys(2).length - keys(1).length + 24 + 12;
		expect(estimateParsingCost(keys(1000)) - estimateParsingCost(keys(999))).toBe(step);
		expect(estimateParsingCost(keys(1001)) - estimateParsingCost(keys(1000))).toBe(step + 400);
	});
});

describe('cost of JSON', () => {
	const json = (value: unknown) => Buffer.from(JSON.stringify(value));
	const bomb = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3)}{}]`);

	test('what stands in texts counts as text', () => {
		expect(estimateParsingCost(json('a'))).toBe(3 + 24);
		expect(estimateParsingCost(json('{[,"\\'.repeat(10)))).toBe(
			json('{[,"\\'.repeat(10)).length + 24,
		);
		expect(estimateParsingCost(json([{ a: 1234 }, {}]))).toBe(15 + 40 + 64 + 24 + 12 + 64);
	});

	test('an object with very many keys costs far more than objects with as many of them together', () => {
		const keys = (from: number, count: number) =>
			`{${Array.from({ length: count }, (_, at) => `"key${from + at}":0`).join()}}`;
		const most = 128 * 1024 * 1024;
		expect(estimateParsingCost(Buffer.from(keys(0, 800_000)))).toBeGreaterThan(most);
		expect(
			estimateParsingCost(Buffer.from(`{"a":{},"b":[${keys(0, 800_000)}]}`)),
		).toBeGreaterThan(most);
		const small = Array.from({ length: 8_000 }, (_, at) => keys(at * 100, 100));
		expect(estimateParsingCost(Buffer.from(`[${small.join()}]`))).toBeLessThan(most / 2);
	});

	test('a long text is looked through in parts, with the same result, and no further than needed', async () => {
		const text = json({ a: '\\"{'.repeat(700_000), b: ['{', 1, '\\'] });
		let turns = 0;
		const others = setInterval(() => turns++, 0);
		const memory = new MemoryReservation();
		await memory.reserveForParsing(text);
		clearInterval(others);
		expect(getBytesInFlight()).toBe(estimateParsingCost(text));
		memory.release();
		expect(turns).toBeGreaterThan(0);
		for (const most of [1000, 40_000_000]) {
			expect(estimateParsingCost(bomb(30_000_000), most)).toBeLessThan(
				estimateParsingCost(bomb(30_000_000)) / 5,
			);
		}
		const deep = Buffer.from(`${'['.repeat(600)}${' '.repeat(2 ** 21)}${'['.repeat(401)}`);
		expect([
			estimateParsingCost(deep, Infinity, 1001),
			estimateParsingCost(deep, Infinity, 1000),
		]).toEqual([deep.length + 1001 * 40, Infinity]);
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
		'costs no more than the length of %j',
		(unit) => {
			expectLinear(
				unit,
				(text) => Buffer.from(text),
				(bytes) => estimateParsingCost(bytes),
			);
		},
	);
});
