import { htmlToText } from '../../nodes/untrusted/html/htmlToText';
import { expectLinear } from '../growth';

/** HTML and its text by what is in it. */
const samples: Record<string, [html: string, text: string]> = {
	'words and spaces': [' a\n b&nbsp;c &amp; <b>d</b>e <i> f </i>g&#x1F600; ', 'a b c & de f g😀'],
	paragraphs: [
		'<p>a</p>\n<p>b<br>c<br><br>d<br></p><div>e</div><div>f</div>',
		'a\n\nb\nc\n\nd\n\ne\nf',
	],
	'what is not shown': [
		'<title>x</title><style>a{}</style>a<!-- c --><script>if (1 < 2) "</b>"</script>b',
		'ab',
	],
	'a link': [
		'see <a href="https://a/?a=1&amp;b=2">this  page</a>.',
		'see this page [https://a/?a=1&b=2].',
	],
	'a link that names its address': ['<a href="https://a">See https://a</a>.', 'See https://a.'],
	'links whose text only ends like their address': [
		'<a href="mailto:n@b.c">ann@b.c</a>, <a href="b.c">Web b.c</a>, <a href="a b">a b</a>',
		'ann@b.c [n@b.c], Web b.c, a b',
	],
	'an address': ['<a href="mailto:a@b.org">a@b.org</a>, <a href="#top">up</a>', 'a@b.org, up'],
	'a link on an image': ['<a href="https://a"><img src="x" alt="y"></a>', 'y [https://a]'],
	'links on images without a text': [
		'<a href="https://a"><img src="x"></a><a href="https://b"><img src="x" alt=" "></a>',
		'https://a https://b',
	],
	'images beside a link': [
		'<img alt="x">a<a href=/b><img alt="Save 20 %"><img alt=now></a>c',
		'a Save 20 % now [/b]c',
	],
	'a link around cells': [
		'<table><tr><a href=/a><td>a</td></a></tr><tr><a href=/b><td>b</td><td>c</td></a></tr></table>',
		'a [/a]\nb\tc [/b]',
	],
	'a link around blocks': [
		'<a href=/b><table><tr><td><p>Shop</p></td></tr></table></a>x',
		'Shop [/b]\n\nx',
	],
	'links without an end': ['<a href=/a>a<a href=/b>b', 'a [/a]b [/b]'],
	'a link that is its text in several pieces': [
		'a<p><a href="https://a/?b=1&amp;c=2"> https://a/?b=1&amp;c=2</a> <a href=b>b<i>c</i></a>',
		'a\n\nhttps://a/?b=1&c=2 bc [b]',
	],
	'a link whose text is its address, but cut in two': [
		'<a href="https://a/b">https://a/<br>b</a> <a href="tel:1"><table><tr><td>tel:<td>1</table></a>',
		'https://a/\nb [https://a/b]\ntel:\t1 [tel:1]',
	],
	lists: [
		'x<ul><li>a<li>b<ol start=3><li>c<br>d</li><li>e</ol></ul>y',
		'x\n\n* a\n* b\n  3. c\n    d\n  4. e\n\ny',
	],
	'ends of inline elements that come too late': [
		'<b>a<ol><li>b</b></li><li>c</ol><font><blockquote>d</font><br>e</blockquote>',
		'a\n\n1. b\n2. c\n\n> d\n> e',
	],
	'inline elements without an end': [
		`${'<b><b>'.repeat(200)}<a href=/a>a</a><table><tr><td>b<td>c</table><style>d{}</style>`,
		'a [/a]\nb\tc',
	],
	'numbers from one': ['<ol><li>a</ol><ol start=10><li>b<li>c</ol>', '1. a\n\n10. b\n11. c'],
	'a list that starts nowhere': [
		'<ol start=1e999><li>a</ol><ol start=-2><li>b</ol>',
		'1. a\n\n-2. b',
	],
	'a number that nobody counts to': ['<ol start=99999999999999999999><li>a', '1. a'],
	'an item of no list': ['<li>a', '* a'],
	'quotes that end one by one, and more ends than quotes': [
		'x<blockquote>a<blockquote>b</blockquote>c</blockquote>y</blockquote>z<blockquote>d',
		'x\n\n> a\n>\n> > b\n>\n> c\n\ny\n\nz\n\n> d',
	],
	'quotes and lists that are very deep': [
		`${'<blockquote>'.repeat(6)}a${'</blockquote>'.repeat(6)}${'<ul>'.repeat(7)}<li>b<br>c`,
		`> > > > > a\n\n${'  '.repeat(5)}* b\n${'  '.repeat(5)}c`,
	],
	'a table': [
		'<table><tr><th>a</th> <th>b</th></tr><tr><td>c<td><td>d</table>e',
		'a\tb\nc\t\td\ne',
	],
	'cells that hold blocks': [
		'<table><tr><td><p>a</p></td><td><div>b</div><tr><td><p>c</p><td><h2>d</h2></table><p>e</p>',
		'a\tb\nc\td\n\ne',
	],
	'a cell of two lines': [
		'<table><tr><td><div>Mug</div><div>No. 7</div></td><td><p>2</p></td><td><p>9 €</table>',
		'Mug\nNo. 7\t2\t9 €',
	],
	'empty cells': [
		'x<table><tr><td></td><td>Q1</td><td>Q2</td></tr><tr><td>a</td><td>&nbsp;</td><td>2</td></tr><tr><td> </td><td></td><td><p>3</p></td></tr><tr><td>b</td><td>4</td><td></td></tr></table>y',
		'x\n\tQ1\tQ2\na\t\t2\n\t\t3\nb\t4\ny',
	],
	'cells that only make room': [
		'<table><tr><td>&nbsp;</td><td><p>a</p><p>b</p></td><td></td></tr><tr><td><p>c</table>',
		'a\n\nb\n\nc',
	],
	'an empty cell where a page only makes room': [
		'<table><tr><td><td>a<tr><td>b<td>c</table>',
		'a\nb\tc',
	],
	'an empty cell beside one that has a table': [
		'<table><tr><td></td><td><table><tr><td>x</td></tr></table></td><td>b</td></tr></table>',
		'\tx\tb',
	],
	'tables in cells': [
		'<table><tr><td><table><tr><td>a</table></td><td><table><tr><td>b</td><td>c</table></table>',
		'a\tb\tc',
	],
	'columns of a page, of which one has lines': [
		'<table><tr><td><table><tr><td>Mug</td></tr><tr><td>9 €</table></td><td>Cup</td><td>8 €</table>',
		'Mug\n9 €\nCup\n8 €',
	],
	'a quote and a list in cells': [
		'<table><tr><td>a<td><blockquote>b<br>c</blockquote><tr><td><ul><li>d<li>e</ul><td>f</table>',
		'a\t> b\n> c\n* d\n* e\tf',
	],
	'a stray end of a block in a cell': [
		'<blockquote><table><tr><td>a</blockquote></td><td>b</td></tr></table>c</blockquote>d',
		'> a\tb\n> c\n\nd',
	],
	'cells behind the end of their table': [
		'<blockquote>a</td></table><td>b</td><td>c</td></table>d</blockquote>',
		'> a\n> b\tc\n> d',
	],
	'a row that is cut off': [
		'<table><tr><td>a<td></td><tr><td>b<td>c</table><p>d',
		'a\nb\tc\n\nd',
	],
	'cells of no row': [
		'<blockquote><td>a</td></blockquote><ul><li><td>b</td></ul><table><tr><td><ul><td>c</table>',
		'> a\n\n* b\n\nc',
	],
	'cells of no table': ['<tr><td>a<td>b', 'a\tb'],
	'an end of no table': ['a</table>b', 'a\nb'],
	'an empty row at the end of a table': [
		'<table><tr><td>a<td>b<tr><td></table><p>c',
		'a\tb\n\nc',
	],
	'a text behind a row whose last cell is empty': ['<table><tr><td>a<td></td></tr>b', 'a\nb'],
	'a cell over less than nothing': ['<table><tr><td colspan=-1 rowspan=1e9>x<td>y', 'x\ty'],
	'a cell over very many': ['<table><tr><td><table><tr><td colspan=1e9 rowspan=1e9>x', 'x'],
	'a preview that is hidden': [
		'<div style="display:none;font-size:1px">Preview <b>text</b><br></div><div style="MAX-HEIGHT: 0px; overflow:hidden">&zwnj;&nbsp;</div><p>a</p>',
		'a',
	],
	'what only a phone shows': [
		'<table><tr style="display : none"><td>phone<td>x</tr><tr><td>a<td style="display:none">b<td>c</tr></table><!--[if mso]>d<![endif]--><span hidden>e</span><img hidden>f',
		'a\tc\nf',
	],
	'hidden elements without an end': [
		'<p style="display:none">a<div>b</div><ul><li style="display:none">c<ul><li>d</ul><li>e</ul><table><tr><td><div style="display:none">f</td><td>g</table>',
		'b\n\n* e\n\ng',
	],
	'a hidden element in which none ends that is outside': [
		'<div><p hidden>a</b></span>b</p>c</div>',
		'c',
	],
	'hidden elements in which others end': [
		'<div hidden>a<div>b</div>c<br></br>d</p>e</div>f<p hidden>g<br>h</p>i<div><span hidden>j</div>k',
		'fi\nk',
	],
	'what is not hidden': [
		'<p style="max-height:0.5em">a</p><i style="display:nonsense">b</i>',
		'a\n\nb',
	],
	'lines of spaces': [
		'a<p>&nbsp;</p><div>&nbsp;</div><br>&nbsp;<br>&#160; <br><p>&nbsp;&zwnj;&nbsp;&zwnj;&nbsp;</p>b',
		'a\n\nb',
	],
	'line breaks that are written as end tags': ['a</br>b<i>c</br></i>d', 'a\nbc\nd'],
	'blank lines': ['a<br/><br/><br/><br/>b', 'a\n\nb'],
	'invisible breaks in a word': ['su\u200bper&#8203;ca<wbr>li \u200b end\ufeff', 'supercali end'],
	joiners: ['نمی&zwnj;خواهم 👩&zwj;👧', 'نمی\u200cخواهم 👩\u200d👧'],
	'joiners at the beginning': [
		'&zwnj;a <p>&zwnj;b &zwnj;c<table><tr><td>d<td>&zwnj;e',
		'a\n\nb c\nd\te',
	],
	code: ['<pre>a\n  b\n\n c</pre>d', 'a\n  b\n\n c\n\nd'],
	'code that ends': ['</pre>a  b<pre>c  d</pre>e  f', 'a b\n\nc  d\n\ne f'],
	'code with stray ends': ['<div><pre>a  b</i></div>\nc  d</pre>e  f', 'a  b\nc d\n\ne f'],
	'code with a table': ['<pre><table><tr><td>a  b</table>c  d</pre>', 'a b\nc  d'],
	'blank lines in code, and a sign': ['x<pre>a\n\n\n\nb&amp;c', 'x\n\na\n\n\n\nb&c'],
	'white space that the style keeps': [
		'<div style="white-space: pre-wrap">Name: Ann\n\n<div>Say:</div> hi\n ho<br></div> a\n b<span style="white-space:nowrap">\nc',
		'Name: Ann\n\nSay:\n hi\n ho\na b c',
	],
	'a table in it': [
		'<div style="white-space:pre">a\nb<table>\n<tr>\n  <td>A</td>\n  <td>B</td></tr></table></div>',
		'a\nb\nA\tB',
	],
	'a rule': ['a<hr>b', 'a\n\n--------------------\n\nb'],
	headings: ['<h1>A</h1>b<H2>C</H2>', 'A\n\nb\n\nC'],
	'very many pieces': ['a&amp;'.repeat(3000), 'a&'.repeat(3000)],
	'very many pieces behind an empty cell': [
		`<table><tr><td><td>${'a&amp;'.repeat(1500)}<td>b`,
		`\t${'a&'.repeat(1500)}\tb`,
	],
	'tags that are cut off': ['a<p', 'a'],
	'signs that are no tags': ['1 < 2 > 0 &unknown; &', '1 < 2 > 0 &unknown; &'],
	nothing: [' <p> </p> ', ''],
};

