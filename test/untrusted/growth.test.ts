import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { buildParagraph } from '../../nodes/untrusted/document/blocks';
import { documentTabsToText } from '../../nodes/untrusted/document/documentTabsToText';
import { getStoredText } from '../../nodes/Workspace/actions/document/documentState';
import { layOut } from '../../nodes/Workspace/actions/document/layout';
import { RequestBuilder } from '../../nodes/Workspace/actions/document/requestBuilder';
import { setLists } from '../../nodes/Workspace/actions/document/styleRequests';
import { decodeText, decodeHeader } from '../../nodes/untrusted/mail/charset';
import { decodeAddresses } from '../../nodes/untrusted/mail/decodeAddresses';
import { keepNewText } from '../../nodes/untrusted/mail/newText';
import { readMail } from '../../nodes/untrusted/mail/readMail';
import { expectLinear } from '../growth';

type Element = docs_v1.Schema$StructuralElement;

/** Characters; Gmail takes less. */
const longestHeader = 1_000_000;

test.each(['=?utf-8?B?4pi6?= ', '=?utf-8?Q?=E2=98=BA?=x', '=?', '=?x?Q?', '=?utf-8?B?', ' '])(
	'encoded words cost no more than the length of %j',
	(unit) => {
		expectLinear(unit, (text) => `=?utf-8?Q?a?=${text}`, decodeHeader, longestHeader);
	},
);

test.each(['"', '\\"', ',"', ',\\"', '<', 'a', '=', '=?x?Q?', '"a" ', ' ', '>,'])(
	'a list of addresses costs no more than the length of %j',
	(unit) => {
		expectLinear(unit, (text) => `"${text}<a@b>`, decodeAddresses, longestHeader);
	},
);

const read = (payload: gmail_v1.Schema$MessagePart, more: gmail_v1.Schema$Message = {}) =>
	readMail({ message: { ...more, payload }, withText: true, separateTexts: {} });

test.each(['[', 'a', '[a]', ' '])(
	'whether a text stands for the HTML beside it is found in the time of the length of %j',
	(unit) => {
		const part = (mimeType: string, text: string) => ({
			mimeType,
			body: { data: Buffer.from(text).toString('base64url') },
		});
		const mailOf = (text: string) => ({
			mimeType: 'multipart/alternative',
			parts: [part('text/plain', 'View as HTML'), part('text/html', text)],
		});
		expectLinear(unit, mailOf, read);
	},
);

test.each(['charset=', 'charset ', "charset='", ' ', "charset=a'", '-charset', '<meta ', ';'])(
	'the charset of a part costs no more than the length of %j',
	(unit) => {
		const partOf = (text: string) => ({
			mimeType: 'text/html',
			headers: [{ name: 'Content-Type', value: `text/html; charset${text}` }],
			body: { data: Buffer.from(text).toString('base64url') },
		});
		expectLinear(unit, partOf, read);
	},
);

test.each(['*', ';', '"', '\\', '(', '; a*0*=', ";*1='", '%', '*1'])(
	'the name of a file costs no more than the length of %j',
	(unit) => {
		const partOf = (text: string) => ({
			mimeType: 'application/pdf',
			headers: [{ name: 'Content-Disposition', value: `attachment; filename*=a''${text}` }],
		});
		expectLinear(unit, partOf, read, longestHeader);
	},
);

test.each([' ', ' x', '&amp; ', '&'])('a preview costs no more than the length of %j', (unit) => {
	expectLinear(
		unit,
		(snippet) => ({ snippet }),
		(message) => read({}, message),
	);
});

test.each(['>a\n\n\n', ' ', '-----\n', 'From: a\n', 'On 5 Jan 2026, a@b.c wrote:\n> x\n', '>\n\n'])(
	'the new part of a text costs no more than the length of %j',
	(unit) => {
		const header = 'From: a\nDate: b\nSubject: c\n';
		expectLinear(
			unit,
			(text) => `x:\n${text}x\n${header}`,
			(text) => keepNewText(text, { subject: 'Re: x', hasReplyHeader: true }),
		);
	},
);

