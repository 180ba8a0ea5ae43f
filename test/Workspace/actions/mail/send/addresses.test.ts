import { domainToASCII } from 'node:url';
import { parseAddressList } from 'email-addresses';
import fc from 'fast-check';

import { decodeHeader } from '../../../../../nodes/untrusted/mail/charset';
import {
	buildSenderTerms,
	buildReceivedTerms,
} from '../../../../../nodes/Workspace/actions/mail/list/query';
import { requireAddresses } from '../../../../../nodes/Workspace/actions/mail/addresses';
import {
	readCustomHeaders,
	requireOneLine,
} from '../../../../../nodes/Workspace/actions/mail/send/prepareMail';
import { expectLinear } from '../../../../growth';
import { Mails } from '../mails';

describe('addresses', () => {
	const local = fc.stringMatching(/^[a-z0-9]+([.+_-][a-z0-9]+){0,2}$/);
	const domain = fc.stringMatching(/^[a-z][a-z0-9]{0,9}(\.[a-z]{2,6}){1,2}$/);
	const address = fc.tuple(local, domain).map((parts) => parts.join('@'));
	/** Letters of many scripts, and what means something in an address. */
	const name = fc
		.stringMatching(/^[A-Za-zÀ-žа-я 一-龥😀,;:<>()@."\\'-]{0,20}$/u)
		.map((text) => text.trim());
	const quoted = (text: string) => `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;

	describe('a list of addresses', () => {
		it('comes apart as it was put together, whatever stands in the names', () => {
			fc.assert(
				fc.property(
					fc.array(fc.tuple(name, address), { minLength: 1, maxLength: 5 }),
					fc.constantFrom(',', ', ', '\n', ',\r\n'),
					(list, separator) => {
						const text = list
							.map(([who, at]) => (who === '' ? at : `${quoted(who)} <${at}>`))
							.join(separator);
						expect(requireAddresses(text, 'To')).toEqual(
							list.map(([who, at]) => ({ name: who, address: at })),
						);
					},
				),
			);
		});

		it('names the field and the entry that is none', () => {
			expect(() => requireAddresses('good@x.org, a@x..org', "'CC'")).toThrow(
				"'CC' has an entry that is not an email address: a@x..org",
			);
		});

		it('never yields an address or a name with a line break', () => {
			fc.assert(
				fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
					try {
						for (const { name: who, address: at } of requireAddresses(text, "'To'"))
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
				const terms = buildSenderTerms(text);
				expect(terms.length === 0 || /^from:"[^"\r\n]+"$/.test(terms[0] ?? '')).toBe(true);
			}),
		);
	});

	it('times become epoch seconds', () => {
		const terms = buildReceivedTerms({
			received: 'between',
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
					expect(() => requireOneLine(text + bad, "'Subject'")).toThrow(
						"'Subject' contains a line break",
					);
					expect(() => readCustomHeaders([{ name: 'X-A', value: bad + text }])).toThrow(
						"The header 'X-A' contains a line break",
					);
				},
			),
		);
	});

	it('encoded words are decoded, other text stays', () => {
		fc.assert(
			fc.property(
				fc
					.string({ unit: 'grapheme', maxLength: 30 })
					.filter((text) => !text.includes('=?')),
				(text) => {
					expect(decodeHeader(text)).toBe(text);
					expect(
						decodeHeader(`=?utf-8?B?${Buffer.from(text).toString('base64')}?=`),
					).toBe(text.replace(/^\ufeff/, ''));
				},
			),
		);
	});
});

/** What the user writes, the address, the name. */
type Form = [text: string, address: string, name?: string];

const plain: Form[] = [
	['j@x.example', 'j@x.example'],
	['  j@x.example\t', 'j@x.example'],
	['Jane\tDoe <j@x.example>', 'j@x.example', 'Jane Doe'],
	['<j@x.example>', 'j@x.example'],
	['< j@x.example >', 'j@x.example'],
	['J.Doe+tag@X.Example', 'J.Doe+tag@x.example'],
	["o'neil!#$%&*/=?^_`{|}~-@x.example", "o'neil!#$%&*/=?^_`{|}~-@x.example"],
	['1@2.example', '1@2.example'],
	['a@b', 'a@b'],
	['a@my_host.example', 'a@my_host.example'],
	['a@x--y.example', 'a@x--y.example'],
	[`${'l'.repeat(64)}@x.example`, `${'l'.repeat(64)}@x.example`],
	[`a@${'d'.repeat(63)}.example`, `a@${'d'.repeat(63)}.example`],
	...[`${'l'.repeat(64)}@${`${'d'.repeat(60)}.`.repeat(3)}ab.cde`].map((at): Form => [at, at]),
];
const comments: Form[] = [
	['a@b.example (x@evil.example)', 'a@b.example'],
	['Jane <j@x.example> (Sales)', 'j@x.example', 'Jane'],
	['Jane (Sales) <j@x.example>', 'j@x.example', 'Jane (Sales)'],
	['Jane (x@evil.example) <j@x.example>', 'j@x.example', 'Jane (x@evil.example)'],
	['Jane ( <j@x.example>', 'j@x.example', 'Jane ('],
];
const displayNames: Form[] = [
	['Jane Doe <j@x.example>', 'j@x.example', 'Jane Doe'],
	['Jane  Doe<j@x.example>', 'j@x.example', 'Jane Doe'],
	['J. R. Doe <j@x.example>', 'j@x.example', 'J. R. Doe'],
	['"Doe, Jane" <j@x.example>', 'j@x.example', 'Doe, Jane'],
	['"Jane \\"JJ\\" Doe" <j@x.example>', 'j@x.example', 'Jane "JJ" Doe'],
	['"" <j@x.example>', 'j@x.example'],
	["'Jane Doe' <j@x.example>", 'j@x.example', "'Jane Doe'"],
	['info@firma.example <info@firma.example>', 'info@firma.example', 'info@firma.example'],
	['Info@Firma.example <info@firma.example>', 'info@firma.example', 'Info@Firma.example'],
	['"info@firma.example" <no-reply@tool.example>', 'no-reply@tool.example', 'info@firma.example'],
	['jane@x.example via Docs <docs@y.example>', 'docs@y.example', 'jane@x.example via Docs'],
	['Team [HR] <hr@x.example>', 'hr@x.example', 'Team [HR]'],
	['[Ticket #4711] Support <s@x.example>', 's@x.example', '[Ticket #4711] Support'],
	['Tom & Ann <t@x.example>', 't@x.example', 'Tom & Ann'],
	['A/B | C – D <a@x.example>', 'a@x.example', 'A/B | C – D'],
	['Jörg Müller <j@x.example>', 'j@x.example', 'Jörg Müller'],
	['山田 太郎 <y@x.example>', 'y@x.example', '山田 太郎'],
	['😀 Smile <s@x.example>', 's@x.example', '😀 Smile'],
	['Müller, Jörg <j@x.example>', 'j@x.example', 'Müller, Jörg'],
	['Doe, John R. (Sales) <j@x.example>', 'j@x.example', 'Doe, John R. (Sales)'],
	[`${'n'.repeat(984)} <j@x.example>`, 'j@x.example', 'n'.repeat(984)],
	[`${'n'.repeat(998)}, J <j@x.example>`, 'j@x.example', `${'n'.repeat(998)}, J`],
	['=?utf-8?Q?J=C3=B6rg?= <j@x.example>', 'j@x.example', 'Jörg'],
	['=?utf-8?B?SsO2cmc=?= =?utf-8?Q?_M?= <j@x.example>', 'j@x.example', 'Jörg M'],
	['"=?utf-8?Q?J=C3=B6rg?=" <j@x.example>', 'j@x.example', '=?utf-8?Q?J=C3=B6rg?='],
];
const quotedLocals = [
	...['"a b"@x.example', '"a@b"@x.example', '"a,b"@x.example', '"a\\"@b"@x.example'],
	...['"a..b"@x.example', 'Jane <"a b"@x.example>', 'a@[192.0.2.1]', 'a@[IPv6:2001:db8::1]'],
];
const international: Form[] = [
	['info@müller.example', 'info@xn--mller-kva.example'],
	['info@MÜLLER.example', 'info@xn--mller-kva.example'],
	['info@faß.example', 'info@xn--fa-hia.example'],
	['info@例え.example', 'info@xn--r8jz45g.example'],
	['info@xn--mller-kva.example', 'info@xn--mller-kva.example'],
	['jörg@x.example', 'jörg@x.example'],
	['用户@例え.example', '用户@xn--r8jz45g.example'],
];
const accepted: Form[] = [...plain, ...comments, ...displayNames, ...international];

const refused: string[] = [
	...quotedLocals,
	...['j @ x.example', 'a@b.example(x@evil.example)', '(x@evil.example) a@b.example'],
	...['a(x)@b.example', 'a@(x)b.example', 'Jane <j@x.example(Sales)>', 'a', 'a@', '@x.example'],
	...['@', 'a b@x.example', 'a@x example', 'a @b @c.example', 'a@b@c.example', 'a@@x.example'],
	...['a@x@', '.a@x.example', 'a.@x.example', 'a..b@x.example', 'a@x..example', 'a@.x.example'],
	...['a@x.example.', 'a@-x.example', 'a@x-.example', 'a@x!y.example', 'a@x,'.slice(0, 3) + ';'],
	...[`${'l'.repeat(65)}@x.example`, `a@${'d'.repeat(64)}.example`],
	...[`a@${'d.'.repeat(126)}example`, `${'ü'.repeat(33)}@x.example`],
	...[`${'l'.repeat(60)}@${`${'d'.repeat(60)}.`.repeat(3)}example.org`, 'ann@192.0.2.1'],
	...['Ann <ann@1.2.3.4>', 'a@127.1', 'a@2130706433', 'a@[192.0.2.256]', 'a@[2001:db8::1]'],
	...['a@[x]', 'a@[]', 'a@[192.0.2.1', 'a@[x@evil.example]', 'a@x.example>', '<a@x.example'],
	...['<<a@x.example>>', '<a@x.example>>', '<>', 'Jane <>', 'Jane <a>'],
	...['<a@x.example><b@x.example>', 'Jane <a@x.example> <b@x.example>', 'Jane <a@x.example> Doe'],
	...['<a@x.example> b@x.example', 'a@x.example b@y.example', 'a@x.example; b@y.example'],
	...['a@x.example;', 'a@x.example / b@y.example', 'Team: a@x.example'],
	...['Team: Ann <a@x.example>;', 'Team: Ann <a@x.example>', 'undisclosed-recipients:;'],
	...['mailto:a@x.example', 'Jane: <a@x.example>', 'Jane; Doe <a@x.example>'],
	...['<mailto:a@x.example>', '<@a.example,@b.example:j@x.example>', '<@a.example:j@x.example>'],
	...['[a@x.example](a@x.example)', '"a@x.example', 'a"@x.example', '"a"b@x.example'],
	...['a"b"@x.example', '"a".b@x.example', '"a<b>"@x.example', '"Doe, Jane <j@x.example>'],
	...['Jane" <j@x.example>', 'Jane "JJ" Doe <j@x.example>', '"Jane" "Doe" <j@x.example>'],
	...['Jane ("x, <y@evil.example>") <j@x.example>', 'Jane\\ Doe <j@x.example>', 'a\\@x.example'],
	...['a\\,b@x.example', 'a(x)b@x.example', 'a.(x)b@x.example', 'a@x.example\u0000'],
	...['a\u0007@x.example', 'Jane\u001b <j@x.example>', 'a@x.exam\tple', 'a@x.\u007fexample'],
	...['a@x.example\u0085', 'Jane\u2028Bcc <j@x.example>', '"Jane\u2029" <j@x.example>'],
	...['Jane\ud800 <j@x.example>', 'a\u00a0@x.example', 'a\u200b@x.example', 'a@x\u00ad.example'],
	...[
		'a\u202e@x.example',
		'a@ex\uff41mple.example',
		'a＠x.example',
		'a@x。example',
		'a@ﬁ.example',
	],
	...['a@xn--.example', 'a@x，b@y.example', 'a@①.example'],
	...['=?utf-8?Q?a=40evil.example?=@x.example', '=?utf-8?Q?x=0D=0ABcc:_e?= <j@x.example>'],
	...['=?utf-8?B?AA==?= <j@x.example>', 'Ann, Bob, Cleo <c@x.example>', 'Müller, <j@x.example>'],
	...['Müller, j@x.example', 'Doe, a@x.example <a@x.example>'],
	`${'l'.repeat(64)}@${`${'d'.repeat(60)}.`.repeat(3)}ab.cdef`,
	...[`${'n'.repeat(999)}, J <j@x.example>`, `${'n'.repeat(985)} <j@x.example>`],
	`"${'\\"'.repeat(600)}" <j@x.example>`,
];

describe('an address', () => {
	it.each(accepted)('%s is %s', (text, address, name = '') => {
		expect(requireAddresses(text, 'To')).toEqual([{ name, address }]);
	});

	it.each(refused)('%j is none', (text) => {
		expect(() => requireAddresses(text, 'To')).toThrow(
			'To has an entry that is not an email address: ',
		);
	});
});

describe('a list', () => {
	it.each<[string, string[]]>([
		['a@x.example, b@x.example\nc@x.example\r\n\r\nd@x.example,,', ['a', 'b', 'c', 'd']],
		['"Doe, Jane" <a@x.example>,b@x.example (x y)', ['a', 'b']],
		['Müller, Jörg <a@x.example>\nb@x.example', ['a', 'b']],
		['', []],
		[' ,\n, ', []],
	])('%j', (text, locals) => {
		expect(requireAddresses(text, 'To').map(({ address }) => address)).toEqual(
			locals.map((local) => `${local}@x.example`),
		);
	});

	it.each([
		'a@x.example, Müller, Jörg <j@x.example>',
		'Müller, Jörg <j@x.example>, a@x.example',
		'Müller,\nJörg <j@x.example>',
		'a@x.example\r\nBcc: e@x.example',
		'a@x.example, , b',
	])('%j is refused', (text) => {
		expect(() => requireAddresses(text, 'To')).toThrow('not an email address');
	});

	it.each(['\\"', '(', '<"'])('of %j takes linear time', (unit) => {
		const refusal = (text: string) => {
			expect(() => requireAddresses(text, 'To')).toThrow('not an email address');
		};
		expectLinear(unit, (text) => text, refusal);
	});
});

describe('on the wire', () => {
	const mails = new Mails();

	it('each address is the one that was read, in To and in Reply-To', async () => {
		const to = accepted.map(([text]) => text);
		// As text: n8n takes a value that starts with = for an expression.
		await mails.json(
			JSON.stringify({ operation: 'send', to, replyTo: to, subject: 'S', body: 'B' }),
		);
		for (const name of ['To', 'Reply-To']) {
			const [line = ''] = linesOf(mails.only, name);
			for (const [, address] of accepted) expect(line).toContain(wireForm(address));
		}
		expect(mails.only.recipients).toEqual(accepted.map(([, address]) => wireForm(address)));
	});

	it('a sender with a comma in the name, as Read shows it, can be answered', async () => {
		const id = mails.google.gmail.seed({
			from: '=?utf-8?Q?M=C3=BCller=2C_J=C3=B6rg?= <j@x.example>',
			subject: 'S',
		});
		const [read] = await mails.run('read', { messageId: id });
		expect(read?.json['sender']).toBe('"Müller, Jörg" <j@x.example>');
		await mails.run('send', { to: read?.json['sender'], subject: 'Re: S', body: 'B' });
		expect(mails.google.gmail.sent[0]?.recipients).toEqual(['j@x.example']);
	});

	it('several recipients, as Read shows them, can be written to', async () => {
		const to =
			'=?utf-8?Q?M=C3=BCller=2C_J=C3=B6rg?= <j@x.example>, "A" "B, C" <c@x.example>, a@x.example';
		const [read] = await mails.run('read', { messageId: mails.google.gmail.seed({ to }) });
		expect(read?.json['to']).toBe(
			'"Müller, Jörg" <j@x.example>, "A B, C" <c@x.example>, a@x.example',
		);
		await mails.run('send', { to: read?.json['to'], subject: 'S', body: 'B' });
		expect(mails.only.recipients).toEqual(['j@x.example', 'c@x.example', 'a@x.example']);
	});
});

/** The lines of a header, each with what was folded. */
function linesOf({ raw }: { raw: Buffer }, name: string): string[] {
	const [head = ''] = raw.toString('utf8').split('\r\n\r\n', 1);
	const lines = head.replaceAll(/\r\n(?=[ \t])/g, '').split('\r\n');
	return lines.filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}: `));
}

/** Where the part before the @ needs letters beyond ASCII, the domain may have them, too (RFC 6532). */
const wireForm = (address: string) =>
	address === '用户@xn--r8jz45g.example' ? '用户@例え.example' : address;

// Whatever a user writes: what goes out is the address that another parser reads in it, or nothing goes out.
describe('any text', () => {
	const any = (weight: number, ...texts: string[]) => ({
		weight,
		arbitrary: fc.constantFrom(...texts),
	});
	const pieces = fc.oneof(
		any(6, 'a@x.example', 'b.c+d@y.example', 'info@müller.example'),
		any(3, '"a b"@x.example', '"a@b"@x.example', '"a,b\\""@x.example', 'a@b@c'),
		any(3, '<a@x.example>', '<b@y.example>', '< "q r"@x.example >', '<@r.example:a@x.example>'),
		any(3, '(c)', '(x@evil.example)', '(a (b) \\) )', '(', ')', '"', '\\', '<', '>'),
		any(2, 'Jane', 'Doe', 'Jörg', '山田', '"Doe, J."'),
		any(1, '"<x@evil.example>"', '=?utf-8?Q?J=C3=B6rg?='),
		any(3, ',', ', ', ';', ':', 'Team: ', '@', '.', ' ', '  ', '\t'),
		any(
			1,
			...[
				'\r\n ',
				'\n',
				'\u00a0',
				'\u200b',
				'\u2028',
				'\u202e',
				'\u0000',
				'\u0007',
				'＠',
				'。',
			],
		),
	);
	const soup = fc.array(pieces, { minLength: 1, maxLength: 5 }).map((all) => all.join(''));

	function accepted(text: string): string[] | undefined {
		try {
			return requireAddresses(text, 'To').map(({ address }) => address);
		} catch (error) {
			const { message } = error as Error;
			expect(message).toMatch(/^To has an entry that is not an email address/);
			return undefined;
		}
	}

	/** Undefined where the parser finds no list of mailboxes. */
	function independent(text: string): string[] | undefined {
		const read = parseAddressList({ input: text, rfc6532: true });
		if (!read || read.some(({ type }) => type === 'group')) return undefined;
		return read.flatMap((one) => (one.type === 'group' ? [] : [sameForm(one.address.trim())]));
	}

	/** A domain in one form, a quoted part before the @ without its quotes: the same mailbox (RFC 5321, 4.1.2). */
	function sameForm(address: string): string {
		const at = address.lastIndexOf('@');
		const local = address
			.slice(0, at)
			.replace(/^"(.*)"$/s, '$1')
			.replaceAll(/\\(.)/gs, '$1');
		const domain = address.slice(at + 1);
		return `${local}@${domainToASCII(domain) || domain}`;
	}

	it('an address that is taken is the one that another parser reads', () => {
		fc.assert(
			fc.property(soup, (text) => {
				const ours = accepted(text);
				fc.pre(ours !== undefined && ours.length > 0);
				const theirs = independent(text);
				fc.pre(theirs !== undefined);
				expect(ours.map(sameForm)).toEqual(theirs);
			}),
			// Texts that one of the two refuses do not count: fast-check goes on until so many are read by both.
			{ numRuns: 100 },
		);
	});

	describe('on the wire', () => {
		const mails = new Mails();

		it('stands exactly what was asked for, in every field, and nobody else gets it', async () => {
			await fc.assert(
				fc.asyncProperty(soup, async (text) => {
					const asked = accepted(text);
					fc.pre(asked !== undefined && asked.length > 0);
					const fields = { to: text, cc: text, replyTo: text };
					const input = { operation: 'send', ...fields, subject: 'S', body: 'B' };
					await mails.json(JSON.stringify(input));
					const mail = mails.google.gmail.sent.at(-1);
					if (!mail) throw new Error('nothing was sent');
					for (const name of ['To', 'Cc', 'Reply-To']) {
						const read = linesOf(mail, name).map((line) =>
							independent(line.slice(name.length + 2)),
						);
						expect(read).toEqual([asked.map(sameForm)]);
					}
					expect(linesOf(mail, 'Bcc')).toEqual([]);
				}),
				{ numRuns: 20 },
			);
			expect(mails.google.gmail.sent.length).toBeGreaterThanOrEqual(20);
		});
	});
});
