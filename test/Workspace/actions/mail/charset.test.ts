import fc from 'fast-check';

import type { Bodies } from '../../../../dev/google/gmail/charsets';
import { decodeText, decodeHeader } from '../../../../nodes/untrusted/mail/charset';
import { getDecodedHeader } from '../../../../nodes/untrusted/mail/mimePart';
import { encoded } from './legacy';
import { Mails } from './mails';

const texts: Readonly<Record<string, string>> = {
	gb2312: '尊敬的客户，您的账单已经出来了。',
	gbk: '阿里雲：您的賬戶餘額不足',
	gb18030: '镕基·朱',
	big5: '新世紀網每日摘要，請查收',
	'big5-hkscs': '香港天氣',
	shift_jis: 'お世話になっております。ﾃｽﾄ',
	'x-sjis': '会議の件',
	cp932: '①見積書',
	'euc-jp': '水野様、ありがとう',
	'euc-kr': '안녕하세요, 청구서입니다',
	'ks_c_5601-1987': '감사합니다',
	cp949: '감사',
	'koi8-r': 'Здравствуйте, ещё раз',
	'koi8-u': 'Їжак і ґава',
	'windows-1251': '«Счёт» — оплата № 17',
	'cp-1251': 'Её счёт',
	'iso-8859-5': 'Привет',
	ibm866: 'Привет из ДОС',
	'windows-874': 'สวัสดีครับ',
	'tis-620': 'ขอบคุณ',
	'iso-8859-7': 'Καλημέρα',
	'windows-1253': 'Ευχαριστώ πολύ',
	'windows-1255': 'שלום עולם',
	'iso-8859-8-i': 'תודה',
	'windows-1256': 'مرحبا بالعالم',
	'iso-8859-6': 'شكرا',
	'iso-8859-2': 'Zażółć gęślą jaźń',
	'windows-1250': 'Příliš žluťoučký kůň',
	'windows-1254': 'Günaydın, şekerim',
	'windows-1257': 'Ačiū už žąsį',
	'windows-1258': 'Vi\u0323\u00ea\u0323t',
	'iso-8859-1': 'Grüße, déjà vu',
	'iso-8859-15': 'Preis: 5 €',
	'windows-1252': '“Grüße” – 5 €',
	macintosh: 'Grüße “π”',
};
const names = Object.keys(texts);
/** What Node knows the charset as. */
const known = (name: string) =>
	({ cp932: 'shift_jis', cp949: 'euc-kr', 'cp-1251': 'windows-1251' })[name] ?? name;

describe('a text of an old charset', () => {
	it.each(names)('%s comes through in its own bytes and in UTF-8', (name) => {
		const text = texts[name] ?? '';
		expect(decodeText(encoded(text, known(name)), name)).toBe(text);
		expect(decodeText(Buffer.from(text), name)).toBe(text);
		expect(decodeText(encoded(text, known(name)), name.toUpperCase())).toBe(text);
	});

	it.each([
		['gb2312', 'Résumé · été'],
		['gb2312', 'Köln'],
		['windows-1251', 'für 5 €'],
		['koi8-r', '• café'],
		['shift_jis', '😀'],
		['big5', '你好 😀'],
		['gbk', '©'],
		['gb2312', 'Hello,\u00a0\n'],
	])('%s: %s in UTF-8 under a name that is not its own', (name, text) => {
		expect(decodeText(Buffer.from(text), name)).toBe(text);
	});

	it('plain ASCII is plain ASCII under any name', () => {
		const ascii = fc.stringMatching(/^[ -}]*$/);
		fc.assert(
			fc.property(
				ascii,
				fc.constantFrom(...names, 'iso-2022-jp', 'iso-2022-kr', 'utf-16'),
				(text, name) => {
					expect(decodeText(Buffer.from(text), name)).toBe(text);
				},
			),
		);
	});

	it('what Gmail has changed to UTF-8 comes through, whatever its letters are', () => {
		fc.assert(
			fc.property(
				fc.constantFrom(...names),
				fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
				(name, picks) => {
					const letters = Array.from(texts[name] ?? '');
					const text = picks.map((pick) => letters[pick % letters.length]).join('');
					expect(decodeText(Buffer.from(text), name)).toBe(text);
				},
			),
		);
	});

	it('a whole text of two bytes each comes through in its own bytes', () => {
		// Letters as they come in the charset's first rows: 16 of them are UTF-8 by chance less than once in millions.
		const rows = Array.from({ length: 72 * 94 }, (_, at) => [
			0xb0 + Math.floor(at / 94),
			0xa1 + (at % 94),
		]);
		const decoder = new TextDecoder('gbk');
		fc.assert(
			fc.property(
				fc.array(fc.constantFrom(...rows), { minLength: 16, maxLength: 60 }),
				(pairs) => {
					const bytes = Buffer.from(pairs.flat());
					expect(decodeText(bytes, 'gb2312')).toBe(decoder.decode(bytes));
				},
			),
		);
	});
});

