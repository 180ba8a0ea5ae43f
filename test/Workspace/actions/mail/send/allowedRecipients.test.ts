import emailAddresses from 'email-addresses';
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import type { MimePart } from '../../../../../dev/google/gmail/mime';
import { standardScopes } from '../../../../../dev/google/tokens';
import { failureOf } from '../../../../createExecuteContext';
import { createNodeTool } from '../../../runNode';
import { arrangeForm, Mails } from '../mails';

const mails = new Mails();

const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };
const allowedRecipients = 'example.com, @sales.example.com\nBen <ben@example.org>, kim@example.org';
/** A part before the @ in which a server may find another address is none of the domain's. */
const mayGet = (address: string) =>
	/^[^%!@#=]+@(?:sales\.)?example\.com$/i.test(address) ||
	/^(?:ben|kim)@example\.org$/i.test(address);

it.each([
	'ann@example.com',
	'ANN@EXAMPLE.COM',
	'Ann <ann@sales.example.com>',
	'Ben@example.org, ann@example.com',
])('an email goes to whom it may: %s', async (to) => {
	await mails.run('send', { ...mail, to, allowedRecipients });
	expect(mails.sent).toHaveLength(1);
});

const evil = 'evil@evil.example';
const beside = [evil, `ann@example.com, ${evil}`, `ann@example.com\n${evil}`];
const named = [`"ann@example.com" <${evil}>`, `Ann <${evil}>`, `ann@example.com <${evil}>`];
const encoded = [`Doe, Ann <${evil}>`, `=?utf-8?q?Ann=2C?= <${evil}>`, `all: ${evil};`];
const besideBrackets = [`ann@example.com (a) , (b) ${evil}`, `<ann@example.com> ${evil}`];
const strangers = ['carl@example.org', 'ben@sub.example.org', 'ann@sub.example.com'];
const otherDomains = ['ann@example.com.evil.example', 'ann@notexample.com', 'ann@[127.0.0.1]'];
const quoted = ['"x@example.com"@evil.example', '"ann@example.com,"@evil.example'];
const relayed = ['evil%evil.example@example.com', 'evil.example!evil@example.com'];
const quotedRelays = ['"evil@evil.example"@example.com', 'evil#evil.example@example.com'];
const rewritten = ['SRS0=ab=cd=evil.example=x@example.com', 'evil=40evil.example@example.com'];
const wideSigns = ['evil\uff20evil.example@example.com', 'evil\ufe6bevil.example@example.com'];
const wideMarks = ['evil\uff05evil.example@example.com', 'evil.example\uff01evil@example.com'];
// Cyrillic letters, and the Kelvin sign, whose small letter is an ordinary k.
const likeLetters = ['ann@ex\u0430mple.com', 'ann@example.\u0441om', '\u212aim@example.org'];
const likeDots = ['ann@example.com\u200b.evil.example', 'ann@example\uff0ecom@evil.example'];
const routed = [`<@example.com:${evil}>`, `@example.com,@example.org:${evil}`, `mailto:${evil}`];
const two = [`${evil} ann@example.com`, 'evil@example.com@evil.example'];
const others = [
	...[...beside, ...named, ...encoded, ...besideBrackets, ...strangers, ...otherDomains],
	...[...quoted, ...relayed, ...quotedRelays, ...rewritten, ...wideSigns, ...wideMarks],
	...[...likeLetters, ...likeDots, ...routed, ...two],
];

it.each(others)('and nobody else gets one: %j', async (to) => {
	await mails.refused(mails.run('send', { ...mail, to, allowedRecipients }));
	expect(mails.sent).toEqual([]);
});

const mustName = /^'Allowed Recipients' of the node must name addresses or domains, not /;
const namesNobody = /not an empty list/;

it.each([
	['an expression', '={{ "example.com" }}', mustName],
	['another expression', '={{ $json.to }}', mustName],
	['two words', 'a b', mustName],
	['an @ alone', 'example.com, @', mustName],
	['half an address', 'ann@', mustName],
	['a comma', ',', namesNobody],
	['a line break', '\n', namesNobody],
	['a blank', ' ', namesNobody],
	['an empty name', ' ,\n"" ', namesNobody],
])('the list is not %s', async (_what, given, words) => {
	const fixed = { allowedRecipients: given };
	const inForm = await mails.refused(mails.run('send', { ...mail, ...fixed }));
	const inputObject = { operation: 'send', ...mail };
	const inObject = await mails.refused(mails.json(inputObject, fixed));
	for (const message of [inForm, inObject]) {
		expect(message).toMatch(mustName);
		expect(message).toMatch(words);
	}
});

it('the option that was added and left empty allows nobody, in JSON mode an empty field everybody', async () => {
	const fixed = { allowedRecipients: '' };
	const inForm = await mails.refused(mails.run('send', { ...mail, ...fixed }));
	expect(inForm).toMatch(namesNobody);
	await mails.json({ operation: 'send', ...mail }, fixed);
	expect(mails.sent).toHaveLength(1);
});

it.each([
	`to =?utf-8?Q?${'x'.repeat(20_000)}?= =?utf-8?Q?evil=40evil.example?=`,
	'to =?utf-7?Q?evil+AEA-evil.example?=',
	'to =?x-unknown?B?ZXZpbEBldmlsLmV4YW1wbGU=?=',
	'to =?utf-8?X?evil?=',
	'evil\uff20evil.example',
	'evil\ufe6bevil.example',
	'evil\uff0540evil.example',
])('a header that hides an address is refused: %#', async (value) => {
	const headers = { header: [{ name: 'X-Forward-To', value }] };
	const failure = await failureOf(mails.run('send', { ...mail, headers, allowedRecipients }));
	expect(failure.message).toBe(
		"'Allowed Recipients' of the node does not include whoever stands in the header X-Forward-To",
	);
	expect(mails.sent).toEqual([]);
});

it('an input object cannot set the list', async () => {
	const inputObject = { operation: 'send', ...mail, allowedRecipients: evil };
	const message = await mails.refused(mails.json(inputObject));
	expect(message).toMatch(/Unknown key 'allowedRecipients'/);
});

/** Whom a header of an email names that somebody may write to, as another parser reads it. */
function namedIn({ name, value, encoded }: MimePart['headers'][number]): string[] {
	if (/^(?:x-forward|list-|mail-followup|disposition)/i.test(name))
		return value.match(/[^\s<>():;?&=,]+(?:@|%40)[^\s<>():;?&=,]+/g) ?? [];
	if (!/^reply-to$/i.test(name)) return [];
	return (emailAddresses.parseAddressList(encoded) ?? [])
		.flatMap((one) => (one.type === 'group' ? one.addresses : [one]))
		.map((one) => one.address);
}

/** Who would get the emails that were sent or saved, or answers to them. */
const reached = () =>
	[...mails.sent, ...mails.gmail.drafts]
		.flatMap(({ recipients, mime }) => [...recipients, ...mime.headers.flatMap(namedIn)])
		.map((one) => one.replace('%40', '@'));

const friend = fc.constantFrom('ann@example.com', 'ben@example.org');
/** What stands around an address, so that one reader takes it for another one than the next reader does. */
const disguises: ReadonlyArray<(address: string, shown: string) => string> = [
	(address, shown) => `"${shown}" <${address}>`,
	(address, shown) => `${shown} <${address}>`,
	(address, shown) => `"${shown}\\" <${shown}>, " <${address}>`,
	(address, shown) => `=?utf-8?b?${Buffer.from(`<${shown}>`).toString('base64')}?= <${address}>`,
	(address, shown) => `=?utf-8?q?${shown.replace('@', '=40')}?=, ${address}`,
	(address, shown) => `${address} (${shown})`,
	(address, shown) => `(${shown}, (${shown})) ${address}`,
	(address, shown) => `${shown} (\\) , ${address} (`,
	(address) => address.replace('@', '(a)@(b)'),
	(address, shown) => `"${address}"@${shown.replace(/.*@/, '')}`,
	(address, shown) => `${address.replace('@', '%')}@${shown.replace(/.*@/, '')}`,
	(address, shown) => `"${shown},"@${address.replace(/.*@/, '')}`,
	(address, shown) => `friends: ${shown}, ${address};`,
	(address, shown) => `friends:;, ${shown}, others: ${address};`,
	(address, shown) => `<@${shown.replace(/.*@/, '')}:${address}>`,
	(address, shown) => `${shown}\r\nBcc: ${address}`,
	(address, shown) => `${shown}\n ${address}`,
	(address, shown) => `${shown}\u2028${address}`,
	(address, shown) => `${shown}\u0085Bcc: ${address}`,
	(address, shown) => `${shown};${address}`,
	(address, shown) => `${shown}\t${address}`,
	(address, shown) => `<${shown}> <${address}>`,
	(address, shown) => `${address.replace('@', '\uff20')}, ${shown}`,
	(address, shown) => `${shown}\u0000,${address}`,
];
const address = fc.oneof(
	{ weight: 1, arbitrary: fc.constantFrom(...others) },
	{
		weight: 2,
		arbitrary: fc
			.tuple(fc.constantFrom(...disguises), fc.oneof(friend, fc.constantFrom(evil)), friend)
			.map(([disguise, hidden, shown]) => disguise(hidden, shown)),
	},
	{ weight: 25, arbitrary: fc.oneof(friend, fc.constant('')) },
);
const header = fc.record({
	name: fc.constantFrom(
		...['X-Forward-To', 'List-Unsubscribe', 'Mail-Followup-To'],
		...['Disposition-Notification-To', 'To', 'Bcc'],
	),
	value: address.map((text) => text.replaceAll('\n', ' ')),
});
const parameters = fc.record({
	to: address,
	cc: address,
	bcc: address,
	replyTo: address,
	fromAlias: fc.constantFrom('', evil),
	senderName: fc.constantFrom('', evil, `x <${evil}>, `),
	subject: fc.constantFrom('Hello', `Hi ${evil}`),
	headers: fc.array(header, { maxLength: 2 }),
});
const original = fc.record({ from: address, replyTo: address, to: address, cc: address });
const entry = fc.record({
	way: fc.constantFrom('form', 'json', 'tool', 'form as a tool'),
	reply: fc.option(fc.record({ original, replyAll: fc.boolean(), quoteOriginal: fc.boolean() })),
	saveAsDraft: fc.boolean(),
	isOnlyDrafts: fc.boolean(),
	fileName: fc.option(fc.constantFrom('plan.pdf', evil, `a.pdf\r\nBcc: ${evil}`)),
	parameters,
});
type Entry = typeof entry extends fc.Arbitrary<infer T> ? T : never;

/** An email that has come in, which is answered. */
function seedOriginal({ from, to, replyTo, cc }: NonNullable<Entry['reply']>['original']): string {
	const oneLine = (text: string) => text.replaceAll(/[\r\n]+/g, ', ').replaceAll('\0', '');
	return mails.gmail.seed({
		from: oneLine(from) || 'ann@example.com',
		to: oneLine(to) || 'someone@example.com',
		headers: [`Reply-To: ${oneLine(replyTo)}`, `Cc: ${oneLine(cc)}`],
	});
}

/** Asks for the email in one of the ways that there are. */
async function ask({ way, reply, saveAsDraft, isOnlyDrafts, fileName, parameters: given }: Entry) {
	const { original: seed, ...options } = reply ?? { original: undefined };
	const { to, subject, headers, ...texts } = given;
	const file = { name: fileName ?? '', mimeType: 'application/pdf', clientId: '' };
	const seedFile = () => mails.google.drive.seedFile(file, Buffer.from('P'));
	const more = { ...texts, ...options, driveFiles: fileName === null ? [] : [seedFile()] };
	const common = { subject, body: 'B', to, replyToMessageId: seed ? seedOriginal(seed) : '' };
	const asObject = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
	const inputObject = {
		...{ operation: 'send', ...common, ...more },
		...{ headers: asObject, saveAsDraft },
	};
	const sendAs = isOnlyDrafts || saveAsDraft ? 'draft' : 'send';
	const email = reply ? 'reply' : 'new';
	const form = { ...common, sendAs, allowedRecipients, email };
	const formOptions = { ...more, headers: { header: headers } } as IDataObject;
	const onlyDrafts = { allowedOperations: ['mail.sendDraft'] };
	const fixed = { allowedRecipients, ...(isOnlyDrafts && onlyDrafts) };
	const useTool = (parameters: IDataObject, args: IDataObject) => {
		const node = { type: 'test.workspaceTool' };
		return createNodeTool({ url: mails.google.url, node, parameters })(args);
	};
	if (way === 'form') return await mails.run('send', form, formOptions);
	if (way === 'json') return await mails.json(inputObject, fixed);
	if (way === 'tool') {
		const byModel = { inputMode: 'json', inputObject: "={{ $fromAI('input', '', 'json') }}" };
		return await useTool({ ...byModel, ...fixed }, { input: inputObject });
	}
	const byModel = { to: "={{ $fromAI('to') }}", subject: "={{ $fromAI('subject') }}" };
	const operation = { resource: 'mail', operation: 'send' };
	const parameters = { ...operation, ...form, ...byModel, options: formOptions };
	return await useTool(arrangeForm(parameters), { to, subject });
}

it('whatever is asked for, in whatever way, nobody else is reached, and nobody where only drafts are', async () => {
	const ways = new Set<string>();
	await fc.assert(
		fc.asyncProperty(entry, async (asked) => {
			mails.google.reset();
			mails.signIn([...standardScopes, 'gmail.compose']);
			mails.gmail.aliases = [evil];
			await ask(asked).catch(() => undefined);
			const all = reached();
			if (all.length > 0) ways.add(`${asked.way} ${asked.isOnlyDrafts ? 'drafts' : 'sent'}`);
			expect(all.filter((one) => !mayGet(one))).toEqual([]);
			if (asked.isOnlyDrafts) expect(mails.sent).toEqual([]);
		}),
		{ numRuns: 200 },
	);
	// Something came through in most of the eight ways.
	expect(ways.size).toBeGreaterThan(5);
});

it('a reply to somebody else fails before anything is sent', async () => {
	const replyToMessageId = mails.gmail.seed({ from: evil });
	const reply = { body: 'B', replyToMessageId, allowedRecipients };
	const { httpCode, message } = await mails.failure('send', reply);
	expect(httpCode).toBe('400');
	expect(message).toBe(`'Allowed Recipients' of the node does not include ${evil}`);
	expect(mails.sent).toEqual([]);
});
