import { htmlToText } from '../../nodes/untrusted/html/htmlToText';
import { keepNewText } from '../../nodes/untrusted/mail/newText';
import { expectLinear } from '../growth';
import { readReplies, unify } from './replies/readReplies';

const reply = { subject: 'Re: Offer', hasReplyHeader: true };
const first = { subject: 'Offer', hasReplyHeader: false };
const outlook = (from: string, sent: string, to: string, subject: string) =>
	`${from}: Ann Lee <ann@example.com>\n${sent}: Montag, 5. Januar 2026 10:00\n${to}: Bob\n${subject}: Offer\n\nold text`;

const gmail = 'On Mon, Jan 5, 2026 at 10:00 AM Ann Lee <ann@example.com> wrote:\n\n> Shall I?';

test.each([
	...['Going forward, please note:', 'Please transfer the money to:', 'Voici le transfert :'].map(
		(line): [string, string, string] => [line, `${line}\n1. a\n\n${gmail}`, `${line}\n1. a`],
	),
	[
		'an address that looks like a forwarded email',
		`Yes.\n\n${gmail.replace('example', 'transfergo')}`,
		'Yes.',
	],
	[
		'Gmail',
		'Yes, please.\n\nOn Mon, Jan 5, 2026 at 10:00 AM Ann Lee <ann@example.com> wrote:\n\n> Shall I?\n>\n>> Older\n',
		'Yes, please.',
	],
	[
		'an introduction on several lines',
		'Yes.\n\nOn Mon, Jan 5, 2026 at 10:00 AM Ann Lee\n<ann@example.com>\nwrote:\n> Shall I?',
		'Yes.',
	],
	[
		'an introduction that is wrapped within its date',
		'Yes.\nOn Mon, Jan 5, 2026 at\n10:00 AM Ann Lee <ann@example.com> wrote:\n> Shall I?',
		'Yes.',
	],
	['no blank line before it', 'Ja.\nAm 05.01.26 um 10:00 schrieb Ann Lee:\n> Soll ich?', 'Ja.'],
	[
		'French',
		'Oui.\n\nLe lun. 5 janv. 2026 à 10:00, Ann <ann@example.com> a écrit :\n> Alors ?',
		'Oui.',
	],
	['Japanese', 'はい。\n\n2026年1月5日(月) 10:00 Ann <ann@example.com>:\n\n> どう？', 'はい。'],
	['Chinese', '好。\n\nAnn <ann@example.com> 于2026年1月5日周一 10:00写道：\n\n> 好吗？', '好。'],
	['no date', 'Yes.\n\n"Ann Lee" <ann@example.com>:\n> Shall I?', 'Yes.'],
	[
		'answers between the questions',
		'Ann wrote on 5/1:\n> One?\n\nYes.\n\n> Two?\n> Three?\n\nNo: never.\n',
		'Yes.\n\n\nNo: never.',
	],
	['a text below', '> Shall I?\n\nYes.\n\n-- \nBob\nSales\n', 'Yes.'],
	['a colon that introduces nothing', 'My list:\n\n> Shall I?', 'My list:'],
	[
		'a signature',
		'Yes.\n\n-- \nBob\n\nOn 5 Jan 2026, Ann <ann@example.com> wrote:\n> Shall I?',
		'Yes.',
	],
	[
		'Outlook',
		`Yes.\n\n________________________________\n${outlook('From', 'Sent', 'To', 'Subject')}`,
		'Yes.',
	],
	['Outlook in German', `Ja.\n\n${outlook('Von', 'Gesendet', 'An', 'Betreff')}`, 'Ja.'],
	['an older Outlook', 'Yes.\n\n-----Original Message-----\nFrom: Ann\n\nold', 'Yes.'],
	[
		'an introduction on four lines',
		'Yes.\n\n5.1.2026\nAnn Lee\nof Sales\n<ann@example.com> wrote:\n> Shall I?',
		'Yes.',
	],
	[
		'an introduction on five lines',
		'Yes.\n\n5.1.2026\nAnn\nLee\nof Sales\n<ann@example.com> wrote:\n> Shall I?',
		'Yes.',
	],
	[
		'a sentence above an introduction',
		'On holiday.\n5.1.2026 Ann <ann@example.com> wrote:\n> Shall I?',
		'On holiday.',
	],
	[
		'an address above what introduces nothing',
		'Yes.\n\nann@example.com\nsaid:\n> Shall I?',
		'Yes.\n\nann@example.com\nsaid:',
	],
	[
		'ten blank lines below an introduction',
		`Yes.\na@b.example:${'\n'.repeat(11)}> Shall I?`,
		'Yes.',
	],
	['more of them', `Yes.\na@b.example:${'\n'.repeat(12)}> Shall I?`, 'Yes.\na@b.example:'],
	['a long introduction', `Yes.\n\n2026${'x'.repeat(489)} wrote:\n> Shall I?`, 'Yes.'],
	[
		'a paragraph that is too long for one',
		`2026${'x'.repeat(490)} wrote:\n> Shall I?`,
		`2026${'x'.repeat(490)} wrote:`,
	],
	['a blank line in a quote', 'Yes.\n> One?\n\n> Two?\nNo.', 'Yes.\n\nNo.'],
	[
		'a header of eight more lines',
		`Yes.\n\nFrom: Ann\nDate: 5 Jan\n${'To: Bob\n'.repeat(6)}Subject: Offer\n\nold`,
		'Yes.',
	],
	[
		'a list that begins like a header',
		`Yes.\n\nFrom: Ann\nDate: 5 Jan\n${'To: Bob\n'.repeat(7)}Subject: Offer`,
		`Yes.\n\nFrom: Ann\nDate: 5 Jan\n${'To: Bob\n'.repeat(7)}Subject: Offer`,
	],
	[
		'nothing above a header',
		'\n\n-----Original Message-----\nFrom: Ann\nold',
		'\n\n-----Original Message-----\nFrom: Ann\nold',
	],
	['a quote alone', '> Shall I?', '> Shall I?'],
	['a signature alone', '-- \nBob', '-- \nBob'],
	['nothing', '', ''],
	['Alpine', 'Yes.\n\nOn Mon, 5 Jan 2026, Ann Lee wrote:\n\n> Shall I?', 'Yes.'],
	['SeaMonkey', 'Yes.\n\nAnn Lee wrote on 05.01.26 10:00:\n> Shall I?', 'Yes.'],
	['an initial', 'Yes.\n\nOn 5 Jan 2026 10:00, I. Ivanova wrote:\n> Shall I?', 'Yes.'],
	[
		'a name like a word of the first person',
		'Yes.\n\nOn 5 Jan 2026 10:00, Vi Lee wrote:\n> Shall I?',
		'Yes.',
	],
	[
		'a date and an address on two lines',
		'Yes.\n\n5 Jan 2026\nann@example.com:\n> Shall I?',
		'Yes.',
	],
	...['iPhoneから送信', "iPhone'umdan gönderildi", 'iPhone ile gönderilmiştir'].map(
		(line): [string, string, string] => [line, `Yes.\n\n${line}`, 'Yes.'],
	),
])('of a reply, the new text is left: %s', (_what, text, left) => {
	expect(keepNewText(text, reply)).toBe(left);
});

