import { mayBeJson, parsingCost, parsingCostInParts } from '../../nodes/http/body';
import { expectLinear } from '../growth';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const bomb = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3)}{}]`);

test('what stands in texts counts as text', () => {
	expect(parsingCost(json('a'))).toBe(3 + 24);
	expect(parsingCost(json('{[,"\\'.repeat(10)))).toBe(json('{[,"\\'.repeat(10)).length + 24);
	expect(parsingCost(json([{ a: 1234 }, {}]))).toBe(15 + 40 + 64 + 24 + 12 + 64);
});

test('an object with very many keys costs far more than objects with as many of them together', () => {
	const keys = (from: number, count: number) =>
		`{${Array.from({ length: count }, (_, at) => `"key${from + at}":0`).join()}}`;
	const most = 128 * 1024 * 1024;
	expect(parsingCost(Buffer.from(keys(0, 800_000)))).toBeGreaterThan(most);
	expect(parsingCost(Buffer.from(`{"a":{},"b":[${keys(0, 800_000)}]}`))).toBeGreaterThan(most);
	const small = Array.from({ length: 8_000 }, (_, at) => keys(at * 100, 100));
	expect(parsingCost(Buffer.from(`[${small.join()}]`))).toBeLessThan(most / 2);
});

test('a long text is looked through in parts, with the same result, and no further than needed', async () => {
	const text = json({ a: '\\"{'.repeat(700_000), b: ['{', 1, '\\'] });
	let turns = 0;
	const others = setInterval(() => turns++, 0);
	expect(await parsingCostInParts(text)).toBe(parsingCost(text));
	clearInterval(others);
	expect(turns).toBeGreaterThan(0);
	for (const most of [1000, 40_000_000]) {
		expect(parsingCost(bomb(30_000_000), most)).toBeLessThan(parsingCost(bomb(30_000_000)) / 5);
	}
	const deep = Buffer.from(`${'['.repeat(600)}${' '.repeat(2 ** 21)}${'['.repeat(401)}`);
	expect([parsingCost(deep, Infinity, 1001), parsingCost(deep, Infinity, 1000)]).toEqual([
		deep.length + 1001 * 40,
		Infinity,
	]);
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
			(bytes) => parsingCost(bytes),
		);
	},
);
