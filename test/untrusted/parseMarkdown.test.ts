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
