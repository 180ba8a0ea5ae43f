import fc from 'fast-check';

import { contentOf, type MessageFormat } from '../../../nodes/Agent/session/messages';

const bytes = Buffer.from([0xff, 0xfe, 0x00]);
const json = Buffer.from('{"a":[1,"ä"]}');
const formats: MessageFormat[] = ['auto', 'json', 'text', 'binary'];

describe('contentOf', () => {
	it.each([
		['auto', json, false, { format: 'json', message: { a: [1, 'ä'] } }],
		['auto', json, true, { format: 'binary', message: null, bytes: json }],
		['auto', Buffer.from('plain'), false, { format: 'text', message: 'plain' }],
		['auto', Buffer.from('null'), false, { format: 'json', message: null }],
		['auto', Buffer.from(''), false, { format: 'text', message: '' }],
		['auto', Buffer.from('\uFEFF{}'), false, { format: 'json', message: {} }],
		['json', json, true, { format: 'json', message: { a: [1, 'ä'] } }],
		['json', Buffer.from('{"cut'), false, { format: 'text', message: '{"cut' }],
		['json', bytes, true, { format: 'binary', message: null, bytes }],
		['json', Buffer.from('{"cut'), true, { format: 'binary', message: null, bytes: Buffer.from('{"cut') }],
		['text', json, false, { format: 'text', message: '{"a":[1,"ä"]}' }],
		['text', json, true, { format: 'text', message: '{"a":[1,"ä"]}' }],
		['text', bytes, true, { format: 'binary', message: null, bytes }],
		['binary', json, false, { format: 'binary', message: null, bytes: json }],
	] as const)('%s of %p (binary frame: %p)', (format, data, isBinary, expected) => {
		expect(contentOf(data, isBinary, format)).toEqual(expected);
	});

	it('never throws and never loses a byte', () => {
		fc.assert(
			fc.property(fc.uint8Array(), fc.constantFrom(...formats), (array, format) => {
				const data = Buffer.from(array);
				const content = contentOf(data, true, format);
				if (content.format === 'binary') return content.bytes.equals(data);
				return content.format === 'json' || Buffer.from(content.message).equals(data);
			}),
		);
	});

	it('reads what is nested too deep for most programs', () => {
		const depth = 100_000;
		const deep = Buffer.from('['.repeat(depth) + ']'.repeat(depth));
		expect(['json', 'text']).toContain(contentOf(deep, false, 'auto').format);
	});

	it('does not keep a large read in memory for a small message', () => {
		const read = Buffer.alloc(64 * 1024, 1);
		const content = contentOf(read.subarray(10, 20), true, 'binary');
		expect(content.format === 'binary' && content.bytes.buffer !== read.buffer).toBe(true);
	});
});
