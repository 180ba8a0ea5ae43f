import { gzipSync } from 'node:zlib';

import type { Random } from './random';

/** The bytes of an HTTP answer, as they go out before the connection ends. */
export type Answer = Buffer;

interface Look {
	readonly status?: number;
	readonly type?: string;
	readonly headers?: readonly string[];
	/** The length that a header names, whatever the real one is. */
	readonly length?: number;
}

function answer(
	body: Buffer | string,
	{ status = 200, type = 'application/json', headers = [], length }: Look = {},
): Answer {
	const bytes = Buffer.from(body);
	const lines = [
		`HTTP/1.1 ${status} Said`,
		`Content-Type: ${type}`,
		...headers,
		`Content-Length: ${length ?? bytes.length}`,
	];
	return Buffer.concat([
		Buffer.from(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`, 'latin1'),
		bytes,
	]);
}

const packed = (body: Buffer, look: Look = {}) =>
	answer(body, { ...look, headers: ['Content-Encoding: gzip'] });

const bombs = new Map<string, Buffer>();
/** Some 63 MB once unpacked. */
function bomb(unit: string): Buffer {
	const known = bombs.get(unit) ?? gzipSync(`[${unit.repeat(63_000_000 / unit.length)}0]`);
	bombs.set(unit, known);
	return known;
}

const status = (random: Random) => random.pick([200, 400, 403, 404, 500]);

export const answerMakers: ReadonlyArray<(random: Random) => Answer> = [
	(random) =>
		packed(gzipSync('<'.repeat(random.size(1e3, 3e6))), { status: 500, type: 'text/html' }),
	(random) =>
		answer(`<html>${random.text(random.size(1e3, 4e5), ['at x (', '\n', ' ', '<', '>'])}`, {
			status: 500,
			type: 'text/plain',
		}),
	(random) => answer('['.repeat(random.size(1e3, 5e6)), { status: status(random) }),
	(random) =>
		answer('{"a":'.repeat(random.size(1e3, 1e5)).concat('1', '}'.repeat(10)), {
			status: status(random),
		}),
	(random) => {
		const depth = random.size(1e3, 1e5);
		return answer(`${'['.repeat(depth)}${']'.repeat(depth)}`, { status: status(random) });
	},
	(random) => answer(`[${'{},'.repeat(random.size(1e3, 3e6))}0]`, { status: status(random) }),
	(random) =>
		packed(bomb(random.pick(['{},', '<', ' ', '0,', '"a",'])), { status: status(random) }),
	(random) =>
		packed(gzipSync(random.bytes(random.size(10, 1e4))).subarray(0, -6), {
			status: status(random),
		}),
	(random) => packed(random.bytes(random.size(10, 1e4)), { status: status(random) }),
	(random) =>
		answer(random.bytes(random.size(10, 1e6)), {
			status: status(random),
			type: 'application/json; charset=utf-16',
		}),
	(random) =>
		answer('{"text":"short"}', { status: status(random), length: random.size(100, 2 ** 52) }),
	(random) =>
		answer('{"text":"long"}'.repeat(random.size(2, 1e5)), {
			status: status(random),
			length: random.size(1, 10),
		}),
	(random) => answer('x', { headers: ['Transfer-Encoding: chunked'], status: status(random) }),
	(random) =>
		answer(
			`{"text":${JSON.stringify(random.text(random.size(1e3, 1e6), ['\0', '\u202e', '\ud800', '"', 'x', '\u001b[2J']))}}`,
		),
	(random) =>
		answer(
			`{${random.text(random.size(1e3, 1e5), ['"__proto__":', '{},', '"constructor":', '1', '}', '{'])}`,
		),
	(random) => answer(`{"__proto__":{"x":1},"text":{"toString":${random.size(1, 9)}},"n":1e999}`),
	(random) => answer('9'.repeat(random.size(1e3, 1e6)), { status: status(random) }),
	(random) =>
		answer('', {
			status: random.pick([301, 302, 307, 401, 429]),
			headers: [
				`Location: ${'/'.repeat(random.size(10, 8_000))}`,
				'Retry-After: 99999999999',
			],
		}),
	(random) =>
		answer('{}', {
			headers: Array.from(
				{ length: random.size(10, 900) },
				(_, at) => `X-${at}: ${'é'.repeat(10)}`,
			),
		}),
	(random) => random.bytes(random.size(10, 1e4)),
];