describe('a decoder', () => {
	it('is not used for a header that nobody wants', () => {
		const decode = jest.spyOn(TextDecoder.prototype, 'decode');
		try {
			const headers = ['=?koi8-r?q?=F3?=', '=?gbk?q?=80?=', '=?big5?q?=A4@?='];
			const message = {
				payload: { headers: headers.map((value) => ({ name: 'To', value })) },
			};
			expect(getDecodedHeader(message.payload, 'TO')).toBe('С');
			expect(decode).toHaveBeenCalledTimes(1);
		} finally {
			decode.mockRestore();
		}
	});

	it('is made once for a charset, whatever its name is written like', () => {
		const decode = jest.spyOn(TextDecoder.prototype, 'decode');
		try {
			for (const name of ['x-unknown', 'X-Unknown', 'x-unknown '])
				decodeText(Buffer.from([0x80]), name);
			expect(decode).toHaveBeenCalledTimes(3);
			expect(new Set(decode.mock.contexts).size).toBe(1);
		} finally {
			decode.mockRestore();
		}
	});
});

describe('a text with a wrong byte', () => {
	const russian = Buffer.from('Здравствуйте, это счёт за май. Спасибо!');
	const wrong = (text: Buffer, ...octets: number[]) =>
		Buffer.concat([text, Buffer.from(octets), Buffer.from(' – ende')]);

	const otherNames = ['utf-8', 'UTF8', '', 'us-ascii', 'windows-1251', 'gb2312', 'iso-8859-1'];

	it.each(otherNames)('in UTF-8 under the name %j loses only that byte', (name) => {
		const decoded = decodeText(wrong(russian, 0xe9), name);
		expect(decoded).toBe('Здравствуйте, это счёт за май. Спасибо!\ufffd – ende');
	});

	it('is UTF-8 where a program cut its last letter', () => {
		const whole = Buffer.from('你好');
		expect(decodeText(whole.subarray(0, -1), 'utf-8')).toBe('你\ufffd');
	});

	it('is what it was, where few letters would be UTF-8', () => {
		expect(decodeText(Buffer.from('Grüße, déjà vu: Ã©', 'latin1'), 'utf-8')).toBe(
			'Grüße, déjà vu: Ã©',
		);
		expect(decodeText(Buffer.from('Grüße, déjà vu: Ã©', 'latin1'), '')).toBe(
			'Grüße, déjà vu: Ã©',
		);
		expect(decodeText(Buffer.from('Grüße', 'latin1'), 'utf-8')).toBe('Grüße');
	});

	it.each(names)('in %s stays in it, also with bytes that would be letters in UTF-8', (name) => {
		const text = texts[name] ?? '';
		const bytes = encoded(text, known(name));
		expect(decodeText(Buffer.concat([bytes, bytes, bytes]), name)).toBe(text.repeat(3));
	});

	it('comes through where half of the letters of a name were Latin-1', () => {
		const name = '=?utf-8?Q?J=C3=B6rg_M=FCller_=C3=9Fen?=';
		expect(decodeHeader(name)).toBe('Jörg M\ufffdller ßen');
	});
});

describe('charsets of seven bits', () => {
	const jis = '\u001b$B$3$s\u001b(B ok';
	it.each<[string, string, string]>([
		['iso-2022-jp', jis, 'こん ok'],
		['ISO-2022-JP', 'Re: \u001b$B?eLn\u001b(J', 'Re: 水野'],
		// zammad/zammad#6144
		['', jis, 'こん ok'],
		['us-ascii', jis, 'こん ok'],
	])('%s is read by its escapes', (name, text, expected) => {
		expect(decodeText(Buffer.from(text, 'latin1'), name)).toBe(expected);
	});

	it.each(['iso-2022-jp', 'iso-2022-kr'])('%s is UTF-8 without them', (name) => {
		expect(decodeText(Buffer.from('水野様 안녕 你好'), name)).toBe('水野様 안녕 你好');
	});
});

