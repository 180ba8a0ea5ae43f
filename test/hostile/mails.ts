import type { Random } from './random';

/** A part of a mail as Gmail's API gives it. */
interface Part {
	readonly mimeType: string;
	readonly filename?: string;
	readonly headers?: ReadonlyArray<{ name: string; value: string }>;
	readonly body?: { readonly size: number; readonly data?: string; readonly attachmentId?: string };
	readonly parts?: readonly Part[];
}

const named = (name: string, value: string) => ({ name, value });
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64url');

function leaf(mimeType: string, text: string | Buffer, contentType = `${mimeType}; charset=utf-8`): Part {
	const body = { size: Buffer.byteLength(text), data: base64(text) };
	return { mimeType, filename: '', headers: [named('Content-Type', contentType)], body };
}

const html = (text: string) => leaf('text/html', text);

/** Each opens something that costs a reader of HTML more than its length. */
const pages: ReadonlyArray<(random: Random) => string> = [
	(random) => `<table><tr><td rowspan=${random.size(1e3, 1e12)}>x`,
	(random) => `<table><tr><td colspan=${random.size(1e3, 1e9)}>x<td>y</table>`,
	(random) => '<table><tr><td rowspan=65534 colspan=1000>x'.repeat(random.size(10, 2_000)),
	(random) =>
		random.pick(['<div>', '<b>', '<blockquote>', '<ul><li>', '<a href=x>']).repeat(random.size(500, 200_000)),
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

function nested(random: Random): Part {
	let part = html('<p>inside');
	for (let left = random.size(50, 1_500); left > 0; left--)
		part = {
			mimeType: random.pick(['multipart/mixed', 'multipart/alternative', 'message/rfc822']),
			parts: [part],
		};
	return part;
}

function wide(random: Random): Part {
	const parts = Array.from({ length: random.size(100, 5_000) }, (_, at) =>
		leaf(random.pick(['text/plain', 'text/html', 'application/x']), `<p>part ${at}`),
	);
	return { mimeType: 'multipart/mixed', parts };
}

function ofUnknownCharset(random: Random): Part {
	const charset = random.pick([
		'utf-7',
		'x-unknown',
		'utf-16',
		'iso-2022-jp',
		'"',
		'a'.repeat(1e5),
		'utf-8\0',
		'gb18030',
	]);
	return leaf(
		'text/plain',
		random.bytes(random.size(100, 1e5)),
		`text/plain; charset=${charset}; a*0="${charset}`,
	);
}

function brokenBase64(random: Random): Part {
	const data = random.text(random.size(100, 3e5), ['=', '_', '-', '+', '/', 'AAAA', '\n', '*', 'é']);
	return { mimeType: 'text/html', body: { size: -1, data } };
}

function manyHeaders(random: Random): Part {
	const values = [
		random.text(random.size(1e3, 1e5), ['=?utf-8?Q?', '?=', '=?x?B?', ' ', '=']),
		random.text(random.size(1e3, 1e5), ['<', '"', '\\', '(', ',', 'a@b', '>', ';']),
		'('.repeat(random.size(1e3, 1e5)),
		'=?utf-8?B?4pi6?= '.repeat(random.size(1e3, 1e4)),
	];
	const names = [
		'Subject',
		'From',
		'To',
		'Cc',
		'Reply-To',
		'Content-Type',
		'Content-Disposition',
		'Date',
		'References',
	];
	const headers = names.map((name) => named(name, values[Math.floor(random.next() * values.length)] ?? ''));
	return { mimeType: 'text/plain', headers, body: { size: 1, data: base64('x') } };
}

function attached(random: Random): Part {
	const name = random.text(random.size(100, 1e5), ['../', '\0', '\u202e', '.exe', '"', '%']);
	const file: Part = { mimeType: '\r\nX: y', filename: name, body: { size: 2 ** 53, attachmentId: 'none' } };
	return { mimeType: 'multipart/related', parts: [file, html(`<img src="cid:${name}">`)] };
}

export const mailMakers: ReadonlyArray<(random: Random) => Part> = [
	...pages.map((page) => (random: Random) => html(page(random))),
	nested,
	wide,
	ofUnknownCharset,
	brokenBase64,
	manyHeaders,
	attached,
	(random) => leaf('text/plain', random.text(random.size(1e3, 2e6), ['\n> ', ' ', '\r', '\u2028', 'x'])),
];

/** The answer to a read of it. */
export function mailResource(id: string, part: Part): string {
	const payload = { ...part, headers: part.headers ?? [named('Subject', 'Hostile')] };
	return JSON.stringify({
		id,
		threadId: id,
		labelIds: ['UNREAD'],
		snippet: '&lt;'.repeat(50),
		internalDate: '1',
		payload,
	});
}
