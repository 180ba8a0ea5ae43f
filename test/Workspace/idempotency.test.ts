import fc from 'fast-check';

import { hashOf, markOf, usedBefore } from '../../nodes/Workspace/idempotency';

const use = { key: 'order-4711', operation: 'mail send', target: '' };

it('the mark of a key is the same each time, and says nothing of the key', () => {
	const mark = markOf(use);
	expect(mark).toMatch(/^[0-9a-f]{64}$/);
	expect(markOf({ ...use })).toBe(mark);
});

it.each([{ key: 'order-4712' }, { operation: 'file upload' }, { target: '1AbC' }])(
	'%j makes another mark',
	(other) => {
		expect(markOf({ ...use, ...other })).not.toBe(markOf(use));
	},
);

it('no key, no mark', () => {
	expect(markOf({ ...use, key: '' })).toBeUndefined();
});

it.each([
	[' \n', /only white space/],
	['x'.repeat(256), /more than 255 characters/],
])('%j is refused', (key, words) => {
	expect(() => markOf({ ...use, key })).toThrow(words);
});

it('parts cannot run into each other', () => {
	const parts = fc.array(fc.string({ maxLength: 4 }), { maxLength: 4 });
	fc.assert(
		fc.property(parts, parts, (one, other) => {
			expect(hashOf(one) === hashOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
		}),
	);
});

it('a used key is a conflict, and nothing was done', () => {
	expect(usedBefore('the mail 18c3')).toMatchObject({
		code: 409,
		status: 'ALREADY_EXISTS',
		ambiguous: false,
	});
});
