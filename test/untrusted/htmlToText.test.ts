import { htmlToText } from '../../nodes/untrusted/html/htmlToText';
import { expectLinear } from '../growth';

test.each([
	['words and spaces', ' a\n b&nbsp;c &amp; <b>d</b>e <i> f </i>g&#x1F600; ', 'a b c & de f g😀'],
	[
		'paragraphs',
		'<p>a</p>\n<p>b<br>c<br><br>d<br></p><div>e</div><div>f</div>',
		'a\n\nb\nc\n\nd\n\ne\nf',
	],
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
	[
		'a link that is its text',
		'<a href="https://example.com">https://example.com</a>',
		'https://example.com',
	],
	['a link that names its address', '<a href="https://a">See https://a</a>.', 'See https://a.'],
	[
		'links whose text only ends like their address',
		'<a href="mailto:n@b.c">ann@b.c</a>, <a href="b.c">Web b.c</a>, <a href="a b">a b</a>',
		'ann@b.c [n@b.c], Web b.c, a b',
	],
	[
		'an address',
		'<a href="mailto:a@example.com">a@example.com</a>, <a href="#top">up</a>',
		'a@example.com, up',
	],
	[
		'a link on an image',
		'<a href="https://example.com"><img src="x" alt="y"></a>',
		'y [https://example.com]',
	],
	[
		'links on images without a text',
		'<a href="https://a"><img src="x"></a><a href="https://b"><img src="x" alt=" "></a>',
		'https://a https://b',
	],
	[
		'images beside a link',
		'<img alt="x">a<a href=/b><img alt="Save 20 %"><img alt=now></a>c',
		'a Save 20 % now [/b]c',
	],
	[
		'a link around blocks',
		'<a href=/b><table><tr><td><p>Shop</p></td></tr></table></a>x',
		'Shop [/b]\n\nx',
	],
	['links without an end', '<a href=/a>a<a href=/b>b', 'a [/a]b [/b]'],
	[
		'lists',
		'x<ul><li>a<li>b<ol start=3><li>c<br>d</li><li>e</ol></ul>y',
		'x\n\n* a\n* b\n  3. c\n    d\n  4. e\n\ny',
	],
	[
		'a list that starts nowhere',
		'<ol start=1e999><li>a</ol><ol start=-2><li>b</ol>',
		'1. a\n\n-2. b',
	],
	[
		'a quote',
		'x<blockquote>a<p>b<blockquote>c</blockquote></blockquote>y',
		'x\n\n> a\n>\n> b\n>\n> > c\n\ny',
	],
	[
		'a table',
		'<table><tr><th>a</th> <th>b</th></tr><tr><td>c<td><td>d</table>e',
		'a\tb\nc\t\td\ne',
	],
	[
		'cells that hold blocks',
		'<table><tr><td><p>a</p></td><td><div>b</div></td></tr><tr><td><p>c</p><td><h2>d</h2></table><p>e</p>',
		'a\tb\nc\td\n\ne',
	],
	[
		'a cell of two lines',
		'<table><tr><td><div>Mug</div><div>No. 7</div></td><td><p>2</p></td><td><p>9 €</p></td></tr></table>',
		'Mug\nNo. 7\t2\t9 €',
	],
	[
		'empty cells',
		'x<table><tr><td></td><td>Q1</td><td>Q2</td></tr><tr><td>a</td><td>&nbsp;</td><td>2</td></tr><tr><td> </td><td></td><td><p>3</p></td></tr><tr><td>b</td><td>4</td><td></td></tr></table>y',
		'x\n\tQ1\tQ2\na\t\t2\n\t\t3\nb\t4\ny',
	],
	[
		'cells that only make room',
		'<table><tr><td width=20>&nbsp;</td><td><p>a</p><p>b</p></td><td width=20></td></tr><tr><td><p>c</p></td></tr></table>',
		'a\n\nb\n\nc',
	],
	[
		'tables in cells',
		'<table><tr><td><table><tr><td>a</td></tr></table></td><td><table><tr><td>b</td><td>c</td></tr></table></td></tr></table>',
		'a\tb\tc',
	],
	[
		'columns of a page',
		'<table><tr><td><table><tr><td>Mug</td></tr><tr><td>9 €</td></tr></table></td><td><table><tr><td>Cup</td></tr><tr><td>8 €</td></tr></table></td></tr></table>',
		'Mug\n9 €\nCup\n8 €',
	],
	[
		'a row that is cut off',
		'<table><tr><td>a<td></td><tr><td>b<td>c</table><p>d',
		'a\nb\tc\n\nd',
	],
	[
		'a preview that is hidden',
		'<div style="display:none;font-size:1px">Preview <b>text</b><br></div><div style="MAX-HEIGHT: 0px; overflow:hidden">&zwnj;&nbsp;</div><p>a</p>',
		'a',
	],
	[
		'what only a phone shows',
		'<table><tr style="display : none"><td>phone<td>x</tr><tr><td>a<td style="display:none">b<td>c</tr></table><!--[if mso]>d<![endif]--><span hidden>e</span><img hidden>f',
		'a\tc\nf',
	],
	[
		'hidden elements without an end',
		'<p style="display:none">a<div>b</div><ul><li style="display:none">c<ul><li>d</ul><li>e</ul><table><tr><td><div style="display:none">f</td><td>g</table>',
		'b\n\n* e\n\ng',
	],
	[
		'what is not hidden',
		'<p style="max-height:0.5em">a</p><i style="display:nonsense">b</i>',
		'a\n\nb',
	],
	[
		'lines of spaces',
		'a<p>&nbsp;</p><div>&nbsp;</div><br>&nbsp;<br>&#160; <br><p>&nbsp;&zwnj;&nbsp;&zwnj;&nbsp;</p>b',
		'a\n\nb',
	],
	[
		'invisible breaks in a word',
		'super\u200bcali&#8203;fragi<wbr>listic \u200b end\ufeff',
		'supercalifragilistic end',
	],
	['joiners', 'نمی&zwnj;خواهم 👩&zwj;👧', 'نمی\u200cخواهم 👩\u200d👧'],
	['code', '<pre>a\n  b\n\n c</pre>d', 'a\n  b\n\n c\n\nd'],
	['a rule', 'a<hr>b', 'a\n\n--------------------\n\nb'],
	['headings', '<h1>A</h1>b<H2>C</H2>', 'A\n\nb\n\nC'],
	[
		'quotes that end one by one, and more ends than quotes',
		'x<blockquote>a<blockquote>b</blockquote>c</blockquote>y</blockquote>z<blockquote>d',
		'x\n\n> a\n>\n> > b\n>\n> c\n\ny\n\nz\n\n> d',
	],
	[
		'quotes and lists that are very deep',
		`${'<blockquote>'.repeat(6)}a${'</blockquote>'.repeat(6)}${'<ul>'.repeat(7)}<li>b<br>c`,
		`> > > > > a\n\n${'  '.repeat(4)}* b\n${'  '.repeat(5)}c`,
	],
	['code that ends', '</pre>a  b<pre>c  d</pre>e  f', 'a b\n\nc  d\n\ne f'],
	['code with stray ends', '<div><pre>a  b</i></div>\nc  d</pre>e  f', 'a  b\n\nc  d\n\ne f'],
	['code with a table', '<pre><table><tr><td>a  b</table>c  d</pre>', 'a  b\nc  d'],
	['blank lines in code, and a sign', 'x<pre>a\n\n\n\nb&amp;c', 'x\n\na\n\n\n\nb&c'],
	['blank lines elsewhere', 'a<br/><br/><br/><br/>b', 'a\n\nb'],
	['numbers from one', '<ol><li>a</ol><ol start=10><li>b<li>c</ol>', '1. a\n\n10. b\n11. c'],
	['a number that nobody counts to', '<ol start=99999999999999999999><li>a', '1. a'],
	['an item of no list', '<li>a', '* a'],
	['cells of no table', '<tr><td>a<td>b', 'a\tb'],
	['an end of no table', 'a</table>b', 'a\nb'],
	[
		'a table that ends with an empty row',
		'<table><tr><td>a<td>b<tr><td></table><p>c',
		'a\tb\n\nc',
	],
	['a text behind a row whose last cell is empty', '<table><tr><td>a<td></td></tr>b', 'a\nb'],
	[
		'an empty cell where a page only makes room',
		'<table><tr><td><td>a<tr><td>b<td>c</table>',
		'a\nb\tc',
	],
	[
		'an empty cell beside one that has a table',
		'<table><tr><td></td><td><table><tr><td>x</td></tr></table></td><td>b</td></tr></table>',
		'\tx\tb',
	],
	[
		'columns of which one has lines',
		'<table><tr><td><table><tr><td>Mug</td></tr><tr><td>9 €</td></tr></table></td><td>Cup</td><td>8 €</td></tr></table>',
		'Mug\n9 €\nCup\n8 €',
	],
	[
		'a link that is its text in several pieces',
		'a<p><a href="https://a/?b=1&amp;c=2"> https://a/?b=1&amp;c=2</a> <a href=b>b<i>c</i></a>',
		'a\n\nhttps://a/?b=1&c=2 bc [b]',
	],
	[
		'a link whose text is its address, but cut in two',
		'<a href="https://a/b">https://a/<br>b</a> <a href="tel:1"><table><tr><td>tel:<td>1</table></a>',
		'https://a/\nb [https://a/b]\ntel:\t1 [tel:1]',
	],
	[
		'joiners at the beginning',
		'&zwnj;a <p>&zwnj;b &zwnj;c<table><tr><td>d<td>&zwnj;e',
		'a\n\nb c\nd\te',
	],
	[
		'hidden elements in which others end',
		'<div hidden>a<div>b</div>c<br></br>d</p>e</div>f<p hidden>g<br>h</p>i<div><span hidden>j</div>k',
		'fi\nk',
	],
	['very many pieces', 'a&amp;'.repeat(3000), 'a&'.repeat(3000)],
	[
		'very many pieces behind an empty cell',
		`<table><tr><td><td>${'a&amp;'.repeat(1500)}<td>b`,
		`\t${'a&'.repeat(1500)}\tb`,
	],
	['a cell over less than nothing', '<table><tr><td colspan=-1 rowspan=1e9>x<td>y', 'x\ty'],
	['a cell over very many', '<table><tr><td><table><tr><td colspan=1e9 rowspan=1e9>x', 'x'],
	['tags that are cut off', 'a<p', 'a'],
	['signs that are no tags', '1 < 2 > 0 &unknown; &', '1 < 2 > 0 &unknown; &'],
	['nothing', ' <p> </p> ', ''],
	[
		'white space that the style keeps',
		'<div style="white-space: pre-wrap">Name: Ann\n\n<div>Say:</div> hi\n ho<br></div> a\n b<span style="white-space:nowrap">\nc',
		'Name: Ann\n\nSay:\n hi\n ho\na b c',
	],
	[
		'a table in it',
		'<div style="white-space:pre">a\nb<table>\n<tr>\n  <td>A</td>\n  <td>B</td></tr></table></div>',
		'a\nb\nA\tB',
	],
])('%s', (_what, html, text) => {
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
		[
			'no height, in spite of what another property shows',
			'.pre{max-height:0;overflow:hidden} .big{display:block;visibility:visible}',
		],
		['among comments', '<!-- /* a } */ .x{} /* b { */ .pre{/* c */display:none} -->'],
		['behind a block for phones', `${phones}{.a{b:c}.d{e:f}} .pre{display:none}`],
		['against what is for phones', `.pre{display:none} ${phones}{.pre{display:block}}`],
	])('%s', (_what, css) => {
		expect(shown(css, preview)).toBe('a');
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
		['what is shown as important', '.pre{display:block !important;display:none}'],
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
	expect(htmlToText(`<p>deep</p>${`<${tag}>`.repeat(3000)}x`)).toMatch(/^deep\s/);
});