test.each(Object.entries(samples))('%s', (_what, [html, text]) => {
	expect(htmlToText(html)).toBe(text);
});

describe('what a style sheet hides is not shown', () => {
	const shown = (css: string, html: string) =>
		htmlToText(`<head><style>${css}</style></head><body>${html}`);
	const preview = '<div class="big pre" id="top">Preview <b>text</b></div><p>a</p>';
	const [phones, paper] = ['@media (max-width:600px)', '@media print'];

	test.each([
		['a class', '.pre{display:none}'],
		['important', '.pre { color: #fff; DISPLAY : none !important; }'],
		['an element with a class', 'ul, div.pre { visibility: hidden; max-height: 1em }'],
		['no height', '.pre{max-height:0.0em;overflow:hidden}'],
		['an ID', '@import url(a.css);#top{max-height:0%;overflow:hidden}'],
		['an element', 'div{display:none}'],
		['among comments', '<!-- /* a } */ .x{} /* b { */ .pre{/* c */display:none} -->'],
		['behind a block for phones', `${phones}{.a{b:c}.d{e:f}} .pre{display:none}`],
		['against what is for phones', `.pre{display:none} ${phones}{.pre{display:block}}`],
	])('%s', (_what, css) => {
		expect(shown(css, preview)).toBe('a');
	});

	test('an element without an ID is not one with the ID undefined', () => {
		expect(shown('#undefined{display:none}', '<p>a</p>')).toBe('a');
	});

	test.each([
		['no height, from which the text hangs out', '.pre{max-height:0}'],
		['an ordinary class', '.pre{font-size:0;color:red;opacity:0;max-height:0.5em}'],
		['other classes', '.pre2{display:none} .x.pre{display:none} span.pre{display:none}'],
		['what is for phones', `${phones}{.pre{display:none}}`],
		['a block in a block', `@supports (a:b){${paper}{.pre{display:none}}}`],
		[
			'what is for paper, beside a block of its own',
			`${paper}{@page{margin:1cm} .pre{display:none}} @media screen{.pre{display:none} @font-face{a:b}}`,
		],
		['what is as high as it needs', '.pre{max-height:0;overflow:hidden} .big{max-height:none}'],
		['what another property shows', '.pre{max-height:0;overflow:hidden} .big{display:block}'],
		['what another rule shows', '.pre{display:none} .big{display:block}'],
		['what an earlier rule shows', 'div{display:block} .pre{display:none!important}'],
		['an important rule', '.pre{display:block!important} #top{display:none}'],
		['a rule for what is in something', 'td .pre{display:none} .pre:hover{display:none}'],
		['an attribute', '[class=pre]{display:none} *[id]{display:none}'],
		['what something around it shows', '.pre{display:none} td > .pre{display:block}'],
		['a rule for two classes', '.big.pre{display:none}'],
		['a rule for a class that it lacks', 'div.big.pre#top.big.small{display:none}'],
		['the whole page', 'body{display:none} html{opacity:0}'],
		['a rule that does not end', '.pre{display:none'],
		['an empty rule', '{display:none} .{display:none} ,{}'],
	])('but %s does not hide', (_what, css) => {
		expect(shown(css, preview)).toBe('Preview text\n\na');
	});

	const ownStyle = '<div class=h style="display:block">a</div>b';

	test.each([
		['its own style', '.h{display:none}', ownStyle, 'a\nb'],
		['a picture alone', 'img{display:none}', 'a<img class=h>b', 'ab'],
	])('%s', (_what, css, html, text) => {
		expect(shown(css, html)).toBe(text);
	});

	test('not by a sheet for paper or phones', () => {
		const sheet = (media: string) =>
			`<style media="${media}">.h{display:none}</style><p class=h>a</p>`;
		expect(htmlToText(sheet('print'))).toBe('a');
		expect(htmlToText(sheet('only screen and (max-width: 600px)'))).toBe('a');
		expect(htmlToText(`${sheet('screen')}b`)).toBe('a\n\nb');
	});

	test.each([
		...['.a{display:none}', '@media{', '}', '/*', '.a,', '.a.b{display:none}', ' ', 'a-', '-'],
		...['a{max-height:0;', ';', '.a .a{display:block}'],
	])('and costs no more than the length of %j', (unit) => {
		const shortPages = [
			(text: string) => `<style>${text}! {color:red}</style><p>x`,
			(text: string) => `<style>p{display:block${text}x}</style><p>x`,
			(text: string) => `<p style="display:block${text}x">x`,
		];
		const longPages = [
			(text: string) =>
				`<style>${text}</style>${'<p class="a b">x'.repeat(text.length / 100)}`,
			(text: string) => `<style>${unit}</style><p style="${text}">x`,
			(text: string) => `<style media="${text}x">${unit}</style>x`,
		];
		for (const pageOf of shortPages) expectLinear(unit, pageOf, htmlToText, 100_000);
		for (const pageOf of longPages) expectLinear(unit, pageOf, htmlToText, 3_000_000);
	});
});

test.each([
	'<table><tr><td>&nbsp;<td><p>x',
	'<style>.a{display:none}</style><p class=a>x',
	'<style>.a{max-height:0}</style><p class="a ">x',
	'<td>&nbsp;',
	'<tr><td><td>x<td>',
	'\u00a0',
	'\u00a0x',
	'<div style="display:none">x</b>',
	'<p style="max-height:0  " hidden>',
	'<a href="x">y&amp<ul><li>x</i><',
	'<blockquote><div><td rowspan=100000000>x ',
])('%s costs no more than its length', (unit) => {
	expectLinear(unit, (text) => text, htmlToText, 3_000_000);
});

const tags = ['div', 'blockquote', 'table><tr><td', 'ul><li', 'a href=x', 'b'];

test.each(tags)('3,000 <%s> in each other are read', (tag) => {
	const html = `<p>deep</p>${`<${tag}>`.repeat(3000)}<style>y{}</style>x`;
	expect(htmlToText(html)).toMatch(/^deep\s[^y]*x[^y]*$/);
});
