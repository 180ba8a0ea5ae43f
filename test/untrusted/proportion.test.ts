import { proportionate } from '../../nodes/untrusted/markdown/parseMarkdown';
import { expectLinear } from '../growth';

test.each([
	['a table that a person wrote', `|a|b|c|\n|---|:-:|--:|\n${'|x|y|z|\n'.repeat(5000)}`],
	[
		'links that a person wrote',
		`${'See [the page][1] and [that][2].\n\n'.repeat(2000)}[1]: https://example.com/1\n[2]: /2 "b"`,
	],
	['brackets without definitions', ']'.repeat(30_000)],
	['many rules', '---\n'.repeat(50_000)],
])('%s is proportionate', (_what, markdown) => {
	expect(proportionate(markdown)).toBe(markdown);
});

test.each([
	['a table that grows', `${'|a'.repeat(10_000)}\n${'|-'.repeat(10_000)}\n${'|x\n'.repeat(10_000)}`],
	['a table in a quote', `> ${'|a'.repeat(10_000)}\n> ${'|-'.repeat(10_000)}\n${'> |x\n'.repeat(10_000)}`],
	['a long address that is named often', `${'[a]'.repeat(13_000)}\n\n[a]: /${'u'.repeat(40_000)}`],
])('%s is not', (_what, markdown) => {
	expect(() => proportionate(markdown)).toThrow('many times as long');
});

test.each(['| - ', '[a]: b\n', ' '])('looking costs no more than the length of %j', (unit) => {
	expectLinear(
		unit,
		(text) => text,
		(text) => {
			try {
				proportionate(text);
			} catch (error) {
				return error;
			}
			return undefined;
		},
	);
});
