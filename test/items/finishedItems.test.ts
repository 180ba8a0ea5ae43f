import { FinishedItems, keptOutcomes, type TryOfNode } from '../../nodes/items/finishedItems';

let execution = 0;

function attempt(more: Partial<TryOfNode> = {}): TryOfNode {
	return { executionId: `e${execution}`, nodeId: 'n', runIndex: 0, retryOnFail: true, ...more };
}

beforeEach(() => {
	execution++;
});

describe('items that succeeded in an earlier try', () => {
	it('are answered from memory after a try that failed', () => {
		const first = new FinishedItems<string>(attempt());
		first.remember(0, { a: 1 }, 'sent');
		first.end(true);

		const second = new FinishedItems<string>(attempt());
		expect(second.recall(0, { a: 1 })).toBe('sent');
		expect(second.recall(1, { a: 1 })).toBeUndefined();
		second.end(false);
		expect(keptOutcomes()).toBe(0);
	});

	it('stay known over a second failure', () => {
		const first = new FinishedItems<string>(attempt());
		first.remember(0, 'x', 'one');
		first.end(true);
		const second = new FinishedItems<string>(attempt());
		second.remember(1, 'y', 'two');
		second.end(true);
		const third = new FinishedItems<string>(attempt());
		expect([third.recall(0, 'x'), third.recall(1, 'y')]).toEqual(['one', 'two']);
		third.end(true);
		expect(keptOutcomes()).toBe(0);
	});

	it.each([
		['another execution', { executionId: 'other' }],
		['another node', { nodeId: 'other' }],
		['another run of the node', { runIndex: 1 }],
		['Retry On Fail switched off', { retryOnFail: false }],
	])('are not known to %s', (_name, more) => {
		const first = new FinishedItems<string>(attempt());
		first.remember(0, 'x', 'one');
		first.end(true);
		expect(new FinishedItems<string>(attempt(more)).recall(0, 'x')).toBeUndefined();
		const last = new FinishedItems<string>(attempt());
		last.recall(0, 'x');
		last.end(false);
	});

	it('are not kept when Retry On Fail is off, nor after a try without failure, nor after the last try', () => {
		for (const [more, failed] of [
			[{ retryOnFail: false }, true],
			[{}, false],
		] as const) {
			const only = new FinishedItems<string>(attempt(more));
			only.remember(0, 'x', 'one');
			only.end(failed);
			expect(keptOutcomes()).toBe(0);
		}
		for (let tries = 0; tries < 2; tries++) {
			const one = new FinishedItems<string>(attempt({ maxTries: 2 }));
			one.remember(0, 'x', 'one');
			one.end(true);
		}
		expect(keptOutcomes()).toBe(0);
	});

	it('of a tool that shares the run index survive the success of another call', () => {
		const failing = new FinishedItems<string>(attempt({ isTool: true }));
		const other = new FinishedItems<string>(attempt({ isTool: true }));
		failing.remember(0, 'x', 'one');
		failing.end(true);
		other.remember(0, 'y', 'two');
		other.end(false);
		const again = new FinishedItems<string>(attempt({ isTool: true }));
		expect(again.recall(0, 'x')).toBe('one');
		again.end(false);
	});

	it('of a tool are told apart by what would be sent; those of other nodes are not: expressions may give the time', () => {
		for (const [isTool, known] of [
			[true, undefined],
			[false, 'one'],
		] as const) {
			const first = new FinishedItems<string>(attempt({ isTool, runIndex: Number(isTool) }));
			first.remember(0, { at: 1 }, 'one');
			first.end(true);
			const second = new FinishedItems<string>(attempt({ isTool, runIndex: Number(isTool) }));
			expect(second.recall(0, { at: 2 })).toBe(known);
			second.recall(0, { at: 1 });
			second.end(false);
		}
	});

	it('are bounded in number and age', () => {
		let now = 0;
		for (let run = 0; run < 30; run++) {
			const items = new FinishedItems<number>(attempt({ runIndex: run }), () => now);
			for (let index = 0; index < 1000; index++) items.remember(index, run, index);
			items.end(true);
		}
		expect(keptOutcomes()).toBeLessThanOrEqual(20_000);
		now += 2 * 60 * 60 * 1000;
		const late = new FinishedItems<number>(attempt({ runIndex: 99 }), () => now);
		late.remember(0, 'x', 1);
		late.end(true);
		expect(keptOutcomes()).toBe(1);
		const end = new FinishedItems<number>(attempt({ runIndex: 99 }), () => now);
		end.recall(0, 'x');
		end.end(false);
	});
});
