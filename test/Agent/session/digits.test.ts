import fc from 'fast-check';

import { contentOf, fieldText, hasOneOf, withDigitsAsText } from '../../../nodes/Agent/session/messages';

test.each<[string, string | undefined]>([
	['{"id":9007199254740993}', '{"id":"9007199254740993"}'],
	['[-9007199254740993,1]', '["-9007199254740993",1]'],
	['12345678901234567890', '"12345678901234567890"'],
	['{"id":9007199254740991}', undefined],
	['{"id":"9007199254740993"}', undefined],
	['{"a\\"12345678901234567890":1}', undefined],
	['{"a":"\\\\","b":12345678901234567890}', '{"a":"\\\\","b":"12345678901234567890"}'],
	['[0.12345678901234567890,1.5e300,12345678901234567e2]', undefined],
	['{}', undefined],
])('%s', (json, expected) => {
	expect(withDigitsAsText(json)).toBe(expected);
});

test('keeps everything else of any JSON as it is', () => {
	fc.assert(
		fc.property(fc.jsonValue(), fc.bigInt({ min: 2n ** 60n, max: 2n ** 90n }), (value, big) => {
			const json = `{"value":${JSON.stringify(value)},"big":${big}}`;
			const read = JSON.parse(withDigitsAsText(json) ?? '') as { value: unknown; big: unknown };
			expect(read.big).toBe(String(big));
			const plain = JSON.parse(json) as { value: unknown };
			if (withDigitsAsText(JSON.stringify(value)) === undefined) expect(read.value).toEqual(plain.value);
		}),
	);
});

test.each([
	['digits', '1'.repeat(2_000_000)],
	['digits with a fraction', `${'1'.repeat(2_000_000)}.5`],
	['short numbers', `[${'123456789012345,'.repeat(100_000)}1]`],
	['backslashes', JSON.stringify('\\'.repeat(1_000_000))],
	['quotes', JSON.stringify('"'.repeat(1_000_000))],
])('megabytes of %s are read in one go', (_name, json) => {
	const integers = /^\d+$/.test(json);
	expect(withDigitsAsText(json)).toBe(integers ? `"${json}"` : undefined);
});

describe('fields of messages', () => {
	const read = (text: string) => contentOf(Buffer.from(text), false, 'auto');

	it('are compared by the digits that came, and shown as JSON reads them', () => {
		const message = read('{"id":12345678901234567891}');
		expect(fieldText(message, 'id')).toBe('12345678901234567891');
		expect(hasOneOf(message, { field: 'id', values: ['12345678901234567890'] })).toBe(false);
		expect(message.message).toEqual({ id: 12345678901234567000 });
	});

	it.each<[string, string, string | undefined]>([
		['[DONE]', '', '[DONE]'],
		[' [DONE]\n', '', '[DONE]'],
		['"done"', '', 'done'],
		['{"a":1}', '', undefined],
		['[1]', '', undefined],
		['null', '', 'null'],
		['plain', 'a', undefined],
		['{"a":{"b":[true]}}', 'a.b.0', 'true'],
	])('%j at %j is %j', (text, field, expected) => {
		expect(fieldText(read(text), field)).toBe(expected);
	});
});
