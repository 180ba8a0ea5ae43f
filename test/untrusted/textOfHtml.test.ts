import { textOfHtml } from '../../nodes/untrusted/html/textOfHtml';
import { expectLinear } from '../growth';

test.each([
	['words and spaces', ' a\n b&nbsp;c &amp; <b>d</b>e <i> f </i>g&#x1F600; ', 'a b\u00a0c & de f g😀'],
	['paragraphs', '<p>a</p>\n<p>b<br>c<br><br>d<br></p><div>e</div><div>f</div>', 'a\n\nb\nc\n\nd\n\ne\nf'],
	[
		'what is not shown',
		'<title>x</title><style>a{}</style>a<!-- c --><script>if (1 < 2) "</b>"</script>b',
		'ab',
	],
	[
		'a link',
		'see <a href="https://example.com/?a=1&amp;b=2">this  page</a>.',
		'see this page [https://example.com/?a=1&b=2].',
	],
	['a link that is its text', '<a href="https://example.com">https://example.com</a>', 'https://example.com'],
	[
		'an address',
		'<a href="mailto:a@example.com">a@example.com</a>, <a href="#top">up</a>',
		'a@example.com, up',
	],
	['a link on an image', '<a href="https://example.com"><img src="x" alt="y"></a>', 'https://example.com'],
	['links without an end', '<a href=/a>a<a href=/b>b', 'a [/a]b [/b]'],
	[
		'lists',
		'x<ul><li>a<li>b<ol start=3><li>c<br>d</li><li>e</ol></ul>y',
		'x\n\n* a\n* b\n  3. c\n    d\n  4. e\n\ny',
	],
	['a list that starts nowhere', '<ol start=1e999><li>a</ol><ol start=-2><li>b</ol>', '1. a\n\n-2. b'],
	[
		'a quote',
		'x<blockquote>a<p>b<blockquote>c</blockquote></blockquote>y',
		'x\n\n> a\n>\n> b\n>\n> > c\n\ny',
	],
	['a table', '<table><tr><th>a</th> <th>b</th></tr><tr><td>c<td><td>d</table>e', 'a\tb\nc\td\ne'],
	['a table for the looks', '<table><tr><td><p>a</p></td><td><div>b</div></td></tr></table>', 'a\n\nb'],
	['code', '<pre>a\n  b\n\n c</pre>d', 'a\n  b\n\n c\n\nd'],
	['a rule', 'a<hr>b', 'a\n\n--------------------\n\nb'],
	['headings', '<h1>A</h1>b<H2>C</H2>', 'A\n\nb\n\nC'],
	['tags that are cut off', 'a<p', 'a'],
	['signs that are no tags', '1 < 2 > 0 &unknown; &', '1 < 2 > 0 &unknown; &'],
	['nothing', ' <p> </p> ', ''],
])('%s', (_what, html, text) => {
	expect(textOfHtml(html)).toBe(text);
});

test.each(['<a href="x">y&amp<ul><li>x</i><', '<blockquote><div><td rowspan=100000000>x '])(
	'%s costs no more than its length',
	(unit) => {
		expectLinear(unit, (text) => text, textOfHtml);
	},
);
