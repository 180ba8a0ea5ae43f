import type { Message } from '../../dev/agent-service/script.ts';
import type { Random } from './random';

const text = (data: string | Buffer): Message => ({ frame: Buffer.from(data), isBinary: false });

/** What a session channel may bring. */
export const frameMakers: ReadonlyArray<(random: Random) => Message> = [
	(random) => text('['.repeat(random.size(1e3, 5e6))),
	(random) => {
		const depth = random.size(1e3, 1e5);
		return text(`${'['.repeat(depth)}${']'.repeat(depth)}`);
	},
	(random) => {
		const depth = random.size(1e3, 1e5);
		return text(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
	},
	(random) => text(`[${'{},'.repeat(random.size(1e3, 5e5))}0]`),
	(random) => text('x'.repeat(random.size(1e3, 5e6))),
	(random) => ({ frame: random.bytes(random.size(10, 2e6)), isBinary: true }),
	(random) =>
		text(
			random.text(random.size(10, 1e5), [
				'\0',
				'\u202e',
				'\u001b[2J',
				'"',
				'{',
				'}',
				'\\u0000',
			]),
		),
	(random) => text(`{"text":"${'\\ud800'.repeat(random.size(1, 1e5))}"}`),
	() => text('{"__proto__":{"polluted":true},"constructor":{"prototype":{}},"toString":1}'),
	(random) => text('9'.repeat(random.size(100, 1e6))),
	() => text(''),
	(random) =>
		text(
			JSON.stringify({
				'a.b': 1,
				'': { '': '='.repeat(random.size(1, 1e5)) },
				text: '={{ $env }}',
			}),
		),
	(random) =>
		text(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc0]), random.bytes(50)])),
];

/** Whether the frame is the one that is not UTF-8, so that its reader closes the channel. */
export const isInvalidUtf8 = (at: number): boolean =>
	at % frameMakers.length === frameMakers.length - 1;
