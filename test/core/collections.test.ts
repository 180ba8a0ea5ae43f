import { setImmediate as turn } from 'node:timers/promises';

import { BoundedMap, KeyedMutex, systemClock } from '../../nodes/core/runtime';

describe('a bounded map', () => {
	test('forgets what was set first, and what is set again counts as new', () => {
		const map = new BoundedMap<string, number>(2);
		map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
		expect([...map]).toEqual([
			['a', 3],
			['c', 4],
		]);
	});
});

test('a wait of more than 24 days, which Node would end at once, does not end before', () => {
	jest.useFakeTimers();
	try {
		const call = jest.fn();
		const cancel = systemClock.callAfter(3e9, call);
		jest.advanceTimersByTime(24 * 86_400_000);
		expect(call).not.toHaveBeenCalled();
		cancel();
	} finally {
		jest.useRealTimers();
	}
});

describe('a keyed mutex', () => {
	test('runs the work of a key in order, and that of other keys beside it', async () => {
		const mutex = new KeyedMutex();
		const begun: string[] = [];
		const gates = new Map<string, () => void>();
		const work = (name: string) => async () => {
			begun.push(name);
			await new Promise<void>((resolve) => gates.set(name, resolve));
			return name;
		};
		const all = [mutex.run('x', work('x1')), mutex.run('x', work('x2')), mutex.run('y', work('y1'))];
		await turn();
		expect(begun).toEqual(['x1', 'y1']);
		gates.get('x1')?.();
		expect(await all[0]).toBe('x1');
		await turn();
		expect(begun).toEqual(['x1', 'y1', 'x2']);
		for (const open of gates.values()) open();
		expect(await Promise.all(all)).toEqual(['x1', 'x2', 'y1']);
	});

	test('goes on after a failure, which only its own caller sees', async () => {
		const mutex = new KeyedMutex();
		const failed = mutex.run('x', () => Promise.reject(new Error('no')));
		const next = mutex.run('x', () => Promise.resolve(1));
		await expect(failed).rejects.toThrow('no');
		expect(await next).toBe(1);
	});
});
