import emailAddresses from 'email-addresses';
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { failureOf } from '../../../../createExecuteContext';
import { createNodeTool } from '../../../runNode';
import { Mails } from '../mails';

const mails = new Mails();
jest.setTimeout(120_000);

const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };
const allowedRecipients = 'example.com, @sales.example.com\nBen <ben@example.org>';
const mayGet = (address: string) =>
	/@(?:sales\.)?example\.com$/i.test(address) || address.toLowerCase() === 'ben@example.org';

it.each([
	'ann@example.com',
	'ANN@EXAMPLE.COM',
	'Ann <ann@sales.example.com>',
	'Ben@example.org, ann@example.com',
])('an email goes to whom it may: %s', async (to) => {
	await mails.run('send', { ...mail, to, allowedRecipients });
	expect(mails.google.gmail.sent).toHaveLength(1);
});

const [evil] = ['evil@evil.example'];
const others = [
	evil,
	`ann@example.com, ${evil}`,
	`ann@example.com\n${evil}`,
	`"ann@example.com" <${evil}>`,
	`Ann <${evil}>`,
	`ann@example.com <${evil}>`,
	`ann@example.com (a) , (b) ${evil}`,
	'carl@example.org',
	'ben@sub.example.org',
	'ann@example.com.evil.example',
	'ann@notexample.com',
	'ann@sub.example.com',
	'"x@example.com"@evil.example',
	`"ann@example.com,"@evil.example`,
	'ann@ex\u0430mple.com',
	`Doe, Ann <${evil}>`,
	`=?utf-8?q?Ann=2C?= <${evil}>`,
	`all: ${evil};`,
	`${evil} ann@example.com`,
	`<ann@example.com> ${evil}`,
	'ann@[127.0.0.1]',
];

it.each(others)('and nobody else gets one: %j', async (to) => {
	await mails.refused(mails.run('send', { ...mail, to, allowedRecipients }));
	expect(mails.google.gmail.sent).toEqual([]);
});

it.each(['={{ "example.com" }}', '={{ $json.to }}'])('the list is no expression: %s', async (given) => {
	const words = /^'Allowed Recipients' of the node has an entry that is neither/;
	const fixed = { allowedRecipients: given };
	expect(await mails.refused(mails.run('send', { ...mail, ...fixed }))).toMatch(words);
	const inputObject = { operation: 'send', ...mail };
	expect(await mails.refused(mails.json(inputObject, undefined, fixed))).toMatch(words);
});

it.each(['a b', 'example.com, @', 'ann@'])(
	'an entry that is neither an address nor a domain: %s',
	async (given) => {
		expect(await mails.refused(mails.run('send', { ...mail, allowedRecipients: given }))).toMatch(
			/^'Allowed Recipients' of the node has an entry/,
		);
	},
);

it('an input object cannot set the list', async () => {
	const message = await mails.refused(mails.json({ operation: 'send', ...mail, allowedRecipients: evil }));
	expect(message).toMatch(/Unknown key 'allowedRecipients'/);
});

/** Who would get the emails that were sent or saved, or answers to them, as another parser reads them. */
function reached(): string[] {
	const { sent, drafts } = mails.google.gmail;
	return [...sent, ...drafts].flatMap(({ recipients, mime }) => {
		const answers = mime.headers.filter(({ name }) => /^reply-to$/i.test(name));
		const custom = mime.headers.filter(({ name }) =>
			/^(?:x-forward|list-|mail-followup|disposition)/i.test(name),
		);
		const parsed = answers.flatMap(({ encoded }) => emailAddresses.parseAddressList(encoded) ?? []);
		return [
			...recipients,
			...parsed
				.flatMap((one) => (one.type === 'group' ? one.addresses : [one]))
				.map(({ address }) => address),
			...custom.flatMap(({ value }) => value.match(/[^\s<>:?&=,]+(?:@|%40)[^\s<>:?&=,]+/g) ?? []),
		].map((address) => address.replace('%40', '@'));
	});
}

const address = fc.oneof(
	{ weight: 1, arbitrary: fc.constantFrom(...others) },
	{ weight: 6, arbitrary: fc.constantFrom('ann@example.com', 'ben@example.org', '') },
);
const header = fc.record({
	name: fc.constantFrom(
		'X-Forward-To',
		'List-Unsubscribe',
		'Mail-Followup-To',
		'Disposition-Notification-To',
		'To',
		'Bcc',
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
	way: fc.constantFrom('form', 'json', 'tool'),
	reply: fc.option(fc.record({ original, replyAll: fc.boolean(), quoteOriginal: fc.boolean() })),
	saveAsDraft: fc.boolean(),
	fileName: fc.option(fc.constantFrom('plan.pdf', evil, `a.pdf\r\nBcc: ${evil}`)),
	parameters,
});

it('whatever is asked for, in whatever way, nobody else is reached', async () => {
	let done = 0;
	const oneLine = (text: string) => text.replaceAll('\n', ', ');
	await fc.assert(
		fc.asyncProperty(entry, async ({ way, reply, saveAsDraft, fileName, parameters: given }) => {
			mails.google.reset();
			mails.signIn();
			const { original: seed, ...options } = reply ?? { original: undefined };
			const replyToMessageId = seed
				? mails.google.gmail.seed({
						from: oneLine(seed.from) || 'ann@example.com',
						to: oneLine(seed.to) || 'someone@example.com',
						headers: [
							...(seed.replyTo ? [`Reply-To: ${oneLine(seed.replyTo)}`] : []),
							...(seed.cc ? [`Cc: ${oneLine(seed.cc)}`] : []),
						],
					})
				: '';
			const { to, subject, headers, ...texts } = given;
			const file = { name: fileName ?? '', mimeType: 'application/pdf', clientId: '' };
			const driveFiles = fileName === null ? [] : [mails.google.drive.seedFile(file, Buffer.from('P'))];
			const more = { ...texts, driveFiles };
			const common = { subject, body: 'B', to, replyToMessageId };
			const asObject = { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) };
			const inputObject = { operation: 'send', ...common, ...more, ...asObject, ...options, saveAsDraft };
			const form = { ...common, sendAs: saveAsDraft ? 'draft' : 'send', allowedRecipients };
			const formOptions = { ...more, headers: { header: headers }, ...options } as IDataObject;
			const url = mails.google.url;
			const running =
				way === 'form'
					? mails.run('send', form, formOptions)
					: way === 'json'
						? mails.json(inputObject, undefined, { allowedRecipients })
						: createNodeTool({
								url,
								node: { type: 'test.workspaceTool' },
								parameters: {
									inputMode: 'json',
									inputObject: "={{ $fromAI('input', '', 'json') }}",
									allowedRecipients,
								},
							})({ input: inputObject });
			await Promise.resolve(running).catch(() => undefined);
			const all = reached();
			if (all.length > 0) done++;
			expect(all.filter((one) => !mayGet(one))).toEqual([]);
		}),
		{ numRuns: 100 },
	);
	expect(done).toBeGreaterThan(0);
});

it('a reply to somebody else fails before anything is sent', async () => {
	const replyToMessageId = mails.google.gmail.seed({ from: evil });
	const failure = await failureOf(mails.run('send', { body: 'B', replyToMessageId, allowedRecipients }));
	expect([failure.httpCode, failure.message]).toEqual([
		'400',
		`'Allowed Recipients' of the node does not include ${evil}`,
	]);
	expect(mails.google.gmail.sent).toEqual([]);
});
