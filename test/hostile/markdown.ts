import type { Random } from './random';

/** Texts that cost a reader of Markdown more than their length. */
export const markdownMakers: ReadonlyArray<(random: Random) => string> = [
	(random) => '*a_ '.repeat(random.size(100, 20_000)),
	(random) => '![a]('.repeat(random.size(100, 20_000)),
	(random) => ']'.repeat(random.size(100, 30_000)),
	(random) => '['.repeat(random.size(100, 50_000)),
	(random) =>
		Array.from({ length: random.size(10, 4_000) }, (_, at) => `[a${at}]: /x\n[a${at}]`).join(
			'\n',
		),
	(random) =>
		Array.from({ length: random.size(10, 300) }, (_, at) => `${'  '.repeat(at)}- x`).join('\n'),
	(random) => `${'> '.repeat(random.size(10, 5_000))}x`,
	(random) => `${'1. '.repeat(random.size(10, 2_000))}x`,
	(random) =>
		`|${'a|'.repeat(random.size(10, 2_000))}\n|${'-|'.repeat(2_000)}\n${'|x'.repeat(random.size(10, 2_000))}`,
	(random) => random.size(1e6, 1e9).toString().concat('. x\n').repeat(random.size(10, 2_000)),
	(random) => '`'.repeat(random.size(100, 3e4)).concat('x').repeat(3),
	(random) => Array.from({ length: random.size(10, 300) }, (_, at) => '`'.repeat(at)).join(' '),
	(random) => `[x](${random.text(random.size(100, 8e4), ['\\"', '(', '<', ' ', ')'])}`,
	(random) => '<a b='.repeat(random.size(100, 2e4)),
	(random) => '&'.repeat(random.size(100, 8e4)),
	(random) => 'a@'.concat('b.'.repeat(random.size(100, 2e4))).repeat(2),
	(random) => 'http://'.repeat(random.size(100, 1e4)),
	(random) => '~~a *b **c '.repeat(random.size(100, 8_000)),
	(random) => '[^1]: x\n'.repeat(random.size(10, 3_000)).concat('[^1]'.repeat(3_000)),
	(random) => ' '.repeat(random.size(1e3, 1e6)).concat('x'),
	(random) =>
		random.text(random.size(1e3, 1e5), [
			'*',
			'_',
			'[',
			']',
			'(',
			')',
			'`',
			'\n',
			'>',
			'-',
			' ',
			'x',
			'|',
			'<',
			'\\',
			'\u{e000}',
		]),
];
