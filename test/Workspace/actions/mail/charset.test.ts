import fc from 'fast-check';

import type { Bodies } from '../../../../dev/google/gmail/charsets';
import { decodeText, decodeHeader } from '../../../../nodes/untrusted/mail/charset';
import { getDecodedHeader } from '../../../../nodes/untrusted/mail/mimePart';
import { Mails } from './mails';

const texts: Readonly<Record<string, string>> = {
	gb2312: '尊敬的客户，您的账单已经出来了。',
	gbk: '阿里雲：您的賬戶餘額不足',
	gb18030: '镕基·朱',
	big5: '新世紀網每日摘要，請查收',
	'big5-hkscs': '香港天氣',
	shift_jis: 'お世話になっております。①ﾃｽﾄ',
	'x-sjis': '会議の件',
	'euc-jp': '水野様、ありがとう',
	'euc-kr': '안녕하세요, 청구서입니다',
	'ks_c_5601-1987': '감사합니다',
	'koi8-r': 'Здравствуйте, ещё раз',
	'koi8-u': 'Їжак і ґава',
	'windows-1251': '«Счёт» — оплата № 17',
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
/** The text of a charset in it, which Node can only read: by trying what each pair of bytes means. */
function encode(name: string): Buffer {
	const decoder = new TextDecoder(name);
	const bytesOf = new Map<string, Buffer>();
	const add = (...octets: number[]) => {
		const bytes = Buffer.from(octets);
		const [letter = '', ...more] = Array.from(decoder.decode(bytes));
		if (more.length === 0 && letter !== '\ufffd' && !bytesOf.has(letter))
			bytesOf.set(letter, bytes);
	};
	for (let byte = 0; byte < 0x100; byte++) add(byte);
	for (let lead = 0x81; lead < 0xff; lead++)
		for (let trail = 0x40; trail < 0xff; trail++) add(lead, trail);
	const letters = Array.from(texts[name] ?? '');
	return Buffer.concat(letters.map((letter) => bytesOf.get(letter) ?? Buffer.from('missing')));
}

const encoded = new Map(names.map((name) => [name, encode(name)]));
const inOwnBytes = (name: string) => encoded.get(name) ?? Buffer.alloc(0);

describe('a text of an old charset', () => {
	it.each(names)('%s comes through in its own bytes and in UTF-8', (name) => {
		const text = texts[name] ?? '';
		const own = inOwnBytes(name);
		expect(decodeText(own, name)).toBe(text);
		expect(decodeText(own, name.toUpperCase())).toBe(text);
		expect(decodeText(Buffer.from(text), name)).toBe(text);
		// Some of its bytes would be letters in UTF-8.
		expect(decodeText(Buffer.concat([own, own, own]), name)).toBe(text.repeat(3));
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
		['iso-2022-jp', '水野様 안녕 你好'],
		['iso-2022-kr', '水野様 안녕 你好'],
		['utf-16', 'Grüße 你好'],
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
			// The first of them begins a stream.
			expect(decode).toHaveBeenCalledTimes(4);
			expect(new Set(decode.mock.contexts).size).toBe(1);
		} finally {
			decode.mockRestore();
		}
	});
});

describe('a text with a wrong byte', () => {
	it.each(['utf-8', 'UTF8', '', 'us-ascii'])(
		'in UTF-8 under the name %j loses only that byte',
		(name) => {
			const russian = Buffer.from('Здравствуйте, это счёт за май. Спасибо!');
			const cut = Buffer.concat([russian, Buffer.from([0xe9]), Buffer.from(' – ende')]);
			expect(decodeText(cut, name)).toBe(
				'Здравствуйте, это счёт за май. Спасибо!\ufffd – ende',
			);
		},
	);

	it('comes through where half of the letters of a name were Latin-1', () => {
		const name = '=?utf-8?Q?J=C3=B6rg_M=FCller_=C3=9Fen?=';
		expect(decodeHeader(name)).toBe('Jörg M\ufffdller ßen');
	});
});

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const octets = (...bytes: number[]) => Buffer.from(bytes);
const jis = latin1('\u001b$B$3$s\u001b(B ok');
const likeUtf8 = 'Grüße, déjà vu: Ã©';

it.each<[string, Buffer, string]>([
	['utf-8', latin1(likeUtf8), likeUtf8],
	['', latin1(likeUtf8), likeUtf8],
	['utf-8', latin1('Grüße'), 'Grüße'],
	['utf-8', octets(0xe9), 'é'],
	['utf-8', octets(0xe4, 0xbd, 0xa0, 0xe5, 0xa5), '你\ufffd'],
	['utf-8', Buffer.from('\ufeffHi'), 'Hi'],
	['iso-2022-jp', jis, 'こん ok'],
	['ISO-2022-JP', latin1('Re: \u001b$B?eLn\u001b(J'), 'Re: 水野'],
	['utf-16', utf16('\ufeffGrüße'), 'Grüße'],
	['utf-16be', utf16('Grüße').swap16(), 'Grüße'],
	['utf-16le', utf16('Grüße'), 'Grüße'],
	['utf-16le', utf16('Gr'), 'Gr'],
	['utf-16', octets(0xe9, 0, 0x21, 0), 'é!'],
	['UTF-16BE', octets(0x20, 0xac), '€'],
	['utf-16', octets(0xc3, 0xa9), 'é'],
	['windows-1252', octets(0xff, 0x61), 'ÿa'],
	['windows-1252', octets(0xfe, 0x61), 'þa'],
	['windows-1252', octets(0x61, 0xfe), 'aþ'],
	['windows-1252', octets(0x61, 0xff), 'aÿ'],
	['windows-949', octets(0xbe, 0xc8), '안'],
	['x-gbk', octets(0xc4, 0xe3), '你'],
	['no-such-charset', octets(0x80), '€'],
])('under the name %j, %j is %s', (name, given, text) => {
	expect(decodeText(given, name)).toBe(text);
});

describe('Gmail hands over', () => {
	const mails = new Mails();

	const some = ['gb2312', 'big5', 'shift_jis', 'euc-kr', 'koi8-r', 'windows-874', 'windows-1251'];
	const bodies: Bodies[] = ['decoded', 'allDecoded', 'asSent'];
	const cases = bodies.flatMap((form) =>
		[...some, 'iso-2022-jp'].map((name) => ({ form, name })),
	);

	it.each(cases)('$form bodies: $name', async ({ form, name }) => {
		mails.gmail.bodies = form;
		const isJapanese = name === 'iso-2022-jp';
		const head = Buffer.from(`Content-Type: text/plain; charset="${name}"\r\n\r\n`);
		const raw = Buffer.concat([head, isJapanese ? jis : inOwnBytes(name)]);
		expect((await mails.read(raw)).json['text']).toBe(isJapanese ? 'こん ok' : texts[name]);
	});
});

describe('encoded words', () => {
	it.each([
		['words of one charset', '=?utf-8?Q?caf=C3=A9?=\t =?UTF-8?Q?s_x?=', 'cafés x'],
		['a letter cut in two', '=?utf-8?Q?=C3=A9t=C3?= =?utf-8?Q?=A9=C3=A9?=', 'ét\ufffd\ufffdé'],
		['words of two charsets', '=?utf-8?B?w6k=?=\r\n =?iso-8859-1*fr?q?=E9?=', 'éé'],
		['text between words', '=?utf-8?Q?a?= b =?utf-8?Q?c?=', 'a b c'],
		['what only begins like one', 'a =?utf-8?X?a?=', 'a =?utf-8?X?a?='],
	])('%s', (_what, value, text) => {
		expect(decodeHeader(value)).toBe(text);
	});
});
