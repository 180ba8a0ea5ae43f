import { repeatedOf } from '../../../nodes/Agent/AgentExecute/repeats';

const letters = (text: string) => Array.from(text);

test.each([
	['', '', 0],
	['abc', '', 0],
	['', 'abc', 0],
	['abc', 'abc', 3],
	['abc', 'bcd', 2],
	['abc', 'cde', 1],
	['abc', 'abd', 0],
	['abc', 'de', 0],
	['abcabd', 'abdabc', 3],
	['aaab', 'aab', 3],
	['aaa', 'aaaa', 3],
	['abab', 'ababab', 4],
	['xyz', 'xy', 0],
])('of %s and then %s %d are repeated', (known, came, count) => {
	expect(repeatedOf(letters(known), letters(came))).toBe(count);
});

test('is what a search by length finds, for all short texts of two letters', () => {
	const texts = Array.from({ length: 256 }, (_, n) =>
		n.toString(2).replaceAll('0', 'a').replaceAll('1', 'b'),
	);
	const wrong: string[] = [];
	for (const known of texts) {
		for (const came of texts) {
			let longest = Math.min(known.length, came.length);
			while (!known.endsWith(came.slice(0, longest))) longest--;
			if (repeatedOf(letters(known), letters(came)) !== longest) wrong.push(`${known} ${came}`);
		}
	}
	expect(wrong).toEqual([]);
});

test('what has no digest is never the same', () => {
	expect(repeatedOf([undefined, undefined], [undefined])).toBe(0);
});
