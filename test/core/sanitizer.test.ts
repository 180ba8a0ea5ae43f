import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import type { IExecuteFunctions } from 'n8n-workflow';

import { NodeError } from '../../nodes/core/errors';
import { createSanitizedLog, Sanitizer, findSecrets, showHints } from '../../nodes/core/sanitizer';
import { expectLinear } from '../growth';

const key = 'can ary+/=&"key-91';
const signature = '0xCANARY5ae81c3d90b7';
const sanitizer = new Sanitizer([key, signature, '', 'abc']);
const bytes = (text: string) => Buffer.from(text);
const toBase64 = (text: string) => bytes(text).toString('base64');

const forms: ReadonlyArray<[string, (secret: string) => string]> = [
	['as it is', (secret) => secret],
	['in capitals', (secret) => secret.toUpperCase()],
	['in small letters', (secret) => secret.toLowerCase()],
	['percent-encoded', encodeURIComponent],
	['as a form sends it', (secret) => encodeURIComponent(secret).replaceAll('%20', '+')],
	['in base64', (secret) => bytes(secret).toString('base64').replace(/=+$/, '')],
	['in base64 for URLs', (secret) => bytes(secret).toString('base64url')],
	['in base64 behind one byte', (secret) => bytes(`:${secret}`).toString('base64')],
	['in base64 among others', (secret) => bytes(`u:${secret}, y`).toString('base64')],
	['in hex', (secret) => bytes(secret).toString('hex')],
	['in hex with capitals', (secret) => bytes(secret).toString('hex').toUpperCase()],
	['in JSON', (secret) => JSON.stringify({ secret })],
	['percent-encoded by Python', (secret) => encodeURIComponent(secret).replaceAll('%2F', '/')],
	['in JSON as PHP writes it', (secret) => JSON.stringify({ secret }).replaceAll('/', '\\/')],
	['in JSON as Go writes it', (secret) => JSON.stringify({ secret }).replaceAll('&', '\\u0026')],
	['in base64, percent-encoded', (secret) => encodeURIComponent(toBase64(`~~~?${secret}~~~?`))],
	...['\u200B', '\u00AD', '\u034F', '\uFE0F', '\u{E0041}', '\u{E0100}', '\u{1D173}'].map(
		(character): [string, (secret: string) => string] => [
			`with U+${character.codePointAt(0)?.toString(16)} in between, which nobody sees`,
			(secret) => Array.from(secret).join(character),
		],
	),
	['cut off', (secret) => secret.slice(0, 14)],
	['cut off with dots', (secret) => `${secret.slice(0, 16)}… and more`],
	['cut off in base64', (secret) => `${bytes(secret).toString('base64').slice(0, 16)}…`],
	[
		'cut off in base64 among others',
		(secret) => `dXNlcjp${toBase64(`r:${secret}`).slice(0, 18)}…`,
	],
	['cut off in hex', (secret) => `${bytes(secret).toString('hex').slice(0, 22)}…`],
	['cut off and percent-encoded', (secret) => `${encodeURIComponent(secret).slice(0, 26)}…`],
	['cut off, in quotation marks', (secret) => `"${secret.slice(0, 14)}" and more`],
];

/** What a reader could find in a text without much thought. */
function leaks(text: string): boolean {
	const visibleText = text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
	const words = visibleText.match(/[\w+/-]{8,}/g) ?? [];
	const decoded = words.flatMap((word) =>
		[0, 1, 2, 3].flatMap((skip) => [
			bytes(word.slice(skip)).toString('latin1'),
			Buffer.from(word.slice(skip), 'base64').toString('latin1'),
			Buffer.from(word.slice(skip), 'hex').toString('latin1'),
		]),
	);
	return [visibleText, decodeURIComponent(visibleText), ...decoded].some((reading) =>
		/can[ +]?ary/i.test(reading),
	);
}