const lessCommon = [...readReplies('others.txt'), ...readReplies('rare.txt')];
test.each(lessCommon)('of a less common reply, nothing new is lost: $title', (sample) => {
	const lines = unify(keepNewText(sample.text, sample.context)).split('\n');
	expect(lines).toEqual(expect.arrayContaining(sample.kept.split('\n')));
});

test.each(readReplies('common.txt'))(
	'of a common reply, the new text is left: $title',
	({ text, context, kept }) => {
		expect(unify(keepNewText(text, context))).toBe(kept);
	},
);

test.each([
	[
		'Gmail',
		'<div dir="ltr">Yes.<div><br></div><span>-- </span><br><div>Bob</div></div><br><div class="gmail_quote"><div class="gmail_attr">On Mon, Jan 5, 2026 at 10:00 AM Ann &lt;<a href="mailto:ann@example.com">ann@example.com</a>&gt; wrote:<br></div><blockquote>Shall I?</blockquote></div>',
	],
	[
		'Outlook',
		'<div><p class=MsoNormal>Yes.</p><hr><div><b>From:</b> Ann &lt;ann@example.com&gt;<br><b>Sent:</b> Monday, January 5, 2026 10:00<br><b>To:</b> Bob<br><b>Subject:</b> Offer</div><p>Shall I?</p></div>',
	],
])('of HTML, too: %s', (_what, html) => {
	expect(keepNewText(htmlToText(html), reply)).toBe('Yes.');
});

