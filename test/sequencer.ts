import DefaultSequencer from '@jest/test-sequencer';
import type { Test } from '@jest/test-result';

/** How many seconds a file takes in a whole run, by the part of its path that is the first to fit. */
const expectedSeconds = {
	'/together/browser.': 400,
	'/queue/': 180,
	'/e2e/canaries/': 120,
	'/e2e/outages.': 120,
	'/together/Agent.AgentExecute.': 100,
	'/together/': 60,
	'/hostile/': 80,
	'/e2e/': 50,
	'/': 5,
};

/** Runs long files first, so that none is left for the end. It knows them from the previous run, or in a fresh clone by their path. */
export default class LongestFirst extends DefaultSequencer {
	override async sort(tests: Test[]): Promise<Test[]> {
		const sorted = await super.sort(tests);
		const known = sorted.filter(({ duration }) => duration !== undefined);
		if (known.length > tests.length / 2) return sorted;
		return sorted.sort((a, b) => estimateSeconds(b) - estimateSeconds(a));
	}
}

function estimateSeconds({ path }: Test): number {
	const [, seconds] = Object.entries(expectedSeconds).find(([part]) => path.includes(part)) ?? [];
	return seconds ?? 0;
}
