import { BoundedMap } from '../../nodes/core/boundedMap';

test('forgets what was set first, and what is set again counts as new', () => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
	expect([...map]).toEqual([
		['a', 3],
		['c', 4],
	]);
});