describe.each([
	['a key', key],
	['a signature', signature],
])('%s', (_what, secret) => {
	test.each(forms)('%s', (_how, form) => {
		const text = `The server says: ${form(secret)}`;
		expect(leaks(text)).toBe(true);
		const clean = sanitizer.sanitizeText(text);
		expect(clean).toMatch(/^The server says: .*•••/);
		expect(leaks(clean)).toBe(false);
	});

	test('where the text itself is cut', () => {
		for (let at = 3980; at <= 4000; at++) {
			const text = 'x '.repeat(at / 2) + secret + 'y'.repeat(100);
			expect(sanitizer.sanitizeText(text)).not.toMatch(/can ?ary5?a/i);
		}
	});
});

test.each(['k3y!', 'k3y!x', 'k3y!xy', 'k3y!xyz'])('a short secret: %s', (secret) => {
	const one = new Sanitizer([secret]);
	expect(one.sanitizeText(`is ${secret.toUpperCase()} and`)).toBe('is ••• and');
	expect(one.sanitizeText(`is ${bytes(secret).toString('hex')} and`)).toBe('is ••• and');
	for (const before of ['', ':', '::', ':::']) {
		const base64 = bytes(`${before}${secret}~~~`).toString('base64');
		expect(one.sanitizeText(`is ${base64} and`)).toMatch(/^is \S*•••\S* and$/);
	}
});

test.each([
	['päss!(w)*rd', 'p%C3%A4ss%21%28w%29%2ard'],
	['päss!(w)*rd', String.raw`p\u00e4ss!(w)*rd`],
	['a\\b~😀c', String.raw`a\\b%7E\ud83d\ude00c`],
	['k/+=', 'k%2F+='],
	['sk_live_9f3b7c1d2e', 'sk%5Flive%5f9f3b7c1d2e'],
	['sk_live_9f3b7c1d2e', String.raw`sk\u005flive\u005F9f3b7c1d2e`],
	['sk_live_9f3b7c1d2e', String.raw`sk\_live\_9f3b7c1d2e`],
	['ab\nc\td\u0001e', String.raw`ab\nc\td\u0001e`],
	['a  b\u00a0c', 'a++b%C2%A0c'],
	['\\abc', '%5Cabc'],
	['- "x"', String.raw`- \"x\"`],
])('a secret of which other characters are escaped than usual: %s', (secret, text) => {
	expect(new Sanitizer([secret]).sanitizeText(`is ${text} and`)).toBe('is ••• and');
});

test('a secret that is mostly white space is found as it stands', () => {
	const one = new Sanitizer(['a b c', '- 0 -']);
	expect(one.sanitizeText('is a b c, a b c')).toBe('is •••, •••');
	expect(one.sanitizeText('is abc')).toBe('is abc');
	expect(new Sanitizer(['0xab']).sanitizeText('0xab, ab')).toBe('•••, ab');
	expect(new Sanitizer(['0xabcd']).sanitizeText('0xabcd, abcd')).toBe('0x•••, •••');
	expect(new Sanitizer(['a  b']).sanitizeText('is a  b')).toBe('is •••');
});

test('a hex value without its 0x', () => {
	expect(sanitizer.sanitizeText(`got ${signature.slice(2)}`)).toBe('got •••');
});

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

