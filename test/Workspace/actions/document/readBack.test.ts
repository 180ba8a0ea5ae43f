import { testItem } from '../../client';
import { Calls } from './calls';

const calls = new Calls();

async function writeAndRead(content: string, item = testItem()): Promise<unknown> {
	const id = calls.document();
	await calls.write(id, { content, contentFormat: 'markdown' }, item);
	return (await calls.read(id, { format: 'markdown' })).content;
}

test.each([
	'[a](https://example.com/?b=1&c=2)',
	'<https://example.com/?b=1&c=2&d>',
	'AT&T and R&D',
	'R&D',
	'a & b && c',
	String.raw`a \&amp; b \&#38; c \&copy;`,
	'`a\\&b` & c',
	'```\na\\&b\n```',
])(
	'an ampersand has a backslash only where it would begin a character reference: %j',
	async (content) => {
		expect(await writeAndRead(content)).toBe(content);
	},
);

test.each([
	['\\&x', String.raw`\\&x`],
	['x \\', 'x \\\\'],
	['a&amp;b', String.raw`a\&amp;b`],
])('text of a document keeps its meaning: %j', async (text, written) => {
	const read = await calls.read(calls.document(text), { format: 'markdown' });
	expect(read.content).toBe(written);
	expect(await writeAndRead(written)).toBe(written);
});

test('what a document has no place for is named', async () => {
	const item = testItem();
	expect(await writeAndRead('[a](https://example.com "Title")\n\n```js\n1\n```', item)).toBe(
		'[a](https://example.com)\n\n```\n1\n```',
	);
	expect(item.hints).toEqual([
		'Google Docs has no place for these parts of the Markdown, so they became text or were left out: titles of links, languages of code blocks.',
	]);
});

test('two code blocks stay two', async () => {
	const content = '```\na\n```\n\n```\nb\n```';
	expect(await writeAndRead(content)).toBe(content);
});
