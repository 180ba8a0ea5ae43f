import { RetryCache, isFailedTry, type RetryContext } from '../../nodes/core/retryCache';
import { countStoredResults, forgetStoredResults } from '../sharedState';

let execution = 0;

function attempt(more: Partial<RetryContext> = {}): RetryContext {
	return { executionId: `e${execution}`, nodeId: 'n', runIndex: 0, retryOnFail: true, ...more };
}

beforeEach(() => {
	execution++;
	forgetStoredResults();
});

describe('items that succeeded in an earlier try', () => {
	it('are answered from memory after a try that failed', () => {
		const first = new RetryCache<string>(attempt());
		first.getResults({ a: 1 }).set(0, 'sent');
		first.endTry(true);

		const second = new RetryCache<string>(attempt());
		expect(second.getResults({ a: 1 }).get(0)).toBe('sent');
		expect(second.getResults({ a: 1 }).get(1)).toBeUndefined();
		second.endTry(false);
		expect(countStoredResults()).toBe(0);
	});

	it('stay known over a second failure', () => {
		const first = new RetryCache<string>(attempt());
		first.getResults('x').set(0, 'one');
		first.endTry(true);
		const second = new RetryCache<string>(attempt());
		second.getResults('y').set(1, 'two');
		second.endTry(true);
		const third = new RetryCache<string>(attempt());
		expect([third.getResults('x').get(0), third.getResults('y').get(1)]).toEqual([
			'one',
			'two',
		]);
		third.endTry(true);
		expect(countStoredResults()).toBe(0);
	});

	it('stay known to equal calls of a tool at the same time, of which another one failed, too', () => {
		const [one, other] = [0, 1].map(
			(runIndex) => new RetryCache<string>(attempt({ isTool: true, runIndex })),
		);
		for (const call of [one, other]) call?.getResults('x').get(0);
		one?.getResults('x').set(0, 'sent');
		for (const call of [one, other]) call?.endTry(true);
		for (const runIndex of [2, 3]) {
			const again = new RetryCache<string>(attempt({ isTool: true, runIndex }));
			expect(again.getResults('x').get(0)).toBe('sent');
		}
		const last = new RetryCache<string>(attempt({ isTool: true, runIndex: 4 }));
		last.getResults('x').get(0);
		last.endTry(false);
	});

	it.each([
		['another execution', { executionId: 'other' }],
		['another node', { nodeId: 'other' }],
		['another run of the node', { runIndex: 1 }],
		['Retry On Fail switched off', { retryOnFail: false }],
	])('are not known to %s', (_name, more) => {
		const first = new RetryCache<string>(attempt());
		first.getResults('x').set(0, 'one');
		first.endTry(true);
		expect(new RetryCache<string>(attempt(more)).getResults('x').get(0)).toBeUndefined();
		const last = new RetryCache<string>(attempt());
		last.getResults('x').get(0);
		last.endTry(false);
	});

	it('are not kept when Retry On Fail is off, nor after a try without failure, nor after the last try', () => {
		for (const [more, failed] of [
			[{ retryOnFail: false }, true],
			[{}, false],
		] as const) {
			const only = new RetryCache<string>(attempt(more));
			only.getResults('x').set(0, 'one');
			only.endTry(failed);
			expect(countStoredResults()).toBe(0);
		}
		for (let tries = 0; tries < 2; tries++) {
			const one = new RetryCache<string>(attempt({ maxTries: 2 }));
			one.getResults('x').set(0, 'one');
			one.endTry(true);
		}
		expect(countStoredResults()).toBe(0);
	});

	it.each([
		[undefined, 2],
		[0, 2],
		[1, 1],
		[9, 4],
	])('with Max Tries %s are kept after %d tries', (maxTries, keptAfter) => {
		for (let tries = 1; tries <= keptAfter + 1; tries++) {
			const one = new RetryCache<string>(attempt({ maxTries }));
			one.getResults('x').set(0, 'one');
			one.endTry(true);
			expect(countStoredResults()).toBe(tries <= keptAfter ? 1 : 0);
		}
	});

	it('of a tool are known to the next try, which n8n counts as another run', () => {
		for (const [runIndex, known] of [
			[0, undefined],
			[1, 'unknown'],
			[2, 'unknown'],
		] as const) {
			const one = new RetryCache<string>(attempt({ isTool: true, runIndex }));
			expect(one.getResults('x').get(0)).toBe(known);
			one.getResults('x').set(0, 'unknown');
			one.endTry(true);
		}
		expect(countStoredResults()).toBe(0);
	});

	it.each([
		['another call', 'y'],
		['an equal call', 'x'],
	])('of a tool survive the success of %s at the same time', (_name, sent) => {
		const failing = new RetryCache<string>(attempt({ isTool: true }));
		const other = new RetryCache<string>(attempt({ isTool: true, runIndex: 1 }));
		expect([failing.getResults('x').get(0), other.getResults(sent).get(0)]).toEqual([
			undefined,
			undefined,
		]);
		failing.getResults('x').set(0, 'one');
		failing.endTry(true);
		other.getResults(sent).set(0, 'two');
		other.endTry(false);
		const again = new RetryCache<string>(attempt({ isTool: true, runIndex: 2 }));
		expect(again.getResults('x').get(0)).toBe('one');
		again.endTry(false);
		expect(countStoredResults()).toBe(0);
	});

	it('of a tool are told apart by what would be sent; those of other nodes are not: expressions may give the time', () => {
		for (const [isTool, known] of [
			[true, undefined],
			[false, 'one'],
		] as const) {
			const first = new RetryCache<string>(attempt({ isTool, runIndex: Number(isTool) }));
			first.getResults({ at: 1 }).set(0, 'one');
			first.endTry(true);
			const second = new RetryCache<string>(attempt({ isTool, runIndex: Number(isTool) }));
			expect(second.getResults({ at: 2 }).get(0)).toBe(known);
			second.getResults({ at: 1 }).get(0);
			second.endTry(false);
		}
	});

	describe('when no next try comes', () => {
		beforeEach(() => {
			jest.useFakeTimers();
		});
		afterEach(() => {
			jest.useRealTimers();
		});

		const failedTry = (earlier: RetryCache<string>, index: number, outcome: string) => {
			earlier.getResults('x').set(index, outcome);
			earlier.endTry(true);
		};

		it('are forgotten after a minute', () => {
			failedTry(new RetryCache<string>(attempt()), 0, 'one');
			jest.advanceTimersByTime(59_999);
			expect(countStoredResults()).toBe(1);
			jest.advanceTimersByTime(1);
			expect([countStoredResults(), jest.getTimerCount()]).toEqual([0, 0]);
		});

		it('but not while the next try is at work, however long it takes', () => {
			failedTry(new RetryCache<string>(attempt()), 0, 'one');
			const second = new RetryCache<string>(attempt());
			jest.advanceTimersByTime(3_600_000);
			expect(second.getResults('x').get(0)).toBe('one');
			failedTry(second, 1, 'two');
			const third = new RetryCache<string>(attempt());
			expect([third.getResults('x').get(0), third.getResults('x').get(1)]).toEqual([
				'one',
				'two',
			]);
			third.endTry(true);
			expect(countStoredResults()).toBe(0);
		});

		it('and a try that was never reached keeps what it did not look at', () => {
			failedTry(new RetryCache<string>(attempt()), 7, 'seven');
			const second = new RetryCache<string>(attempt());
			jest.advanceTimersByTime(3_600_000);
			failedTry(second, 0, 'one');
			expect(new RetryCache<string>(attempt()).getResults('x').get(7)).toBe('seven');
			new RetryCache<string>(attempt()).endTry(true);
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