it.each<[string, Buffer, string]>([
	['utf-16', Buffer.from('\ufeffGrüße', 'utf16le'), 'Grüße'],
	['', Buffer.from('\ufeffGrüße', 'utf16le').swap16(), 'Grüße'],
	['utf-16be', Buffer.from('Grüße', 'utf16le').swap16(), 'Grüße'],
	['utf-16le', Buffer.from('Grüße', 'utf16le'), 'Grüße'],
	['utf-16', Buffer.from('Grüße 你好'), 'Grüße 你好'],
	['utf-8', Buffer.from('\ufeffHi'), 'Hi'],
])('%s with %j', (name, bytes, text) => {
	expect(decodeText(bytes, name)).toBe(text);
});

describe('Gmail hands over', () => {
	const mails = new Mails();

	const some = ['gb2312', 'big5', 'shift_jis', 'euc-kr', 'koi8-r', 'windows-874', 'windows-1251'];
	const charsets = some.map((name): [string, Buffer, string] => {
		const text = texts[name] ?? '';
		return [name, encoded(text, name), text];
	});
	const japanese: [string, Buffer, string] = [
		'iso-2022-jp',
		Buffer.from('\u001b$B$3$s\u001b(B'),
		'こん',
	];
	const cases = (['decoded', 'allDecoded', 'asSent'] as const).flatMap((bodies) =>
		[...charsets, japanese].map((each): [Bodies, ...typeof each] => [bodies, ...each]),
	);

	it.each(cases)('%s bodies: %s', async (bodies, name, bytes, text) => {
		mails.google.gmail.bodies = bodies;
		const head = Buffer.from(`Content-Type: text/plain; charset="${name}"\r\n\r\n`);
		const messageId = mails.google.gmail.seed({ raw: Buffer.concat([head, bytes]) });
		const [item] = await mails.run('read', { messageId });
		expect(item?.json['text']).toBe(text);
	});
});

describe('a text of two bytes each', () => {
	it.each<[string, string, number[]]>([
		['', 'é', [0xff, 0xfe, 0xe9, 0]],
		['utf-8', 'é', [0xfe, 0xff, 0, 0xe9]],
		['utf-16', 'é!', [0xe9, 0, 0x21, 0]],
		['utf-16', 'a', [0, 0x61]],
		['UTF-16BE', '€', [0x20, 0xac]],
		['utf-16', 'é', [0xc3, 0xa9]],
		['unicode', 'a', [0x61, 0]],
		['windows-1252', 'ÿa', [0xff, 0x61]],
		['windows-1252', 'þa', [0xfe, 0x61]],
		['windows-1252', 'aþ', [0x61, 0xfe]],
		['windows-1252', 'aÿ', [0x61, 0xff]],
	])('under the name %j is %s', (name, text, octets) => {
		expect(decodeText(Buffer.from(octets), name)).toBe(text);
	});
});

describe('encoded words', () => {
	it.each([
		['a letter in two words', '=?utf-8?Q?caf=C3?= =?UTF-8?Q?=A9_x?=', 'café x'],
		['words of two charsets', '=?utf-8?B?w6k=?=\r\n =?iso-8859-1*fr?q?=E9?=', 'éé'],
		['text between words', '=?utf-8?Q?a?= b =?utf-8?Q?c?=', 'a b c'],
		['what only begins like one', 'a =?utf-8?X?a?=', 'a =?utf-8?X?a?='],
	])('%s', (_what, value, text) => {
		expect(decodeHeader(value)).toBe(text);
	});
});

it.each<[string, string, number[]]>([
	['cp936', '你', [0xc4, 0xe3]],
	['cp950', '你', [0xa7, 0x41]],
	['ms_932', 'あ', [0x82, 0xa0]],
	['windows-949', '안', [0xbe, 0xc8]],
	['cp874', 'ส', [0xca]],
	['x-gbk', '你', [0xc4, 0xe3]],
	['utf-8', 'é', [0xe9]],
	['no-such-charset', '€', [0x80]],
])('the charset named %s', (name, text, octets) => {
	expect(decodeText(Buffer.from(octets), name)).toBe(text);
});
