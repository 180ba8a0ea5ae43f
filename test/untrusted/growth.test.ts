import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { paragraph } from '../../nodes/untrusted/document/blocks';
import { plainTextOf, storedText } from '../../nodes/untrusted/document/plainText';
import { layOut } from '../../nodes/Workspace/actions/document/layout';
import { listRequests } from '../../nodes/Workspace/actions/document/listRequests';
import { charsetOf } from '../../nodes/Workspace/actions/mail/message/mailText';
import { rawPart } from '../../nodes/untrusted/mail/rawPart';
import { decodedWords } from '../../nodes/untrusted/mail/encodedWords';
import { expectLinear } from '../growth';

type Element = docs_v1.Schema$StructuralElement;

/** Characters; Gmail takes less. */
const longestHeader = 1_000_000;

const asItIs = (text: string) => text;

test.each([
	'=?utf-8?B?4pi6?= ',
	'=?utf-8?Q?=E2=98=BA?=x',
	'=?',
	'=?x?Q?',
	'=?utf-8?B?',
	// Bytes that two charsets can read.
	'=?gbk?B?xKM=?=\u00fc',
	' ',
])('encoded words cost no more than the length of %j', (unit) => {
	expectLinear(unit, (text) => `=?utf-8?Q?a?=${text}`, decodedWords, longestHeader);
});

test.each(['charset=', 'charset ', "charset='", ' ', "charset=a'", '-charset', '<meta ', ';'])(
	'the charset of a part costs no more than the length of %j',
	(unit) => {
		const partOf = (value: string) => ({
			headers: [{ name: 'Content-Type', value: `text/html; charset${value}` }],
		});
		expectLinear(unit, asItIs, (text) => charsetOf(partOf(text), 'html', Buffer.from(text)));
	},
);

test.each(['--b', '\n--b', '--b\r\n', '\r\n', 'boundary=', '\nX: y', '=\n'])(
	'a part of an email costs no more than the length of %j',
	(unit) => {
		const type = 'Content-Type: multipart/mixed; boundary';
		for (const head of [`${type}=b\r\n\r\n--b\r\n`, type]) {
			expectLinear(
				unit,
				(text) => Buffer.from(head + text),
				(mail) => rawPart(mail, '0'),
			);
		}
	},
);

const textRun = (content: string): Element => ({ paragraph: { elements: [{ textRun: { content } }] } });
const bulleted = (): Element => ({
	paragraph: { elements: [{ textRun: { content: 'x\n' } }], bullet: { listId: 'l', nestingLevel: 0 } },
});
const table = (cells: number): Element => ({
	table: {
		tableRows: [{ tableCells: Array.from({ length: cells }, () => ({ content: [textRun('a\n')] })) }],
	},
});
/** One element for so many characters: a document holds about a million. */
const perElement = 100;
const many = (text: string, make: () => Element) => Array.from({ length: text.length / perElement }, make);

const contents: Array<[string, (text: string) => Element[]]> = [
	['spaces', (text) => [textRun(text)]],
	['paragraphs', (text) => many(text, () => textRun('x\n'))],
	['items of a list', (text) => many(text, bulleted)],
	['cells', (text) => [table(text.length / perElement)]],
	['tables', (text) => many(text, () => table(1))],
];

test.each(contents)('the text of a document costs no more than its %s', (_, contentOf) => {
	const tabOf = (text: string) => ({ body: { content: contentOf(text) } });
	expectLinear(' ', tabOf, plainTextOf);
	expectLinear(' ', contentOf, storedText);
});

test('the bullets of a document cost no more than its items', () => {
	const layoutOf = (text: string) => {
		const count = text.length / perElement;
		const blocks = Array.from({ length: count }, (_, at) => ({
			...paragraph([{ text: 'x', marks: {} }]),
			list: { level: at % 9, bullet: at % 3 > 0 },
		}));
		const lists = Array.from({ length: count / 10 }, (_, at) => ({
			first: at * 10,
			last: at * 10 + 9,
			ordered: at % 2 === 0,
		}));
		return layOut({ blocks, lists }, 1);
	};
	const rangeOf = (startIndex: number, endIndex: number) => ({ startIndex, endIndex });
	expectLinear(' ', layoutOf, (layout) => listRequests(layout, rangeOf, undefined));
});
