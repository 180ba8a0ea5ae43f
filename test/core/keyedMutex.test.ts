import { setImmediate as turn } from 'node:timers/promises';

import { KeyedMutex } from '../../nodes/core/keyedMutex';

test('runs the work of a key in order, and that of other keys beside it', async () => {
	const mutex = new KeyedMutex();
	const begun: string[] = [];
	const gates = new Map<string, () => void>();
	const work = (name: string) => async () => {
		begun.push(name);
		await new Promise<void>((resolve) => gates.set(name, resolve));
		return name;
	};
	const all = [
		mutex.doInTurn('x', work('x1')),
		mutex.doInTurn('x', work('x2')),
		mutex.doInTurn('y', work('y1')),
	];
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
	const failed = mutex.doInTurn('x', () => Promise.reject(new Error('no')));
	const next = mutex.doInTurn('x', () => Promise.resolve(1));
	await expect(failed).rejects.toThrow('no');
	expect(await next).toBe(1);
});