const newsletter = `<!doctype html><html><head><title>Autumn</title><style>@media (max-width:600px){.phone{display:block!important}}</style></head>
<body style="margin:0">
<div style="display:none;max-height:0;overflow:hidden">Up to 40 % off this week&nbsp;&zwnj;&nbsp;&zwnj;&nbsp;&zwnj;</div>
<table role="presentation" width="100%"><tr><td align="center">
	<table role="presentation" width="600">
		<tr><td style="padding:20px"><a href="https://shop.example/"><img src="logo.png" alt="Example Shop" width="120"></a></td></tr>
		<tr><td><a href="https://shop.example/sale"><img src="hero.jpg" alt="Autumn sale: 40 % off"></a></td></tr>
		<tr><td height="20">&nbsp;</td></tr>
		<tr><td><h1>Warm &amp; dry</h1><p>Dear Ann,</p><p>rain is coming.</p></td></tr>
		<tr><td height="20" style="font-size:0">&nbsp;</td></tr>
		<tr>
			<td width="280"><table><tr><td><a href="https://shop.example/1"><img src="1.jpg"></a></td></tr><tr><td><p>Rain coat</p></td></tr><tr><td>49 €</td></tr></table></td>
			<td width="40">&nbsp;</td>
			<td width="280"><table><tr><td><a href="https://shop.example/2"><img src="2.jpg"></a></td></tr><tr><td><p>Boots</p></td></tr><tr><td>79 €</td></tr></table></td>
		</tr>
		<!--[if !mso]><!--><tr class="phone" style="display:none"><td>Rain coat 49 €<br>Boots 79 €</td></tr><!--<![endif]-->
		<tr><td><table><tr><td bgcolor="#000"><a href="https://shop.example/all" style="color:#fff">Shop&nbsp;now</a></td></tr></table></td></tr>
		<tr><td>&nbsp;</td></tr><tr><td>&nbsp;</td></tr>
		<tr><td><a href="https://social.example/a"><img src="a.png"></a><a href="https://social.example/b"><img src="b.png"></a></td></tr>
	</table>
</td></tr></table></body></html>`;

