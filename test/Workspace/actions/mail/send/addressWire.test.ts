// Whatever a user writes: what goes out is the address that another parser reads in it, or nothing goes out.
import { domainToASCII } from 'node:url';
import { parseAddressList } from 'email-addresses';
import fc from 'fast-check';

import { addressesOf } from '../../../../../nodes/Workspace/actions/mail/send/addresses';
import { Mails } from '../mails';

const pieces = fc.oneof(
	{ weight: 6, arbitrary: fc.constantFrom('a@x.example', 'b.c+d@y.example', 'info@müller.example') },
	{
		weight: 3,
		arbitrary: fc.constantFrom('"a b"@x.example', '"a@b"@x.example', '"a,b\\""@x.example', 'a@b@c'),
	},
	{
		weight: 3,
		arbitrary: fc.constantFrom(
			'<a@x.example>',
			'<b@y.example>',
			'< "q r"@x.example >',
			'<@r.example:a@x.example>',
		),
	},
	{
		weight: 3,
		arbitrary: fc.constantFrom('(c)', '(x@evil.example)', '(a (b) \\) )', '(', ')', '"', '\\', '<', '>'),
	},
	{
		weight: 3,
		arbitrary: fc.constantFrom(
			'Jane',
			'Doe',
			'Jörg',
			'山田',
			'"Doe, J."',
			'"<x@evil.example>"',
			'=?utf-8?Q?J=C3=B6rg?=',
		),
	},
	{ weight: 3, arbitrary: fc.constantFrom(',', ', ', ';', ':', 'Team: ', '@', '.', ' ', '  ', '\t') },
	{
		weight: 1,
		arbitrary: fc.constantFrom(
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
		),
	},
);
const soup = fc.array(pieces, { minLength: 1, maxLength: 5 }).map((all) => all.join(''));

function accepted(text: string): string[] | undefined {
	try {
		return addressesOf(text, 'To').map(({ address }) => address);
	} catch (error) {
		expect((error as Error).message).toMatch(/^To has an entry that is not an email address/);
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
				const input = { operation: 'send', to: text, cc: text, replyTo: text, subject: 'S', body: 'B' };
				await mails.json(JSON.stringify(input));
				const mail = mails.google.gmail.sent.at(-1);
				const head = (mail?.raw.toString('utf8').split('\r\n\r\n', 1)[0] ?? '').replaceAll(
					/\r\n(?=[ \t])/g,
					'',
				);
				for (const name of ['To', 'Cc', 'Reply-To']) {
					const lines = head.split('\r\n').filter((line) => line.startsWith(`${name}: `));
					expect(lines).toHaveLength(1);
					expect(independent(lines[0]?.slice(name.length + 2) ?? '')).toEqual(asked.map(sameForm));
				}
				expect(head).not.toMatch(/^Bcc:/im);
			}),
			{ numRuns: 20 },
		);
		expect(mails.google.gmail.sent.length).toBeGreaterThanOrEqual(20);
	});
});
