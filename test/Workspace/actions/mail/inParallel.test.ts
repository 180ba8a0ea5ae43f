import { setImmediate as turn } from 'node:timers/promises';

import { inParallel, untilFailure } from '../../../../nodes/Workspace/actions/mail/inParallel';

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
	await untilFailure(upTo(22), { first: 2, most: 7 }, work);
	expect(widths).toEqual([2, 4, 7, 7, 2]);
});

test('after the first failure nothing begins, and what is under way is waited for', async () => {
	const { widths, work } = rounds();
	const { results, failure } = await untilFailure([1, -1, -2, 4, 5, 6], { first: 3, most: 3 }, work);
	// The first success began another.
	expect([results, widths]).toEqual([[2], [3, 1]]);
	expect(failure?.cause).toMatchObject({ message: '-1' });
	await expect(inParallel([1, -3], 1, work)).rejects.toThrow('-3');
});
