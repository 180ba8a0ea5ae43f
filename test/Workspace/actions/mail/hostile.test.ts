import { Mails } from './mails';
import { html } from './parts';

const mails = new Mails();

const mailOf = (body: string) => mails.google.gmail.seed({ raw: html(body).replaceAll('\n', '\r\n') });

describe('HTML that a stranger made up', () => {
	it.each([
		['a cell over all rows that there could be', '<table><tr><td rowspan=100000000>x', 'x'],
		['a cell over many columns', '<table><tr><td colspan=40000>x', 'x'],
		['a cell over fewer than no columns', '<table><tr><td colspan=-1 rowspan=1e9>x<td>y', 'x\ty'],
		['a cell in a table in a cell', '<table><tr><td><table><tr><td colspan=1e9 rowspan=1e9>x', 'x'],
	])('%s is read', async (_what, body, text) => {
		const [item] = await mails.run('read', { messageId: mailOf(body) });
		expect(item?.json['text']).toBe(text);
	});

	it.each(['div', 'blockquote', 'table><tr><td', 'ul><li', 'a href=x', 'b'])(
		'3,000 <%s> in each other spoil no list',
		async (tag) => {
			mailOf('<p>one</p>');
			mailOf(`<p>deep</p>${`<${tag}>`.repeat(3000)}x`);
			mailOf('<p>three</p>');
			const items = await mails.run('list', {}, { includeBody: true });
			expect(items.map(({ json }) => json['text'])).toEqual(['three', expect.stringMatching(/^deep/), 'one']);
		},
	);
});