test.each([
	['a quotation without an introduction', 'Seneca said it.\n\n> Omnia aliena sunt.', first],
	['a quotation in an email that answers none', 'As Seneca said:\n\n> Omnia aliena sunt.', first],
	[
		'a forwarded message',
		`Please have a look.\n\n${outlook('From', 'Sent', 'To', 'Subject')}`,
		{ ...reply, subject: 'Fwd: Offer' },
	],
	[
		'a forwarded message in Gmail',
		'FYI\n\n---------- Forwarded message ---------\nFrom: Ann\n\nold',
		reply,
	],
	[
		'a forwarded message below its introduction',
		'Hi.\n\nThis came from ann@example.com:\n\n> Begin forwarded message:\n>\n> From: Ann\n> Subject: Offer\n> Date: 5 May\n>\n> old',
		first,
	],
	[
		'a sentence behind what introduces an earlier message',
		'Hi.\n\nOn 5 May 2026 at 9:30, Ann <ann@example.com> wrote: we accept. Please act.\n\n> Omnia',
		first,
	],
	['lines that only look like a header', 'From: Hamburg\nTo: Berlin\nPrice: 20', reply],
	[
		'lines that only look like a header, above an address',
		'From: Hamburg\nTo: Berlin\nDate: 5 May\n\nAsk ann@example.com',
		reply,
	],
	['a ruler', 'a\n---\nb\n--', { ...reply, subject: 'x' }],
	[
		'one quoted line in the middle of an own text',
		'The label says:\n> Keep dry\nIs that right?',
		reply,
	],
	[
		'one quoted line among commands',
		'I ran\n\n>>> print(1)\n\nas you wrote\n\n> it prints 1\n\nbut it prints 2.',
		reply,
	],
	['two hyphens that no LF sets apart', 'a\u2028--\u2028b\u2029-- \u2029c', reply],
])('%s stays', (_what, text, context) => {
	expect(keepNewText(text, context)).toBe(text.replace(/\n--$/, ''));
});

test('an answer without a header of its own is known by its introduction', () => {
	expect(
		keepNewText('Yes.\n\nOn 5 Jan 2026, Ann <ann@example.com> wrote:\n> Shall I?', first),
	).toBe('Yes.');
});

test('an answer is known by its subject or by its header alone', () => {
	expect(keepNewText('> Shall I?\n\nYes.', { subject: 'AW: Offer', hasReplyHeader: false })).toBe(
		'Yes.',
	);
	expect(keepNewText('> Shall I?\n\nYes.', { subject: 'Offer', hasReplyHeader: true })).toBe(
		'Yes.',
	);
});

const units = [
	...['> x\n', 'On 5 Jan 2026:\n> x\n', 'From: a\n', '\n', '-- \n', 'a@b.c:\n\n>', ':', '--'],
	...[
		'a@b.c5:\n',
		'---- a wrote ----\n',
		'<a@b.c\n> wrote:\n',
		'>>> 1/1 >>>\n',
		'Date: 1:00\n\n',
	],
	...['On 5 2026 10:00 wrote', '<a@b.c> wrote: x ', '> Forwarded:\n', 'Sent from my phone\n'],
	...['> x:\n\n', '___\nFrom: a\nTo: b\n', 'On '],
];
const inMiddle = [
	...['>a\n\n\n', ' ', '-----\n', 'From: a\n', '>\n\n'],
	'On 5 Jan 2026, a@b.c wrote:\n> x\n',
];
const header = 'From: a\nDate: b\nSubject: c\n';
/** What a long text is made of, the text, and the most characters. */
type Long = [unit: string, textOf: (text: string) => string, most: number];

test.each<Long>([
	...units.map((unit): Long => [unit, (text) => text, 2_000_000]),
	...inMiddle.map((unit): Long => [unit, (text) => `x:\n${text}x\n${header}`, 2_000_000]),
	// The line above an introduction, and a header line with many times.
	['@>', (line) => `${line}\n2026-01-05 10:00 <a@b.c> wrote:\n> x\n\n`.repeat(200), 240],
	['1:', (text) => `From: ${text}x`, 100_000],
])('costs no more than the length of %j', (unit, textOf, most) => {
	expectLinear(unit, textOf, (text) => keepNewText(text, reply), most);
});
