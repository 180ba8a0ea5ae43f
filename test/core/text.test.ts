import { shorten } from '../../nodes/core/text';

test.each([
	['what fits is whole', 'abc', 'abc'],
	['what is longer ends with …', 'abcd', 'abc…'],
	['a pair is not cut in half', 'ab😀d', 'ab…'],
	['a whole pair stays', 'a😀d', 'a😀…'],
])('%s', (_what, text, expected) => {
	expect(shorten(text, 3)).toBe(expected);
});
