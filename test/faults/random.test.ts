// Seeded executions under Retry On Fail with random faults: 60 here, 1,000 with `npm run test:faults`. One alone: SEED=17.
import pLimit from 'p-limit';

import { withBinaryData } from '../createExecuteContext';
import { calmTraces, draw } from './cells';
import { randomRun } from './randomRun';
import { subjects } from './samples';

const count = process.env.FAULTS === 'all' ? 1000 : 60;
const seeds = process.env.SEED
	? [Number(process.env.SEED)]
	: Array.from({ length: count }, (_, at) => at + 1);
const atOnce = 60;

jest.setTimeout(1_200_000);

test(`in ${seeds.length} executions nothing is done twice and nothing is lost in silence`, async () => {
	await withBinaryData();
	jest.spyOn(Math, 'random').mockReturnValue(draw);
	const changing = subjects.filter(({ operation }) => !operation.mayChange);
	const calm = new Map(
		await Promise.all(changing.map(async (one) => [one.name, await calmTraces(one)] as const)),
	);
	const limit = pLimit(atOnce);
	const wrongs = await Promise.all(
		seeds.map((seed) => limit(async () => await randomRun(seed, calm))),
	);
	expect(wrongs.flat()).toEqual([]);
});
