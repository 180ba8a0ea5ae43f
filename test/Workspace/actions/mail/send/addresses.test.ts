import fc from 'fast-check';

import { addressesOf } from '../../../../../nodes/Workspace/actions/mail/send/addresses';
import { fromTerm, receivedTerms } from '../../../../../nodes/Workspace/actions/mail/list/query';
import { decodedText, decodedWords } from '../../../../../nodes/untrusted/mail/charset';
import { checkedHeaders, oneLine } from '../../../../../nodes/Workspace/actions/mail/send/fields';

const local = fc.stringMatching(/^[a-z0-9]+([.+_-][a-z0-9]+){0,2}$/);
const domain = fc.stringMatching(/^[a-z][a-z0-9]{0,9}(\.[a-z]{2,6}){1,2}$/);
const address = fc.tuple(local, domain).map((parts) => parts.join('@'));
/** Letters of many scripts, and what means something in an address. */
const name = fc.stringMatching(/^[A-Za-zÀ-žа-я 一-龥😀,;:<>()@."\\'-]{0,20}$/u).map((text) => text.trim());
const quoted = (text: string) => `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;

describe('a list of addresses', () => {
	it('comes apart as it was put together, whatever stands in the names', () => {
		fc.assert(
			fc.property(
				fc.array(fc.tuple(name, address), { minLength: 1, maxLength: 5 }),
				fc.constantFrom(',', ', ', '\n', ',\r\n'),
				(list, separator) => {
					const text = list.map(([who, at]) => (who === '' ? at : `${quoted(who)} <${at}>`)).join(separator);
					expect(addressesOf(text, 'To')).toEqual(list.map(([who, at]) => ({ name: who, address: at })));
				},
			),
		);
	});

	it.each([
		['J. Doe <j@x.org>', 'J. Doe'],
		['Tom & Ann <t@x.org>', 'Tom & Ann'],
		['Ann (Sales) <a@x.org>', 'Ann (Sales)'],
		["O'Neil <o@x.org>", "O'Neil"],
		['<a@x.org>', ''],
	])('takes %s', (text, who) => {
		expect(addressesOf(text, 'To')).toEqual([
			{ name: who, address: expect.stringContaining('@x.org') as unknown },
		]);
	});

	it.each(['a@', '@x.org', 'a b@x.org', 'a@x..org', 'a@x.org>', '<a@x.org', 'a@x.org;', 'a@x.org\u0000'])(
		'refuses %j and names it',
		(text) => {
			expect(() => addressesOf(`good@x.org, ${text}`, "'CC'")).toThrow(
				`'CC' has an entry that is not an email address: ${text.slice(0, 100)}`,
			);
		},
	);

	it('refuses what no mail program would send', () => {
		const text = `${'('.repeat(5000)}a@x.org`;
		expect(() => addressesOf(text, 'To')).toThrow('not an email address: ((((');
	});

	it('never yields an address or a name with a line break', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
				try {
					for (const { name: who, address: at } of addressesOf(text, "'To'"))
						expect(who + at).not.toMatch(/[\r\n\0]/);
				} catch (error) {
					expect((error as Error).message).toMatch(/^'To' has an entry/);
				}
			}),
		);
	});
});

it('no sender can add a term to the search', () => {
	fc.assert(
		fc.property(fc.string({ maxLength: 40 }), (text) => {
			const terms = fromTerm(text);
			expect(terms.length === 0 || /^from:"[^"\r\n]+"$/.test(terms[0] ?? '')).toBe(true);
		}),
	);
});

it('times become epoch seconds', () => {
	const terms = receivedTerms({
		receivedAfter: '2026-01-01T00:00:00.500Z',
		receivedBefore: '2026-01-01T00:00:02.000Z',
	});
	expect(terms).toEqual(['after:1767225601', 'before:1767225602']);
});

it('header fields stay on one line', () => {
	fc.assert(
		fc.property(
			fc.string({ unit: 'binary', maxLength: 20 }),
			fc.constantFrom('\r', '\n', '\0', '\u2028'),
			(text, bad) => {
				expect(() => oneLine(text + bad, "'Subject'")).toThrow("'Subject' contains a line break");
				expect(() => checkedHeaders([{ name: 'X-A', value: bad + text }])).toThrow(
					"The header 'X-A' contains a line break",
				);
			},
		),
	);
});

it('text in UTF-8 comes through under any name of a charset with one byte', () => {
	fc.assert(
		fc.property(
			fc.string({ unit: 'grapheme' }).filter((text) => !text.startsWith('\ufeff')),
			fc.constantFrom('', 'utf-8', 'UTF8', 'us-ascii', 'iso-8859-1', 'windows-1252'),
			(text, charset) => {
				expect(decodedText(Buffer.from(text), charset)).toBe(text);
			},
		),
	);
});

it('encoded words are decoded, other text stays', () => {
	fc.assert(
		fc.property(
			fc.string({ unit: 'grapheme', maxLength: 30 }).filter((text) => !text.includes('=?')),
			(text) => {
				expect(decodedWords(text)).toBe(text);
				expect(decodedWords(`=?utf-8?B?${Buffer.from(text).toString('base64')}?=`)).toBe(
					text.replace(/^\ufeff/, ''),
				);
			},
		),
	);
	expect(decodedWords('=?utf-8?Q?a_=C3=BC?= =?iso-8859-1*de?q?=FC?= x')).toBe('a üü x');
	expect(decodedWords('=?broken?=')).toBe('=?broken?=');
});
