import DefaultSequencer from '@jest/test-sequencer';
import type { Test } from '@jest/test-result';

/** How many seconds a file of a suite takes. */
const suiteSeconds = { queue: 180, faults: 120, hostile: 80, e2e: 50, browser: 30, chaos: 15 };
const unitSeconds = 5;

/** How many processes run the files of the browser, and how many the others. */
const lanes = { browser: 1, others: 3 };

/**
 * Runs long files first, so that none is left for the end. It knows them from the previous run, or in a fresh clone by their suite.
 * The browser's files run one after another beside the others, because each open tab slows down all others.
 */
export default class LongestFirst extends DefaultSequencer {
	override async sort(tests: Test[]): Promise<Test[]> {
		const sorted = await super.sort(tests);
		const known = sorted.filter(({ duration }) => duration !== undefined);
		// Sorting is stable: within a suite, the larger file comes first.
		if (known.length <= tests.length / 2)
			sorted.sort((a, b) => findSuite(b).seconds - findSuite(a).seconds);
		return spread(sorted);
	}
}

function findSuite({ path }: Test) {
	const suites = Object.entries(suiteSeconds);
	const known = suites.find(([suite]) => path.includes(`/test/${suite}/`));
	const [suite, seconds] = known ?? ['unit', unitSeconds];
	return { suite, seconds };
}

/** Orders files by when each may start if every lane takes its own. */
function spread(tests: readonly Test[]): Test[] {
	const nextStart = { browser: 0, others: 0 };
	const starts = tests.map((test) => {
		const { suite, seconds } = findSuite(test);
		const lane = suite === 'browser' ? 'browser' : 'others';
		const start = nextStart[lane];
		nextStart[lane] += (test.duration ?? seconds * 1000) / lanes[lane];
		return { test, start };
	});
	return starts.sort((a, b) => a.start - b.start).map(({ test }) => test);
}
