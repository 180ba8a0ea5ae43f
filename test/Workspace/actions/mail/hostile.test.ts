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

	it('that takes too long: the mails of one list share the time that is lost to it', async () => {
		for (let n = 0; n < 20; n++) mailOf('<p>text</p>');
		// Each look at the clock is a minute after the last one, so that every text takes too long.
		let now = 0;
		const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 60_000));
		const read = async () =>
			(await mails.run('list', {}, { includeBody: true })).map(({ json }) => json['text']);
		try {
			const first = await read();
			expect(first).toHaveLength(20);
			const begun = first.filter((text) => text === 'text').length;
			expect(begun).toBeGreaterThan(1);
			expect(begun).toBeLessThan(20);
			expect(first.slice(0, begun)).toEqual(Array.from({ length: begun }, () => 'text'));
			// Another list has its own.
			expect((await read())[0]).toBe('text');
		} finally {
			clock.mockRestore();
		}
	});
});
