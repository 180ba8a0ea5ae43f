import { setImmediate as turn } from 'node:timers/promises';

import { inParallel } from '../../../../nodes/Workspace/actions/mail/inParallel';

/** Work in rounds, and how much of it was under way in each. */
function rounds() {
	const widths: number[] = [];
	let running = 0;
	const work = async (value: number) => {
		running++;
		await turn();
		if (running > 0) widths.push(running);
		running = 0;
		await turn();
		if (value < 0) throw new Error(`${value}`);
		return value * 2;
	};
	return { widths, work };
}
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

test('as many as are wanted at once, and the results in their order', async () => {
	const { widths, work } = rounds();
	expect(await inParallel(upTo(5), 2, work)).toEqual([0, 2, 4, 6, 8]);
	expect(widths).toEqual([2, 2, 1]);
});

test('twice as many each time that so many went well, up to the most', async () => {
	const { widths, work } = rounds();
	await inParallel(upTo(22), 2, work, { most: 7 });
	expect(widths).toEqual([2, 4, 7, 7, 2]);
});

test('after the first failure nothing begins, and what is under way is waited for', async () => {
	const { widths, work } = rounds();
	const results: number[] = [];
	await expect(inParallel([1, -1, -2, 4, 5, 6], 3, work, { results })).rejects.toThrow('-1');
	// The first success began another.
	expect([results, widths]).toEqual([[2], [3, 1]]);
});

test('the failure that came first is thrown, and the results end before the value that failed first', async () => {
	const results: number[] = [];
	const slowThen = async (value: number) => {
		for (let turns = 0; turns < value; turns++) await turn();
		if (value !== 2) throw new Error(`${value}`);
		return value;
	};
	await expect(inParallel([2, 5, 2, 1], 4, slowThen, { results })).rejects.toThrow('1');
	expect(results).toEqual([2]);
});

test('nothing to do', async () => {
	expect(await inParallel([], 2, () => Promise.reject(new Error('never')))).toEqual([]);
});
