import { runItems, type Work } from '../../nodes/core/itemLoop';
import { Sanitizer } from '../../nodes/core/sanitizer';
import { AgentExecute } from '../../nodes/Agent/AgentExecute/AgentExecute.node';
import { executeContext, failureOf } from '../executeContext';

test('what a fault of ours interrupts fails its item alone, and is not started again by Retry On Fail', async () => {
	const performed: number[] = [];
	const work: Work<number> = {
		check: (index) => index,
		sent: (value) => value,
		tasks: (checked) => checked.map((item) => ({ items: [item] })),
		parallel: () => 1,
		async perform([item]) {
			await Promise.resolve();
			performed.push(item?.index ?? -1);
			if (item?.index === 0) throw new RangeError('a fault');
			return [{ outcome: { output: [{ json: { done: true } }] }, isFinal: true }];
		},
		stopped: () => {
			throw new Error('nobody stops it');
		},
		sanitizer: new Sanitizer(),
	};
	const run = (node: object) =>
		runItems(
			executeContext({ nodeType: new AgentExecute(), items: [{ json: {} }, { json: {} }], node }),
			work,
		);
	expect(await run({ onError: 'continueRegularOutput' })).toMatchObject([
		{ json: { error: { code: 500, message: 'a fault' } } },
		{ json: { done: true } },
	]);
	performed.length = 0;
	const retried = { retryOnFail: true, id: 'retried' };
	expect((await failureOf(run(retried))).message).toBe('a fault');
	expect((await failureOf(run(retried))).message).toBe('a fault');
	expect(performed).toEqual([0]);
});
