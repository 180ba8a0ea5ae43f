import { htmlToText } from '../../nodes/untrusted/html/htmlToText';
import { keepNewText } from '../../nodes/untrusted/mail/newText';
import { expectLinear } from '../growth';
import { readReplies, unify } from './replies/readReplies';

const reply = { subject: 'Re: Offer', hasReplyHeader: true };
const first = { subject: 'Offer', hasReplyHeader: false };
const outlook = (from: string, sent: string, to: string, subject: string) =>
	`${from}: Ann Lee <ann@example.com>\n${sent}: 5. Januar 2026 10:00\n${to}: Bob\n${subject}: Offer\n\nold`;
const quote = '> Shall I?';
const gmail = `On Mon, Jan 5, 2026 at 10:00 AM Ann Lee <ann@example.com> wrote:\n\n${quote}`;
const fiveLines = '5.1.2026\nAnn\nLee\nof Sales\n<ann@example.com> wrote:';
const header = (recipients: number) =>
	`From: Ann\nDate: 5 Jan\n${'To: Bob\n'.repeat(recipients)}Subject: Offer`;
const long = (count: number) => `2026${'x'.repeat(count)} wrote:`;

test.each([
	['a name that looks like a word for a forward', gmail.replace('example', 'transfergo')],
	['Chinese', `Ann <ann@example.com> 于2026年1月5日周一 10:00写道：\n\n${quote}`],
	['no date', `"Ann Lee" <ann@example.com>:\n${quote}`],
	['a German Outlook', outlook('Von', 'Gesendet', 'An', 'Betreff')],
	['an introduction on five lines', `${fiveLines}\n${quote}`],
	['a long introduction', `${long(489)}\n${quote}`],
	['a header of eight more lines', `${header(6)}\n\nold`],
	['Alpine', `On Mon, 5 Jan 2026, Ann Lee wrote:\n\n${quote}`],
	['SeaMonkey', `Ann Lee wrote on 05.01.26 10:00:\n${quote}`],
	['an initial', `On 5 Jan 2026 10:00, I. Ivanova wrote:\n${quote}`],
	['a name like a word of the first person', `On 5 Jan 2026 10:00, Vi Lee wrote:\n${quote}`],
	['a date and an address on two lines', `5 Jan 2026\nann@example.com:\n${quote}`],
	['a Japanese phone', 'iPhoneから送信'],
	['a Turkish phone', "iPhone'umdan gönderildi"],
	['another Turkish phone', 'iPhone ile gönderilmiştir'],
])('below an answer, this goes: %s', (_what, earlier) => {
	expect(keepNewText(`Yes.\n\n${earlier}`, reply)).toBe('Yes.');
});

const ownLines = ['Going forward, please note:', 'Please transfer to:', 'Voici le transfert :'];
const noIntroduction = 'Yes.\n\nann@example.com\nsaid:';
const wrapped = 'On Mon, Jan 5, 2026 at\n10:00 AM Ann Lee <ann@example.com> wrote:';
const sentence = 'On holiday.\n5.1.2026 Ann <ann@example.com> wrote:';
const blankLines = (count: number) => `Yes.\na@b.example:${'\n'.repeat(count + 1)}${quote}`;
const original = '\n\n-----Original Message-----\nFrom: Ann\nold';

/** What is in it, the text, and what is left. */
type Sample = [what: string, text: string, left: string];

