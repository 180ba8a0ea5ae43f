import DefaultSequencer from '@jest/test-sequencer';
import type { Test } from '@jest/test-result';

/** Suites in the order of how long their files take, the longest first. */
const suites = ['faults', 'queue', 'browser', 'e2e', 'hostile', 'chaos'];

/** Runs long files first, so that none is left for the end. It knows them from the previous run, or in a fresh clone by their suite. */
export default class LongestFirst extends DefaultSequencer {
	override async sort(tests: Test[]): Promise<Test[]> {
		const sorted = await super.sort(tests);
		const known = sorted.filter(({ duration }) => duration !== undefined);
		const place = ({ path }: Test) => {
			const at = suites.findIndex((suite) => path.includes(`/test/${suite}/`));
			return at === -1 ? suites.length : at;
		};
		// Sorting is stable: within a suite, the larger file comes first.
		return known.length > tests.length / 2
			? sorted
			: sorted.sort((a, b) => place(a) - place(b));
	}
}
