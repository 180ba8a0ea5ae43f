import DefaultSequencer from '@jest/test-sequencer';
import type { Test } from '@jest/test-result';

/** Suites by what their files take, the longest first. */
const suites = ['faults', 'queue', 'browser', 'e2e', 'hostile', 'chaos'];

/** Long files first, so that no worker has one left at the end: by the run before, and by their suite in a fresh clone. */
export default class LongestFirst extends DefaultSequencer {
	override async sort(tests: Test[]): Promise<Test[]> {
		const sorted = await super.sort(tests);
		const known = sorted.filter(({ duration }) => duration !== undefined);
		const place = ({ path }: Test) => {
			const at = suites.findIndex((suite) => path.includes(`/test/${suite}/`));
			return at === -1 ? suites.length : at;
		};
		// Sorting is stable: within a suite, the larger file comes first.
		return known.length > tests.length / 2 ? sorted : sorted.sort((a, b) => place(a) - place(b));
	}
}