const invoice = `<html xmlns:o="urn:schemas-microsoft-com:office:office"><body lang=DE><div class=WordSection1>
<p class=MsoNormal>Invoice 2026-17<o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p>
<table class=MsoTableGrid border=1>
<tr><td><p class=MsoNormal><o:p>&nbsp;</o:p></p></td><td><p class=MsoNormal><b>Item</b></p></td><td><p class=MsoNormal><b>Net</b></p></td><td><p class=MsoNormal><b>Note</b></p></td></tr>
<tr><td><p class=MsoNormal>1</p></td><td><p class=MsoNormal>Support, May</p></td><td><p class=MsoNormal align=right>1.200,00 €</p></td><td><p class=MsoNormal><o:p>&nbsp;</o:p></p></td></tr>
<tr><td><p class=MsoNormal>2</p></td><td><p class=MsoNormal><o:p>&nbsp;</o:p></p></td><td><p class=MsoNormal>0,00 €</p></td><td><p class=MsoNormal>free</p></td></tr>
<tr><td><p class=MsoNormal><o:p>&nbsp;</o:p></p></td><td><p class=MsoNormal>Sum</p></td><td><p class=MsoNormal>1.200,00 €</p></td></tr>
</table><p class=MsoNormal><o:p>&nbsp;</o:p></p><p class=MsoNormal>Kind regards</p></div></body></html>`;

test.each([
	[
		'a newsletter',
		newsletter,
		`Example Shop [https://shop.example/]
Autumn sale: 40 % off [https://shop.example/sale]

Warm & dry

Dear Ann,

rain is coming.

https://shop.example/1

Rain coat

49 €
https://shop.example/2

Boots

79 €
Shop now [https://shop.example/all]
https://social.example/a https://social.example/b`,
	],
	[
		'an invoice from Word',
		invoice,
		`Invoice 2026-17

\tItem\tNet\tNote
1\tSupport, May\t1.200,00 €
2\t\t0,00 €\tfree
\tSum\t1.200,00 €

Kind regards`,
	],
])('%s', (_what, html, text) => {
	expect(htmlToText(html)).toBe(text);
});
