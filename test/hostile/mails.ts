import type { Random } from './random';

/** A part of a mail as Gmail's API gives it. */
interface Part {
	readonly mimeType: string;
	readonly partId?: string;
	readonly filename?: string;
	readonly headers?: readonly Header[];
	readonly body?: {
		readonly size: number;
		readonly data?: string;
		readonly attachmentId?: string;
	};
	readonly parts?: readonly Part[];
}

interface Header {
	readonly name: string;
	readonly value: string;
}

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64url');

/** HTML that costs a reader more than its length. */
const pages: ReadonlyArray<(random: Random) => string> = [
	(random) => `<table><tr><td rowspan=${random.size(1e3, 1e12)}>x`,
	(random) => `<table><tr><td colspan=${random.size(1e3, 1e9)}>x<td>y</table>`,
	(random) => '<table><tr><td rowspan=65534 colspan=1000>x'.repeat(random.size(10, 2_000)),
	(random) =>
		random
			.pick(['<div>', '<b>', '<blockquote>', '<ul><li>', '<a href=x>'])
			.repeat(random.size(500, 200_000)),
	(random) => '<table><tr><td>'.repeat(random.size(100, 20_000)),
	(random) =>
		random
			.pick(['<', '<!--', '<![CDATA[', '&', '&#', '</', '<a b="', '<script>'])
			.repeat(random.size(1e3, 1e5)),
	(random) => `<a href="${random.text(random.size(1e3, 1e6), ['\\"', '&amp;', '%22', '/'])}">x`,
	(random) => `<p ${random.text(random.size(1e3, 3e5), ['a=b ', "c='", 'd ', '"'])}>x</p>`,
	(random) =>
		`<pre>${' '.repeat(random.size(1e3, 2e6))}x</pre><p>${'\u00a0 \n'.repeat(random.size(1e3, 1e5))}</p>`,
	(random) =>
		random.text(random.size(1e3, 3e5), [
			'<b>',
			'</i>',
			'<p>',
			'</table>',
			'x ',
			'<td>',
			'&lt',
			'\0',
			'\u{e000}',
		]),
	(random) =>
		`<style>${'{'.repeat(random.size(1e3, 1e5))}</style><ol start=${random.size(1e3, 1e15)}><li>x<li>y`,
];

/** Text that has a meaning in a charset, an encoded word, an address, a parameter or a name. */
const signs = [
	...[
		'\u001b$)C',
		'\u000e',
		'\u000f',
		'\u001b$B',
		'\u001b(B',
		'~{',
		'~}',
		'+AG',
		'-',
		'\u0423',
		'\u0144',
		'\u{1f600}',
		'\ufeff',
	],
	...[
		'=?',
		'?=',
		'?q?',
		'?B?',
		'=80',
		'4pi6',
		'utf-8',
		' ',
		'_',
		'<',
		'>',
		'"',
		'\\',
		'(',
		')',
		',',
		';',
		'@',
		"''",
	],
	...[
		'charset=',
		'filename*=',
		'boundary=',
		'../',
		'\0',
		'\u202e',
		'\r',
		'\n',
		'\n> ',
		'\n\n\n',
		'\nFrom: a\nDate: b\nSubject: c\n',
		'\n-- \n',
		'\nOn 5 Jan 2026, a@b.c wrote:\n',
	],
] as const;

const charsets = [
	'utf-8',
	'utf-7',
	'utf-16',
	'koi8-r',
	'gb18030',
	'iso-2022-jp',
	'iso-2022-kr',
	'hz-gb-2312',
	'x',
	'',
] as const;

/** Picks a known charset or an unknown one. */
function charset(random: Random): string {
	return random.next() < 0.7
		? random.pick(charsets)
		: random.text(random.size(1, 1e4), ['a', '1', '-', ':']);
}

/** A few signs in any order, again and again. */
function text(random: Random, most: number): string {
	const period = random.text(random.size(1, 100), signs);
	return period.repeat(Math.ceil(random.size(1, most) / period.length));
}

