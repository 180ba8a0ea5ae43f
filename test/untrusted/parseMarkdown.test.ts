import { markdownToHtml } from '../../nodes/untrusted/markdown/parseMarkdown';

test.each([
	['```', 'a\n\n  b'],
	['~~~~', '\na\nb'],
	['```js', 'a\n'],
])('code of %s below the text of an item keeps its line breaks in HTML', (fence, code) => {
	const inItem = `${fence}\n${code}\n${fence.replace('js', '')}`.replaceAll('\n', '\n  ');
	expect(markdownToHtml(`- text\n  ${inItem}\n- next`)).toContain(`>${code}\n</code></pre>`);
});
