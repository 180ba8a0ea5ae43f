import { BoundedMap, getOrAdd } from '../../nodes/core/maps';

test('forgets what was set first, and what is set again counts as new', () => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
	expect([...map]).toEqual([
		['a', 3],
		['c', 4],
	]);
});

test('a value is built once, also one that is undefined', () => {
	const map = new Map<string, number | undefined>();
	const build = jest.fn(() => undefined);
	expect([getOrAdd(map, 'a', build), getOrAdd(map, 'a', build)]).toEqual([undefined, undefined]);
	expect(build).toHaveBeenCalledTimes(1);
});
