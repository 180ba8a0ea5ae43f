import {
	buildModelAnswer,
	completeModelAnswer,
	maxModelCharacters,
} from '../../nodes/core/modelAnswer';

/** Lists in lists, down to `depth`, whose innermost entries call `onRead` each time that somebody reads them. */
function buildTree(width: number, depth: number, onRead: () => void): unknown {
	if (depth > 0) return Array.from({ length: width }, () => buildTree(width, depth - 1, onRead));
	const read = () => {
		onRead();
		return 'x';
	};
	return Object.defineProperty({}, 'a', { enumerable: true, get: read });
}

test('lists in lists are read once whole, and otherwise as far as an answer may have room', () => {
	const [width, depth] = [24, 4];
	let reads = 0;
	const tree = buildTree(width, depth, () => reads++);
	const count = width ** depth;
	const answer = completeModelAnswer({ items: [{ tree } as never] }, []);
	expect(JSON.stringify(answer).length).toBeLessThanOrEqual(maxModelCharacters);
	expect(JSON.stringify(answer)).toContain('"x"');
	expect(reads).toBeGreaterThanOrEqual(count);
	// Each try reads at most as many entries, and there are twelve limits.
	expect(reads).toBeLessThan(count + 12 * maxModelCharacters);
});

test('rows are whole, however exactly they fill the answer', () => {
	for (let length = 0; length < 100; length++) {
		const entries = ['a'.repeat(length), ...Array<string>(400).fill('b'.repeat(97))];
		const { items } = buildModelAnswer({}, { name: 'rows', entries }, () => undefined);
		const rows = items[0]?.['rows'] as string[];
		expect(rows.length).toBeLessThan(entries.length);
		expect(rows.filter((row, at) => row !== entries[at])).toEqual([]);
	}
});

test('many long names are whole or left out, and the answer says how many are', () => {
	const question = 'a question of a form '.repeat(9);
	const names = Array.from({ length: 200 }, (_, at) => `${question}${at}`);
	const record = Object.fromEntries(names.map((name) => [name, 'an answer']));
	const [shown = {}] = completeModelAnswer({ items: [record] }, []);
	expect(Object.keys(shown)).toEqual([...names.slice(0, 100), '…']);
	expect(shown['…']).toBe('100 more');
});

test('a name that is longer than an answer leaves room for a note', () => {
	const record = { ['n'.repeat(maxModelCharacters)]: 1 };
	const describe = (count: number) => `${count} shown`;
	for (const answer of [
		buildModelAnswer(record, { name: 'text', text: 'x'.repeat(99_999) }, describe),
		buildModelAnswer({}, { entries: [record, record] }, describe),
	]) {
		const items = completeModelAnswer(answer, ['A hint', 'h'.repeat(5000)]);
		expect(JSON.stringify(items).length).toBeLessThanOrEqual(maxModelCharacters);
		expect(items[1]).toEqual({ note: expect.stringMatching(/^\d+ shown$/) as string });
		expect(items[2]).toEqual({ note: 'A hint' });
	}
});