test.each<Sample>([
	...ownLines.map((line): Sample => [line, `${line}\n1. a\n\n${gmail}`, `${line}\n1. a`]),
	['an introduction that is wrapped within its date', `Yes.\n${wrapped}\n${quote}`, 'Yes.'],
	['no blank line', `Ja.\nAm 05.01.26 um 10:00 schrieb Ann Lee:\n${quote}`, 'Ja.'],
	['a colon that introduces nothing', `My list:\n\n${quote}`, 'My list:'],
	['a sentence above an introduction', `${sentence}\n${quote}`, 'On holiday.'],
	['an address that introduces nothing', `${noIntroduction}\n${quote}`, noIntroduction],
	['ten blank lines below an introduction', blankLines(10), 'Yes.'],
	['more of them', blankLines(11), 'Yes.\na@b.example:'],
	['a paragraph that is too long for an introduction', `${long(490)}\n${quote}`, long(490)],
	[
		'an introduction by the name alone',
		'Ann Lee wrote:\n> One?\n> Two?\nNo.',
		'Ann Lee wrote:\nNo.',
	],
	['a blank line in a quote', 'Yes.\n> One?\n\n> Two?\nNo.', 'Yes.\n\nNo.'],
	['a list that begins like a header', `Yes.\n\n${header(7)}`, `Yes.\n\n${header(7)}`],
	['nothing above a header', original, original],
	['a quote alone', quote, quote],
	['a signature alone', '-- \nBob', '-- \nBob'],
	['nothing', '', ''],
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

const begun = 'Begin forwarded message:\n\nFrom: Ann\nSubject: Offer\nDate: 5 May\n\nold';
const below = `Hi.\n\nThis came from ann@example.com:\n\n${begun.replaceAll(/^/gm, '> ')}`;
const accepted = 'On 5 May 2026 at 9:30, Ann <ann@example.com> wrote: we accept. Please act.';
const commands = 'I ran\n\n>>> print(1)\n\nas you wrote, but it prints 2.';
const journey = 'From: Hamburg\nTo: Berlin';
const forward = { ...reply, subject: 'Fwd: Offer' };

test.each([
	['a quotation without an introduction', 'Seneca said it.\n\n> Omnia aliena sunt.', first],
	['a quotation in an email that answers none', 'As Seneca said:\n\n> Omnia aliena sunt.', first],
	['a forwarded message', `Please look.\n\n${outlook('From', 'Sent', 'To', 'Subject')}`, forward],
	['a forwarded message in Gmail', 'FYI\n\n---------- Forwarded message ---------\nold', reply],
	['a forwarded message below its introduction', below, first],
	['a sentence behind an introduction', `Hi.\n\n${accepted}\n\n> Omnia`, first],
	['lines that only look like a header', `${journey}\nPrice: 20`, reply],
	['such lines above an address', `${journey}\nDate: 5 May\n\nAsk ann@example.com`, reply],
	['a quote between own lines', 'The label says:\n> Keep dry\n> and cool\nIs that right?', reply],
	['a quote of the sender', 'As I wrote, the label says:\n> Keep dry\nIs that right?', reply],
	['a command in an own text', commands, reply],
	['two hyphens that no LF sets apart', 'a\u2028--\u2028b\u2029-- \u2029c', reply],
])('%s stays', (_what, text, context) => {
	expect(keepNewText(text, context)).toBe(text);
});

test.each([
	[20, 'Hi'],
	[21, undefined],
])('a signature of %d lines', (count, rest) => {
	const text = `Hi\n-- \n${Array.from({ length: count }, (_, at) => `line ${at}`).join('\n')}`;
	expect(keepNewText(text, reply)).toBe(rest ?? text);
});

test('a ruler stays, and an empty signature goes', () => {
	expect(keepNewText('a\n---\nb\n--', reply)).toBe('a\n---\nb');
});

test.each([
	['its introduction above the first of two quotes', `${gmail}\n\nYes.\n\n> And where?`, first],
	['its introduction', `Yes.\n\nOn 5 Jan 2026, Ann <ann@example.com> wrote:\n${quote}`, first],
	['its subject', `${quote}\n\nYes.`, { subject: 'AW: Offer', hasReplyHeader: false }],
	['its header', `${quote}\n\nYes.`, { subject: 'Offer', hasReplyHeader: true }],
])('an answer is known by %s alone', (_what, text, context) => {
	expect(keepNewText(text, context)).toBe('Yes.');
});

const units = [
	...['> x\n', 'On 5 Jan 2026:\n> x\n', 'From: a\n', '\n', '-- \n', 'a@b.c:\n\n>', ':', '--'],
	...['a@b.c5:\n', '---- a wrote ----\n', '<a@b.c\n> wrote:\n', '>>> 1/1 >>>\n', '> x:\n\n'],
	...['On 5 2026 10:00 wrote', '<a@b.c> wrote: x ', '> Forwarded:\n', 'Sent from my phone\n'],
	...['Date: 1:00\n\n', '___\nFrom: a\nTo: b\n', 'On '],
];
const inMiddle = [
	...['>a\n\n\n', ' ', '-----\n', 'From: a\n', '>\n\n'],
	'On 5 Jan 2026, a@b.c wrote:\n> x\n',
];
const shortHeader = 'From: a\nDate: b\nSubject: c\n';
/** What a long text is made of, the text, and the most characters. */
type Long = [unit: string, textOf: (text: string) => string, most: number];

test.each<Long>([
	...units.map((unit): Long => [unit, (text) => text, 2_000_000]),
	...inMiddle.map((unit): Long => [unit, (text) => `x:\n${text}x\n${shortHeader}`, 2_000_000]),
	// The line above an introduction, and a header line with many times.
	['@>', (line) => `${line}\n2026-01-05 10:00 <a@b.c> wrote:\n> x\n\n`.repeat(200), 240],
	['1:', (text) => `From: ${text}x`, 100_000],
])('costs no more than the length of %j', (unit, textOf, most) => {
	expectLinear(unit, textOf, (text) => keepNewText(text, reply), most);
});
