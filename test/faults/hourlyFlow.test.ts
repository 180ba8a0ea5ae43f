// "New emails into rows, then marked as read" as examples/new-emails-into-rows.json does it, a hundred times, with new emails, faults and
// killed processes in between: each email becomes one row. `npm run test:faults` plays more seeds. One alone: SEED=17.
import pLimit from 'p-limit';

import { Stage } from '../build/built';
import { HourlyFlow } from './hourlyFlow';

const count = process.env.FAULTS === 'all' ? 4 : 1;
const seeds = process.env.SEED
	? [Number(process.env.SEED)]
	: Array.from({ length: count }, (_, at) => at + 1);
/** Each has a process of its own, which mostly waits. */
const atOnce = 4;

const stage = new Stage();
jest.setTimeout(1_200_000);
beforeAll(() => {
	stage.build();
	stage.buildHarness();
});
afterAll(() => {
	stage.remove();
});

test('no email becomes two rows, and none is marked as read without one, over a hundred runs', async () => {
	const limit = pLimit(atOnce);
	const told = await Promise.all(
		seeds.map((seed) => limit(async () => await HourlyFlow.play(seed, stage))),
	);
	for (const { wrongs, unread, rows, emails, kills, failures } of told) {
		expect(wrongs.slice(0, 9)).toEqual([]);
		expect([unread, rows.toSorted()]).toEqual([[], emails.toSorted()]);
		// It was no calm sea.
		expect(kills).toBeGreaterThan(5);
		expect(failures).toBeGreaterThan(15);
	}
});