test.each([
	['iso-2022-jp', '\u001b$B$3\u001b(B'],
	['koi8-r', '\u0423'],
	['gbk', '\u0144'],
])('a text in %s costs no more than the length of %j', (charset, unit) => {
	expectLinear(
		unit,
		(text) => Buffer.from(text),
		(bytes) => decodeText(bytes, charset),
		2_000_000,
	);
});

test.each(['a \n', '>', '> a \n', ' \n', '\n', '\r', ' ', '-- \n', ' >'])(
	'a wrapped text costs no more than the length of %j',
	(unit) => {
		const partOf = (text: string) => ({
			mimeType: 'text/plain',
			headers: [{ name: 'Content-Type', value: 'text/plain; format=flowed' }],
			body: { data: Buffer.from(`${text}a \n${text}`).toString('base64url') },
		});
		expectLinear(unit, partOf, read);
	},
);

/** One part for so many characters. */
const perPart = 10;
const structures: Array<[string, (text: string) => gmail_v1.Schema$MessagePart]> = [
	[
		'parts',
		(text) => ({
			mimeType: 'multipart/related',
			parts: Array.from({ length: text.length / perPart }, () => ({
				mimeType: 'text/plain',
			})),
		}),
	],
	[
		'levels of parts',
		(text) => {
			const data = Buffer.from(text).toString('base64url');
			let part: gmail_v1.Schema$MessagePart = { mimeType: 'text/plain', body: { data } };
			for (let level = 0; level < 49; level++) {
				part = {
					mimeType: 'multipart/mixed',
					parts: [part, { mimeType: 'text/plain', body: { data: 'Zm9v' } }],
				};
			}
			return part;
		},
	],
];
test.each(structures)('an email costs no more than its %s', (_what, partOf) => {
	expectLinear('x', partOf, read, 300_000);
});

const textRun = (content: string): Element => ({
	paragraph: { elements: [{ textRun: { content } }] },
});
const bulleted = (): Element => ({
	paragraph: {
		elements: [{ textRun: { content: 'x\n' } }],
		bullet: { listId: 'l', nestingLevel: 0 },
	},
});
const table = (cells: number): Element => ({
	table: {
		tableRows: [
			{ tableCells: Array.from({ length: cells }, () => ({ content: [textRun('a\n')] })) },
		],
	},
});
/** One element for so many characters: a document holds about a million. */
const perElement = 100;
const many = (text: string, make: () => Element) =>
	Array.from({ length: text.length / perElement }, make);

const contents: Array<[string, (text: string) => Element[]]> = [
	['spaces', (text) => [textRun(text)]],
	['paragraphs', (text) => many(text, () => textRun('x\n'))],
	['items of a list', (text) => many(text, bulleted)],
	['cells', (text) => [table(text.length / perElement)]],
	['tables', (text) => many(text, () => table(1))],
];

test.each(contents)('the text of a document costs no more than its %s', (_, contentOf) => {
	const tabOf = (text: string) => ({ body: { content: contentOf(text) } });
	expectLinear(' ', tabOf, (tab) => documentTabsToText([tab]));
	expectLinear(' ', contentOf, getStoredText);
});

test('the bullets of a document cost no more than its items', () => {
	const layoutOf = (text: string) => {
		const count = text.length / perElement;
		const blocks = Array.from({ length: count }, (_, at) => ({
			...buildParagraph([{ text: 'x', marks: {} }]),
			list: {
				level: at % 9,
				hasBullet: at % 3 > 0,
				lists: [Math.floor(at / 10)],
				kind: 'bullet' as const,
			},
		}));
		return layOut(blocks, 1, () => false);
	};
	expectLinear(' ', layoutOf, (layout) => {
		setLists(new RequestBuilder(undefined), layout, []);
	});
});