function encodedWords(random: Random, most: number): string {
	const word = () => {
		const content = random.next() < 0.5 ? '=80' : text(random, 30).replaceAll(/[?\s]/g, '');
		return `=?${charset(random)}?${random.pick(['q', 'b'])}?${content}?=${random.pick(['', ' '])}`;
	};
	const period = Array.from({ length: random.size(1, 40) }, word).join('');
	return period.repeat(Math.ceil(random.size(1, most) / period.length));
}

const headerNames = [
	...(['Subject', 'From', 'To', 'Cc', 'Reply-To', 'References'] as const),
	...(['Content-Type', 'Content-Disposition', 'Content-ID'] as const),
] as const;

/** Makes few long headers or many short ones. */
function headers(random: Random, volume: number): Header[] {
	const count = random.size(1, Math.min(20_000, Math.ceil(volume / 10)));
	const value = random
		.pick([encodedWords, text] as const)(random, volume / count)
		.slice(0, Math.ceil(volume / count));
	return Array.from({ length: count }, () => ({ name: random.pick(headerNames), value }));
}

function content(random: Random, volume: number): Buffer {
	if (volume > 1e3 && random.next() < 0.1) return random.bytes(random.size(100, 1e5));
	return Buffer.from(text(random, volume), random.pick(['utf8', 'latin1', 'utf16le']));
}

/** @param volume about how many characters, of the content and of what stands around it */
function leaf(random: Random, volume: number): Part {
	const mimeType = random.pick([
		'text/plain',
		'text/html',
		'text/calendar',
		'image/png',
		'\r\nX: y',
	]);
	// Among thousands of small parts, each counts for the limit of one answer.
	const isPage = volume > 1e3 && mimeType === 'text/html' && random.next() < 0.7;
	const bytes = isPage
		? Buffer.from(pages[random.size(1, pages.length) - 1]?.(random) ?? '')
		: content(random, volume);
	// Some data is not made by an encoder, because an encoder never makes invalid base64.
	const data = random.next() < 0.1 ? text(random, volume) : base64(bytes);
	const type = {
		name: 'Content-Type',
		value: `${mimeType}; charset=${charset(random).slice(0, Math.max(20, volume))}`,
	};
	return {
		mimeType,
		filename: random.next() < 0.3 ? text(random, volume) : '',
		headers: [type, ...(random.next() < 0.3 ? headers(random, volume) : [])],
		body:
			volume > 1e3 && random.next() < 0.1
				? { size: 2 ** 53, attachmentId: 'elsewhere' }
				: { size: bytes.length, data },
	};
}

const multiparts = ['mixed', 'alternative', 'related', 'signed', 'digest'] as const;

/** Makes an email of many parts on few levels, or of few parts on many. */
function mail(random: Random): Part {
	const volume = random.size(1e3, 1e6);
	const levels = random.size(1, 2_000);
	const width = random.size(1, 5_000 / levels);
	let part = leaf(random, volume);
	for (let level = 0; level < levels; level++) {
		const small = leaf(random, 20);
		const mimeType =
			random.next() < 0.2 ? 'message/rfc822' : `multipart/${random.pick(multiparts)}`;
		const parts = Array.from({ length: width }, () => small);
		parts.splice(Math.floor(random.next() * width), 1, part);
		part = { mimeType, partId: String(level), parts };
	}
	return { ...part, headers: headers(random, random.size(1e3, 1e6)) };
}

export const mailMakers: ReadonlyArray<(random: Random) => Part> = [
	mail,
	(random) => ({ ...leaf(random, random.size(1e3, 1e6)), headers: headers(random, 1e6) }),
];

/** Builds the answer to a read of the email. */
export function mailResource(id: string, part: Part): string {
	return JSON.stringify({
		id,
		threadId: id,
		labelIds: ['UNREAD'],
		snippet: '&lt;'.repeat(50),
		internalDate: '1',
		payload: part,
	});
}

/** Makes a text that Gmail stores separately. */
export function storedText(random: Random): string {
	return base64(content(random, 1e7));
}
