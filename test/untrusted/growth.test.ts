import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { buildParagraph } from '../../nodes/untrusted/document/blocks';
import { documentTabsToText } from '../../nodes/untrusted/document/documentTabsToText';
import { getStoredText } from '../../nodes/Workspace/actions/document/documentState';
import { layOut } from '../../nodes/Workspace/actions/document/content/layout';
import { RequestBuilder } from '../../nodes/Workspace/actions/document/content/requestBuilder';
import { addListRequests } from '../../nodes/Workspace/actions/document/content/styleRequests';
import { decodeText, decodeHeader } from '../../nodes/untrusted/mail/charset';
import { decodeAddresses } from '../../nodes/untrusted/mail/decodeAddresses';
import { readMail } from '../../nodes/untrusted/mail/readMail';
import { expectLinear } from '../growth';

type Element = docs_v1.Schema$StructuralElement;

/** Characters; Gmail takes less. */
const longestHeader = 1_000_000;

interface Growth<T> {
	readonly inputOf: (text: string) => T;
	readonly work: (input: T) => unknown;
	readonly most?: number;
}

function costsNoMoreThanItsLength<T>(what: string, units: string[], growth: Growth<T>): void {
	test.each(units)(`${what} costs no more than the length of %j`, (unit) => {
		expectLinear(unit, growth.inputOf, growth.work, growth.most);
	});
}

const words = ['=?utf-8?B?4pi6?= ', '=?utf-8?Q?=E2=98=BA?=x', '=?', '=?x?Q?', '=?utf-8?B?', ' '];
costsNoMoreThanItsLength('a header with encoded words', words, {
	inputOf: (text) => `=?utf-8?Q?a?=${text}`,
	work: decodeHeader,
	most: longestHeader,
});

const inNames = ['"', '\\"', ',"', ',\\"', '<', 'a', '=', '=?x?Q?', '"a" ', ' ', '>,'];
costsNoMoreThanItsLength('a list of addresses', inNames, {
	inputOf: (text) => `"${text}<a@b>`,
	work: decodeAddresses,
	most: longestHeader,
});

const read = (payload: gmail_v1.Schema$MessagePart, more: gmail_v1.Schema$Message = {}) =>
	readMail({ message: { ...more, payload }, withText: true, separateTexts: {} });
const partOf = (mimeType: string, text: string, contentType = mimeType) => ({
	mimeType,
	headers: [{ name: 'Content-Type', value: contentType }],
	body: { data: Buffer.from(text).toString('base64url') },
});

costsNoMoreThanItsLength('to see if a text stands for its HTML', ['[', 'a', '[a]', ' '], {
	inputOf: (text) => ({
		mimeType: 'multipart/alternative',
		parts: [partOf('text/plain', 'View as HTML'), partOf('text/html', text)],
	}),
	work: read,
});

const inTypes = ['charset=', 'charset ', "charset='", ' ', "charset=a'", '-charset', ';'];
costsNoMoreThanItsLength('the charset of a part', inTypes, {
	inputOf: (text) => partOf('text/html', text, `text/html; charset${text}`),
	work: read,
});

const inFileNames = ['*', ';', '"', '\\', '(', '; a*0*=', ";*1='", '%', '*1'];
costsNoMoreThanItsLength('the name of a file', inFileNames, {
	inputOf: (text) => ({
		mimeType: 'application/pdf',
		headers: [{ name: 'Content-Disposition', value: `attachment; filename*=a''${text}` }],
	}),
	work: read,
	most: longestHeader,
});

costsNoMoreThanItsLength('a preview', [' ', ' x', '&amp; ', '&'], {
	inputOf: (snippet) => ({ snippet }),
	work: (message) => read({}, message),
});

const wrappings = ['a \n', '>', '> a \n', ' \n', '\n', '\r', ' ', '-- \n', ' >'];
costsNoMoreThanItsLength('a wrapped text', wrappings, {
	inputOf: (text) => partOf('text/plain', `${text}a \n${text}`, 'text/plain; format=flowed'),
	work: read,
});

test.each([
	['iso-2022-jp', '\u001b$B$3\u001b(B'],
	['koi8-r', '\u0423'],
	['gbk', '\u0144'],
])('a text in %s costs no more than the length of %j', (charset, unit) => {
	const decode = (bytes: Buffer) => decodeText(bytes, charset);
	expectLinear(unit, (text) => Buffer.from(text), decode, 2_000_000);
});

test('an email costs no more than its parts', () => {
	const partsOf = (text: string) => Array.from(text, () => ({ mimeType: 'text/plain' }));
	const mailOf = (text: string) => ({ mimeType: 'multipart/related', parts: partsOf(text) });
	expectLinear('x', mailOf, read, 30_000);
});

test('an email costs no more than its levels of parts', () => {
	const mailOf = (text: string) => {
		let part: gmail_v1.Schema$MessagePart = partOf('text/plain', text);
		for (let level = 0; level < 49; level++)
			part = { mimeType: 'multipart/mixed', parts: [part, partOf('text/plain', 'foo')] };
		return part;
	};
	expectLinear('x', mailOf, read, 300_000);
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
				listIndexes: [Math.floor(at / 10)],
				kind: 'bullet' as const,
			},
		}));
		return layOut(blocks, 1, () => false);
	};
	expectLinear(' ', layoutOf, (layout) => {
		addListRequests(new RequestBuilder('t.0'), layout, []);
	});
});
