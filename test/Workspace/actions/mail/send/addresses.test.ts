import { domainToASCII } from 'node:url';
import { parseAddressList } from 'email-addresses';
import fc from 'fast-check';

import { buildSenderTerms } from '../../../../../nodes/Workspace/actions/mail/list/query';
import {
	type Address,
	requireAddresses,
} from '../../../../../nodes/Workspace/actions/mail/addresses';
import {
	readCustomHeaders,
	requireOneLine,
} from '../../../../../nodes/Workspace/actions/mail/send/prepareMail';
import { expectLinear } from '../../../../growth';
import { Mails } from '../mails';

/** What the user writes, the address, the name. */
type Form = [text: string, address: string, name?: string];

const [longLocal, longLabel] = ['l'.repeat(64), 'd'.repeat(63)];
const longAddress = `${longLocal}@${`${'d'.repeat(60)}.`.repeat(3)}ab.cde`;
const unchanged = [
	...['j@x.example', "o'neil!#$%&*/=?^_`{|}~-@x.example", '1@2.example', 'a@b', 'a@x--y.example'],
	...['a@my_host.example', `${longLocal}@x.example`, `a@${longLabel}.example`, longAddress],
];
const plain: Form[] = [
	...unchanged.map((address): Form => [address, address]),
	['  j@x.example\t', 'j@x.example'],
	['Jane\tDoe <j@x.example>', 'j@x.example', 'Jane Doe'],
	['<j@x.example>', 'j@x.example'],
	['< j@x.example >', 'j@x.example'],
	['J.Doe+tag@X.Example', 'J.Doe+tag@x.example'],
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
const forms: Form[] = [...plain, ...comments, ...displayNames, ...international];

const refused: string[] = [
	...quotedLocals,
	...['j @ x.example', 'a@b.example(x@evil.example)', '(x@evil.example) a@b.example'],
	...['a(x)@b.example', 'a@(x)b.example', 'Jane <j@x.example(Sales)>', 'a', 'a@', '@x.example'],
	...['@', 'a b@x.example', 'a@x example', 'a @b @c.example', 'a@b@c.example', 'a@@x.example'],
	...['a@x@', '.a@x.example', 'a.@x.example', 'a..b@x.example', 'a@x..example', 'a@.x.example'],
	...['a@x.example.', 'a@-x.example', 'a@x-.example', 'a@x!y.example', 'a@x;'],
	...[`${longLocal}l@x.example`, `a@${longLabel}d.example`],
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
	...['a\u202e@x.example', 'a@ex\uff41mple.example', 'a＠x.example', 'a@x。example'],
	...['a@ﬁ.example', 'a@xn--.example', 'a@x，b@y.example', 'a@①.example'],
	...['=?utf-8?Q?a=40evil.example?=@x.example', '=?utf-8?Q?x=0D=0ABcc:_e?= <j@x.example>'],
	...['=?utf-8?B?AA==?= <j@x.example>', 'Ann, Bob, Cleo <c@x.example>', 'Müller, <j@x.example>'],
	...['Müller, j@x.example', 'Doe, a@x.example <a@x.example>'],
	`${longAddress}f`,
	...[`${'n'.repeat(999)}, J <j@x.example>`, `${'n'.repeat(985)} <j@x.example>`],
	`"${'\\"'.repeat(600)}" <j@x.example>`,
];

const notAnAddress = /^To has an entry that is not an email address: /;

/** Undefined where an entry is no address. */
function read(text: string) {
	try {
		return requireAddresses(text, 'To');
	} catch (error) {
		expect((error as Error).message).toMatch(notAnAddress);
		return undefined;
	}
}

describe('an address', () => {
	it.each(forms)('%s is %s', (text, address, name = '') => {
		expect(read(text)).toEqual([{ name, address }]);
	});

	it.each(refused)('%j is none', (text) => {
		expect(read(text)).toBeUndefined();
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
		const addresses = locals.map((local) => `${local}@x.example`);
		expect(read(text)?.map(({ address }) => address)).toEqual(addresses);
	});

	it.each([
		'a@x.example, Müller, Jörg <j@x.example>',
		'Müller, Jörg <j@x.example>, a@x.example',
		'Müller,\nJörg <j@x.example>',
		'a@x.example\r\nBcc: e@x.example',
		'a@x.example, , b',
	])('%j is refused', (text) => {
		expect(read(text)).toBeUndefined();
	});

	it.each(['\\"', '(', '<"'])('of %j takes linear time', (unit) => {
		expectLinear(
			unit,
			(text) => text,
			(text) => {
				expect(read(text)).toBeUndefined();
			},
		);
	});

	it('comes apart as it was put together, whatever stands in the names', () => {
		const local = fc.stringMatching(/^[a-z0-9]+([.+_-][a-z0-9]+){0,2}$/);
		const domain = fc.stringMatching(/^[a-z][a-z0-9]{0,9}(\.[a-z]{2,6}){1,2}$/);
		const address = fc.tuple(local, domain).map((parts) => parts.join('@'));
		/** Letters of many scripts, and what means something in an address. */
		const letters = fc.stringMatching(/^[A-Za-zÀ-žа-я 一-龥😀,;:<>()@."\\'-]{0,20}$/u);
		const name = letters.map((text) => text.trim());
		const addresses = fc.array(fc.record({ name, address }), { minLength: 1, maxLength: 5 });
		const write = ({ name, address }: Address) =>
			name === '' ? address : `"${name.replaceAll(/[\\"]/g, '\\$&')}" <${address}>`;
		fc.assert(
			fc.property(addresses, fc.constantFrom(',', ', ', '\n', ',\r\n'), (list, separator) => {
				expect(read(list.map(write).join(separator))).toEqual(list);
			}),
		);
	});

	it('never yields an address or a name with a line break', () => {
		const any = fc.string({ unit: 'binary', maxLength: 30 });
		const inQuotes = any.map((text) => `"${text.replaceAll(/[\\"]/g, '\\$&')}" <a@x.example>`);
		fc.assert(
			fc.property(fc.oneof(any, inQuotes), (text) => {
				for (const { name, address } of read(text) ?? [])
					expect(name + address).not.toMatch(/[\r\n\0]/);
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

it('header fields stay on one line', () => {
	const text = fc.string({ unit: 'binary', maxLength: 20 });
	fc.assert(
		fc.property(text, fc.constantFrom('\r', '\n', '\0', '\u2028'), (before, sign) => {
			expect(() => requireOneLine(before + sign, "'Subject'")).toThrow(
				"'Subject' contains a line break",
			);
			expect(() => readCustomHeaders([{ name: 'X-A', value: sign + before }])).toThrow(
				"The header 'X-A' contains a line break",
			);
		}),
	);
});

/** The values of a header, each line with what was folded. */
function valuesOf({ raw }: { raw: Buffer }, name: string): string[] {
	const [head = ''] = raw.toString('utf8').split('\r\n\r\n', 1);
	const lines = head.replaceAll(/\r\n(?=[ \t])/g, '').split('\r\n');
	const start = `${name.toLowerCase()}: `;
	return lines.flatMap((line) =>
		line.toLowerCase().startsWith(start) ? [line.slice(start.length)] : [],
	);
}

const mails = new Mails();

/** As text: n8n takes a value that starts with = for an expression. */
async function send(fields: object) {
	await mails.json(JSON.stringify({ operation: 'send', subject: 'S', body: 'B', ...fields }));
	const mail = mails.sent.at(-1);
	if (!mail) throw new Error('nothing was sent');
	return mail;
}

describe('on the wire', () => {
	/** With letters beyond ASCII before the @, the domain may have them, too (RFC 6532). */
	const wireForm = (address: string) =>
		address === '用户@xn--r8jz45g.example' ? '用户@例え.example' : address;

	it('each address is the one that was read, in To and in Reply-To', async () => {
		const to = forms.map(([text]) => text);
		const addresses = forms.map(([, address]) => wireForm(address));
		const mail = await send({ to, replyTo: to });
		for (const [line = ''] of [valuesOf(mail, 'To'), valuesOf(mail, 'Reply-To')])
			expect(addresses.filter((address) => !line.includes(address))).toEqual([]);
		expect(mail.recipients).toEqual(addresses);
	});

	const encoded = '=?utf-8?Q?M=C3=BCller=2C_J=C3=B6rg?= <j@x.example>';
	const shown = '"Müller, Jörg" <j@x.example>';

	it('a sender with a comma in the name, as Read shows it, can be answered', async () => {
		const { json } = await mails.read(`From: ${encoded}\n\nHi`);
		expect(json['sender']).toBe(shown);
		expect((await send({ to: json['sender'] })).recipients).toEqual(['j@x.example']);
	});

	it('several recipients, as Read shows them, can be written to', async () => {
		const { json } = await mails.read(
			`To: ${encoded}, "A" "B, C" <c@x.example>, a@x.example\n\nHi`,
		);
		expect(json['to']).toBe(`${shown}, "A B, C" <c@x.example>, a@x.example`);
		const recipients = ['j@x.example', 'c@x.example', 'a@x.example'];
		expect((await send({ to: json['to'] })).recipients).toEqual(recipients);
	});
});

// Whatever a user writes: what goes out is the address that another parser reads in it, or nothing.
describe('any text', () => {
	const any = (weight: number, ...texts: string[]) => ({
		weight,
		arbitrary: fc.constantFrom(...texts),
	});
	const hidden = [
		'\r\n ',
		'\n',
		'\u00a0',
		'\u200b',
		'\u2028',
		'\u202e',
		'\0',
		'\u0007',
		'＠',
		'。',
	];
	const pieces = fc.oneof(
		any(6, 'a@x.example', 'b.c+d@y.example', 'info@müller.example'),
		any(3, '"a b"@x.example', '"a@b"@x.example', '"a,b\\""@x.example', 'a@b@c'),
		any(3, '<a@x.example>', '<b@y.example>', '< "q r"@x.example >', '<@r.example:a@x.example>'),
		any(3, '(c)', '(x@evil.example)', '(a (b) \\) )', '(', ')', '"', '\\', '<', '>'),
		any(2, 'Jane', 'Doe', 'Jörg', '山田', '"Doe, J."'),
		any(1, '"<x@evil.example>"', '=?utf-8?Q?J=C3=B6rg?='),
		any(3, ',', ', ', ';', ':', 'Team: ', '@', '.', ' ', '  ', '\t'),
		any(1, ...hidden),
	);
	const soup = fc.array(pieces, { minLength: 1, maxLength: 5 }).map((all) => all.join(''));

	/** A domain in one form, a quoted part before the @ without its quotes (RFC 5321, 4.1.2). */
	function sameForm(address: string): string {
		const at = address.lastIndexOf('@');
		const unquoted = address.slice(0, at).replace(/^"(.*)"$/s, '$1');
		const domain = address.slice(at + 1);
		return `${unquoted.replaceAll(/\\(.)/gs, '$1')}@${domainToASCII(domain) || domain}`;
	}

	/** The addresses of a text in which there are some, and nothing else. */
	function accepted(text: string): string[] {
		const addresses = read(text) ?? [];
		fc.pre(addresses.length > 0);
		return addresses.map(({ address }) => sameForm(address));
	}

	/** Undefined where the parser finds no list of mailboxes. */
	function independent(input: string): string[] | undefined {
		const found = parseAddressList({ input, rfc6532: true });
		if (!found || found.some(({ type }) => type === 'group')) return undefined;
		return found.flatMap((one) => (one.type === 'group' ? [] : [sameForm(one.address.trim())]));
	}

	it('an address that is taken is the one that another parser reads', () => {
		fc.assert(
			fc.property(soup, (text) => {
				const ours = accepted(text);
				const theirs = independent(text);
				fc.pre(theirs !== undefined);
				expect(ours).toEqual(theirs);
			}),
			// Texts that one of the two refuses do not count.
			{ numRuns: 100 },
		);
	});

	it('goes out exactly as what was asked for, in every field, and nobody else gets it', async () => {
		await fc.assert(
			fc.asyncProperty(soup, async (text) => {
				const asked = accepted(text);
				const mail = await send({ to: text, cc: text, replyTo: text });
				for (const name of ['To', 'Cc', 'Reply-To'])
					expect(valuesOf(mail, name).map(independent)).toEqual([asked]);
				expect(valuesOf(mail, 'Bcc')).toEqual([]);
			}),
			{ numRuns: 20 },
		);
		expect(mails.sent.length).toBeGreaterThanOrEqual(20);
	});
});
