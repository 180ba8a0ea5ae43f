import { completeModelAnswer, maxModelCharacters } from '../../nodes/core/modelAnswer';

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
	// About twenty lengths and numbers of entries are tried.
	expect(reads).toBeLessThan(count + 20 * maxModelCharacters);
});
