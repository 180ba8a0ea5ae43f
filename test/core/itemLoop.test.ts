import { NodeError, type Outcome } from '../../nodes/core/errors';
import { type PerformedItem, runItems, type Work } from '../../nodes/core/itemLoop';
import { Sanitizer } from '../../nodes/core/sanitizer';
import { AgentExecute } from '../../nodes/Agent/AgentExecute/AgentExecute.node';
import { createExecuteContext, failureOf } from '../createExecuteContext';

/** @param perform what becomes of the item with this index */
function run(
	perform: (index: number) => PerformedItem,
	node: object,
	more: Partial<Work<number>> = {},
) {
	const work: Work<number> = {
		check: (index) => index,
		getRequestIdentity: (value) => value,
		outputHasInputFields: () => false,
		planPhases: (checked) => [checked.map((item) => ({ items: [item] }))],
		getConcurrency: () => 1,
		async perform(items) {
			await Promise.resolve();
			return items.map(({ index }) => perform(index));
		},
		createStoppedError: () => {
			throw new Error('nobody stops it');
		},
		sanitizer: new Sanitizer(),
		...more,
	};
	const context = { nodeType: new AgentExecute(), items: [{ json: {} }, { json: {} }], node };
	return runItems(createExecuteContext(context), work);
}

const done: PerformedItem = { result: { output: [{ json: { done: true } }] }, mustNotRepeat: true };

test('what a fault of ours interrupts fails its item alone, and is not started again by Retry On Fail', async () => {
	const performed: number[] = [];
	const faulty = (index: number) => {
		performed.push(index);
		if (index === 0) throw new RangeError('a fault');
		return done;
	};
	expect(await run(faulty, { onError: 'continueRegularOutput' })).toMatchObject([
		{ json: { error: { code: 500, message: 'a fault' } } },
		{ json: { done: true } },
	]);
	performed.length = 0;
	const retried = { retryOnFail: true, id: 'retried' };
	expect((await failureOf(run(faulty, retried))).message).toBe('a fault');
	expect((await failureOf(run(faulty, retried))).message).toBe('a fault');
	expect(performed).toEqual([0]);
});

test('a try that surely did nothing does not hide that the one before it may have done something', async () => {
	const failing = (outcome: Outcome) => () => ({
		result: { failure: new NodeError({ code: 503, message: 'It failed', outcome }) },
		mustNotRepeat: false,
	});
	const node = { retryOnFail: true, id: 'doubted' };
	expect((await failureOf(run(failing('unknown'), node))).message).toBe('It failed');
	expect((await failureOf(run(failing('notDone'), node))).message).toBe(
		'An earlier try may have succeeded; the last one failed: It failed',
	);
});

test('a try in which no item can be checked keeps the results for the next one, however late it comes', async () => {
	jest.useFakeTimers({ doNotFake: ['performance'] });
	const performed: number[] = [];
	const failing = (index: number) => {
		performed.push(index);
		const failure = new NodeError({ code: 503, message: 'It failed', outcome: 'unknown' });
		return { result: { failure }, mustNotRepeat: true };
	};
	const unreadable: Partial<Work<number>> = {
		check() {
			throw new NodeError({ code: 503, message: 'No credential' });
		},
	};
	const node = { retryOnFail: true, id: 'unreadable' };
	expect((await failureOf(run(failing, node))).message).toBe('It failed');
	jest.advanceTimersByTime(50_000);
	expect((await failureOf(run(failing, node, unreadable))).message).toBe('No credential');
	jest.advanceTimersByTime(50_000);
	expect((await failureOf(run(failing, node))).message).toBe('It failed');
	expect(performed).toEqual([0]);
	jest.useRealTimers();
});

test('an item of a combined request that has no result may have been carried out, and is not started again', async () => {
	let performed = 0;
	const combined: Partial<Work<number>> = {
		planPhases: (checked) => [[{ items: checked }]],
		perform: () => {
			performed++;
			return Promise.resolve([done]);
		},
	};
	const node = { retryOnFail: true, id: 'unanswered' };
	for (let tries = 0; tries < 2; tries++) {
		const failure = await failureOf(run(() => done, node, combined));
		expect(failure.message).toBe('The operation returned no result');
	}
	expect(performed).toBe(1);
	expect(await run(() => done, { onError: 'continueRegularOutput' }, combined)).toMatchObject([
		{ json: { done: true } },
		{ json: { error: { code: 500, message: 'The operation returned no result' } } },
	]);
});

test('a phase waits for the batches of the phase before it, and not once more for all earlier ones', async () => {
	const phases = 50;
	const awaited: unknown[] = [];
	const all = Promise.all.bind(Promise);
	jest.spyOn(Promise, 'all').mockImplementation(async (promises: Iterable<unknown>) => {
		const list = [...promises];
		awaited.push(...list);
		return await all(list);
	});
	const phased: Partial<Work<number>> = {
		planPhases: ([item]) =>
			Array.from({ length: phases }, () => [{ items: item ? [item] : [] }]),
	};
	try {
		await run(() => done, {}, phased);
	} finally {
		jest.restoreAllMocks();
	}
	expect(awaited).toHaveLength(phases);
});
