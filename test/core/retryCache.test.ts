import { RetryCache, isFailedTry, type RetryContext } from '../../nodes/core/retryCache';
import { countStoredResults, forgetStoredResults } from '../sharedState';

let execution = 0;

beforeEach(() => {
	execution++;
	forgetStoredResults();
});

/** Begins a try of the node. */
const begin = (more: RetryContext = {}) =>
	new RetryCache<string>({
		...{ executionId: `e${execution}`, nodeId: 'n', runIndex: 0, retryOnFail: true },
		...more,
	});

/** Ends a try in which one item was sent. */
function fail(one: RetryCache<string>, outcome: string, index = 0) {
	one.getResults('x').set(index, outcome);
	one.endTry(true);
}

/** What the next try knows of the items 0 and 1. This try goes on. */
const knownTo = (next: RetryCache<string>) =>
	[0, 1].map((index) => next.getResults('x').get(index));

describe('items that succeeded in an earlier try', () => {
	it('are answered from memory after a try that failed', () => {
		fail(begin(), 'sent');
		const second = begin();
		expect(knownTo(second)).toEqual(['sent', undefined]);
		second.endTry(false);
		expect(countStoredResults()).toBe(0);
	});

	it('stay known over a second failure, and are not kept after the last try', () => {
		fail(begin(), 'one');
		fail(begin(), 'two', 1);
		const third = begin();
		expect(knownTo(third)).toEqual(['one', 'two']);
		third.endTry(true);
		expect(countStoredResults()).toBe(0);
	});

	it('stay known to equal calls of a tool at the same time, of which another one failed, too', () => {
		const calls = [0, 1].map((runIndex) => begin({ isTool: true, runIndex }));
		for (const call of calls) call.getResults('x');
		calls[0]?.getResults('x').set(0, 'sent');
		for (const call of calls) call.endTry(true);
		for (const runIndex of [2, 3])
			expect(knownTo(begin({ isTool: true, runIndex }))).toEqual(['sent', undefined]);
	});

	it.each([
		['another execution', { executionId: 'other' }],
		['another node', { nodeId: 'other' }],
		['another run of the node', { runIndex: 1 }],
		['Retry On Fail switched off', { retryOnFail: false }],
	])('are not known to %s', (_name, more) => {
		fail(begin(), 'one');
		expect(knownTo(begin(more))).toEqual([undefined, undefined]);
	});

	it('are not kept when Retry On Fail is off, nor after a try without failure', () => {
		fail(begin({ retryOnFail: false }), 'one');
		const good = begin();
		good.getResults('x').set(0, 'one');
		good.endTry(false);
		expect(countStoredResults()).toBe(0);
	});

	it.each([
		[undefined, 2],
		[0, 2],
		[1, 1],
		[9, 4],
	])('with Max Tries %s are kept after %d tries', (maxTries, keptAfter) => {
		for (let tries = 1; tries <= keptAfter + 1; tries++) {
			fail(begin({ maxTries }), 'one');
			expect(countStoredResults()).toBe(tries <= keptAfter ? 1 : 0);
		}
	});

	it('of a tool are known to the next try, which n8n counts as another run', () => {
		for (const [runIndex, known] of [undefined, 'unknown', 'unknown'].entries()) {
			const one = begin({ isTool: true, runIndex });
			expect(knownTo(one)).toEqual([known, undefined]);
			fail(one, 'unknown');
		}
		expect(countStoredResults()).toBe(0);
	});

	it.each([
		['another call', 'y'],
		['an equal call', 'x'],
	])('of a tool survive the success of %s at the same time', (_name, sent) => {
		const failing = begin({ isTool: true });
		const other = begin({ isTool: true, runIndex: 1 });
		failing.getResults('x');
		expect(other.getResults(sent).get(0)).toBeUndefined();
		fail(failing, 'one');
		other.getResults(sent).set(0, 'two');
		other.endTry(false);
		const again = begin({ isTool: true, runIndex: 2 });
		expect(knownTo(again)).toEqual(['one', undefined]);
		again.endTry(false);
		expect(countStoredResults()).toBe(0);
	});

	it.each([
		['of a tool are told apart by what would be sent', true, undefined],
		['of another node are not: expressions may give the time', false, 'one'],
	])('%s', (_what, isTool, known) => {
		fail(begin({ isTool }), 'one');
		expect(begin({ isTool }).getResults({ at: 2 }).get(0)).toBe(known);
	});

	describe('when no next try comes', () => {
		beforeEach(() => {
			jest.useFakeTimers();
		});
		afterEach(() => {
			jest.useRealTimers();
		});

		it('are forgotten after a minute', () => {
			fail(begin(), 'one');
			jest.advanceTimersByTime(59_999);
			expect(countStoredResults()).toBe(1);
			jest.advanceTimersByTime(1);
			expect([countStoredResults(), jest.getTimerCount()]).toEqual([0, 0]);
		});

		it('but not while the next try is at work, however long it takes', () => {
			fail(begin(), 'one');
			const second = begin();
			jest.advanceTimersByTime(3_600_000);
			fail(second, 'two', 1);
			expect(knownTo(begin())).toEqual(['one', 'two']);
		});
	});
});

it.each([
	['nothing', [], false],
	['an item', [{ json: { a: 1 } }], false],
	['an error item first', [{ json: { error: { code: 400 } } }, { json: {} }], true],
	['an error item behind another', [{ json: {} }, { json: { error: { code: 400 } } }], false],
	['an error that is false', [{ json: { error: false } }], false],
	['an error that is empty', [{ json: { error: '' } }], true],
])('n8n tries again after %s: %j, %s', (_, items, failed) => {
	expect(isFailedTry(items)).toBe(failed);
});