test.each([
	['whole', pem],
	['in JSON', JSON.stringify(pem)],
	['without its end', pem.slice(0, 300)],
	['a line of it', pem.split('\n')[7] ?? ''],
])('a private key, %s', (_how, text) => {
	const [, line = '', next = ''] = pem.split('\n');
	const clean = new Sanitizer([pem]).sanitizeText(`The key: ${text}`);
	expect(clean).toMatch(/^The key: "?•••/);
	for (const part of [line, next, pem.split('\n')[7] ?? ''])
		expect(clean).not.toContain(part.slice(0, 20));
});

const bearerHidden = '{"authorization":"bearer •••"}';
const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJyb2JvdCJ9.c2lnbmF0dXJlLWJ5dGVz';

test.each([
	['a token of Google', 'token ya29.a0AfB_byC-123 is bad', 'token ••• is bad'],
	['a refresh token', 'grant 1//0gLx-abcdefgh123 expired', 'grant ••• expired'],
	['a JSON web token', `assertion ${jwt}!`, 'assertion •••!'],
	['a bearer header', 'Authorization: Bearer opaque-token-1', 'Authorization: Bearer •••'],
	['bearer in JSON', '{"authorization":"bearer abcdefghijklmnopq"}', bearerHidden],
	['a key file', pem.trim().replaceAll('\n', '\\n'), '•••'],
	['a client secret', 'GOCSPX-abc_def-ghi is wrong', '••• is wrong'],
	[
		'a query',
		'/ws?id=s&apiKey=otherkey&signature=sig HTTP',
		'/ws?id=s&apiKey=•••&signature=••• HTTP',
	],
	['a form', 'a=x&client_secret=abc&assertion=def', 'a=x&client_secret=•••&assertion=•••'],
	['JSON', '{"access_token": "opaque", "scope": "a"}', '{"access_token": "•••", "scope": "a"}'],
	[
		'words in JSON',
		String.raw`{\"password\":\"a b\",\"d\":1}`,
		String.raw`{\"password\":\"•••\",\"d\":1}`,
	],
	['a proxy', 'to http://user:pass@proxy.example failed', 'to http://•••@proxy.example failed'],
])('what looks like a secret: %s', (_what, text, expected) => {
	expect(new Sanitizer().sanitizeText(text)).toBe(expected);
	expect(new Sanitizer().sanitizeText(expected)).toBe(expected);
});

test.each([
	'status 401 from agent.example:3010 (session s1)',
	'Check API key, user public key and signature, and the credential’s ‘Timestamp Unit’.',
	'Bearer authentication is missing',
	"'Document' is not an ID: b/2",
	'https://docs.google.com/document/d/1Qm7x_abcdefghijklmnopqrstuv/edit',
	'The key canasta is not known, nor is 100 % of abc',
])('leaves alone: %s', (text) => {
	expect(sanitizer.sanitizeText(text)).toBe(text);
});

test('a text is one line, reads in one direction and ends', () => {
	const forged = 'bye\r\n2026-01-01 | error | forged\u2028\u0000\u001b[31mred\u202Ednim';
	expect(sanitizer.sanitizeText(forged)).toBe('bye 2026-01-01 | error | forged [31mreddnim');
	expect(sanitizer.sanitizeText('x'.repeat(10_000))).toHaveLength(4001);
	expect(sanitizer.sanitizeText(`${'x'.repeat(3999)}😀`)).toMatch(/x…$/);
});

test('of a failure message, description and status are clean, and the cause stays here', () => {
	const texts = { message: `a ${key}\nb`, description: key, status: key };
	const given = { code: 502, ...texts, cause: new Error(key), outcome: 'unknown' as const };
	const failure = sanitizer.sanitizeError(new NodeError(given));
	const clean = { message: 'a ••• b', description: '•••', status: 'UNAVAILABLE' };
	expect(failure).toMatchObject({ code: 502, ...clean, outcome: 'unknown' });
	expect(failure.cause).toBeUndefined();
});

test('details keep their form and their line breaks, and no secret in values or names', () => {
	const details = { lines: `a\n${key}`, list: [1, null, true, { [key]: key }], none: null };
	const failure = sanitizer.sanitizeError(new NodeError({ code: 500, message: 'a', details }));
	const list = [1, null, true, { '•••': '•••' }];
	expect(failure.details).toEqual({ lines: 'a\n•••', list, none: null });
});

test('a message is shorter than a description', () => {
	const text = 'x'.repeat(10_000);
	const error = new NodeError({ code: 500, message: text, description: text });
	const { message, description } = sanitizer.sanitizeError(error);
	expect([message.length, description?.length]).toEqual([1001, 4001]);
});

test.each(['debug', 'info', 'warn', 'error'] as const)(
	'the log at level %s has no secret and one line',
	(level) => {
		const logged: string[][] = [];
		const to = (name: string) => (text: string) => void logged.push([name, text]);
		const [debug, info, warn, error] = [to('debug'), to('info'), to('warn'), to('error')];
		createSanitizedLog({ debug, info, warn, error }, sanitizer)[level](`a\n${key}`);
		expect(logged).toEqual([[level, 'a •••']]);
	},
);

test('the secrets of a credential, also in what a sign-in gave', () => {
	const tokens = { access_token: 'a', refresh_token: 'r', id_token: 'i' };
	const oauthTokenData = { ...tokens, token_type: 'Bearer', expires_in: 3599 };
	const open = { email: 'a@b.example', scope: null, useProxy: true, signature: 5 };
	expect(findSecrets({ apiKey: 'k', ...open, oauthTokenData })).toEqual(['k', 'a', 'r', 'i']);
	const others = { accessToken: 't', clientSecret: 'c', privateKey: 'p' };
	const signer = { signature: 's', userPublicKey: 'u' };
	const found = findSecrets({ ...others, ...signer, userId: 'n', signatures: 'n' });
	expect(found).toEqual(['t', 'c', 'p', 's', 'u']);
});

test('hides any secret in any text', () => {
	const secret = fc.string({ minLength: 4, maxLength: 60, unit: 'binary' });
	fc.assert(
		fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
			const visible = value.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '').trim();
			fc.pre(visible.length >= 4 && !before.includes(value) && !after.includes(value));
			return !new Sanitizer([value])
				.sanitizeText(`${before}${value}${after}`)
				.includes(value);
		}),
	);
});

