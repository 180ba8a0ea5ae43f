import { markdownToBlocks } from '../../nodes/untrusted/markdown/markdownToBlocks';
import { markdownToHtml } from '../../nodes/untrusted/markdown/parseMarkdown';

test.each([
	['```', 'a\n\n  b'],
	['~~~~', '\na\nb'],
	['```js', 'a\n'],
])('code of %s below the text of an item keeps its line breaks in HTML', (fence, code) => {
	const inItem = `${fence}\n${code}\n${fence.replace('js', '')}`.replaceAll('\n', '\n  ');
	expect(markdownToHtml(`- text\n  ${inItem}\n- next`)).toContain(`>${code}\n</code></pre>`);
});

test.each(['参加者10~20名、予算30~40万円', 'rsync a:~/x b:~/x'])(
	'single tildes in %j stay',
	(text) => {
		expect(markdownToHtml(text)).toBe(`<p>${text}</p>`);
		expect(markdownToBlocks(text).blocks).toMatchObject([{ spans: [{ text, marks: {} }] }]);
		expect(markdownToHtml('~~a~~')).toBe('<p><del>a</del></p>');
	},
);

test.each([
	[
		'Best,\nBo  \n**Sales**\\\nOslo',
		'<p>Best,<br>\nBo  <br>\n<strong>Sales</strong><br>\nOslo</p>',
	],
	['- a\n  b\n- c', '<ul>\n<li>a<br>\nb</li>\n<li>c</li>\n</ul>'],
	['> a\n> b', '<blockquote>\n<p>a<br>\nb</p>\n</blockquote>'],
	['a<br> \nb', '<p>a<br>\nb</p>'],
	[
		'`a\nb` ![c\nd](https://x.org)',
		'<p><code>a b</code> <img src="https://x.org" alt="c\nd" /></p>',
	],
	['    a\n    b', '<pre><code>a\nb\n</code></pre>'],
	['|a|\n|-|', '<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table>'],
])('the lines of a text stay lines in HTML: %j', (markdown, html) => {
	expect(markdownToHtml(markdown)).toBe(html);
});