describe('costs no more than the length of the text', () => {
	const secrets = new Sanitizer([key, signature, pem]);
	const units = [
		...['a', '<', '%25', '&#38;', '\\u005c', 'eyJa', 'eyJa.', '-----BEGIN A-----'],
		...['//a', 'Bearer ', 'can ary', '\n', '0x', 'apiKey='],
	];
	test.each(units)('%j', (unit) => {
		expectLinear(
			unit,
			(text) => text,
			(text) => secrets.sanitizeText(text),
		);
	});

	// Data in details is not truncated.
	test.each([
		['0', '0x' + '0'.repeat(130)],
		['MDAw', '0x' + '0'.repeat(130)],
		[Buffer.from(signature.slice(2)).toString('hex'), signature],
		['A', 'A'.repeat(1700)],
		['\\', key],
		['\\', `a${'\\'.repeat(500)}b`],
		['\\', '\\abcd'],
		['%2f', '/'.repeat(500)],
		['😀', `${'😀'.repeat(100)}x`],
		[String.raw`\\!`, `${String.raw`\!`.repeat(100)}x`],
		['++', `${' +'.repeat(100)}x`],
		['%26%2397;', 'a'.repeat(1700)],
	])('%j, with the secret %j', (unit, secret) => {
		const one = new Sanitizer([secret]);
		expectLinear(
			unit,
			(text) => new NodeError({ code: 500, message: 'a', details: { text } }),
			(failure) => one.sanitizeError(failure),
			100_000,
		);
	});

	test('a secret that repeats itself', () => {
		expectLinear(
			'a',
			(secret) => secret,
			(secret) => new Sanitizer([secret]).sanitizeText('b'),
			100_000,
		);
	});

	test('a secret in one text after another', () => {
		expectLinear(
			key,
			(texts) => texts.match(/.{1,64}/g) ?? [],
			(texts) => {
				const one = new Sanitizer([key]);
				for (const text of texts) one.sanitizeText(text);
			},
		);
	});
});

test('a hint has no secret, and the editor makes no markup of it', () => {
	const addExecutionHints = jest.fn();
	const context = { addExecutionHints } as unknown as IExecuteFunctions;
	showHints(context, ['<img src="x"> canary-key 1 < 2'], new Sanitizer(['canary-key']));
	const message = '<\u200bimg src="x"> ••• 1 < 2';
	expect(addExecutionHints).toHaveBeenCalledWith({ message, location: 'outputPane' });
});
