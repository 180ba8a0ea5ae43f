import type { IRun } from 'n8n-workflow';

import { Published } from './published';
import { until } from './triggerRun';

const published = new Published();

describe('executions', () => {
	test('one at a time keeps the order, and the next waits for the end', async () => {
		const run = await published.listening(
			{ options: { maxConcurrentExecutions: 1 } },
			{ run: () => undefined },
		);
		published.service.send('s1', 1, 2);
		await until(() => run.emitted.length === 1);
		run.emitted[0]?.done?.resolve({} as IRun);
		await until(() => run.emitted.length === 2);
		expect(run.messages).toEqual([1, 2]);
	});

	test('a batch takes what comes in its time', async () => {
		const run = await published.listening({ options: { batchSize: 3, batchWaitMilliseconds: 60 } });
		published.service.send('s1', 1, 2, 3, 4);
		await until(() => run.items.length === 4);
		expect(run.emitted.map(({ items }) => items.length)).toEqual([3, 1]);
	});

	test("n8n's key names node, session and message id; without an id there is none", async () => {
		const run = await published.listening({ options: { deduplicationField: 'meta.id' } });
		published.service.send(
			's1',
			{ meta: { id: 'a' } },
			{ meta: { id: 'a' } },
			{ meta: { id: 7 } },
			{ meta: {} },
			'text',
		);
		await until(() => run.items.length === 4);
		const keys = run.emitted.map(({ key }) => key);
		expect(keys[0]).toMatch(/^aw1:[0-9a-f]{64}$/);
		expect(keys[1]).toMatch(/^aw1:/);
		expect(new Set(keys).size).toBe(3);
		expect(keys.slice(2)).toEqual([undefined, undefined]);
	});

	// n8n compares keys from 2.20 on, and only those of executions that it still keeps.
	test.each([1, 10])(
		'a repeated id is left out, over a restart of the node, too (batches of %d)',
		async (batchSize) => {
			const parameters = { options: { deduplicationField: 'id', batchSize } };
			const workflowId = `repeats ${batchSize}`;
			const first = await published.listening(parameters, { workflowId });
			published.service.send('s1', { id: 1 }, { id: 1 }, { id: 2 });
			await until(() => first.items.length === 2);
			await first.close();
			await until(() => published.service.openSockets() === 0);
			const second = await published.listening(parameters, { workflowId });
			published.service.send('s1', { id: 2 }, { id: 3 });
			await until(() => second.items.length === 1);
			expect(second.messages).toEqual([{ id: 3 }]);
		},
	);

	test('what n8n does not take is a failed execution; with an id it is tried again', async () => {
		const run = await published.listening({}, { run: ({ done }) => done?.reject(new Error('no database')) });
		published.service.send('s1', 'x');
		await until(() => run.failedExecutions.length === 1);
		expect(run.failedExecutions[0]).toMatchObject({
			description: expect.stringContaining('no database') as string,
		});
		expect(run.emitted).toHaveLength(1);
	});

	test('a stopped execution was taken', async () => {
		class ManualExecutionCancelledError extends Error {}
		const run = await published.listening(
			{},
			{ run: ({ done }) => done?.reject(new ManualExecutionCancelledError()) },
		);
		published.service.send('s1', 'x', 'y');
		await until(() => run.items.length === 2);
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(run.failedExecutions).toEqual([]);
	});

	test('a full queue drops the oldest, counts them, and tells', async () => {
		const options = { maxQueuedMessages: 2, maxConcurrentExecutions: 1, onQueueFull: 'dropOldest' };
		const run = await published.listening({ options }, { run: () => undefined, workflowId: 'dropping' });
		published.service.send('s1', 1, 2, 3, 4, 5);
		await until(() => run.failedExecutions.length === 1);
		await until(() => published.service.openSockets() === 1);
		await new Promise((resolve) => setTimeout(resolve, 50));
		run.emitted[0]?.done?.resolve({} as IRun);
		await until(() => run.emitted.length === 2);
		expect(run.items.map(({ json }) => [json.message, json.dropped])).toEqual([
			[1, undefined],
			[4, 2],
		]);
	});

	test('a full queue pauses the channel until half of it is worked off, and nothing is lost', async () => {
		const ends: Array<() => void> = [];
		let ending = false;
		const options = { maxQueuedMessages: 4, maxConcurrentExecutions: 1 };
		const run = await published.listening(
			{ options },
			{
				run: ({ done }) => {
					const end = () => done?.resolve({} as IRun);
					if (ending) end();
					else ends.push(end);
				},
			},
		);
		for (let n = 1; n <= 2000; n++) published.service.send('s1', { n, filler: 'x'.repeat(1000) });
		await until(() => run.logged.some((text) => text.includes('reading is paused')));
		expect(run.items).toHaveLength(1);
		ending = true;
		ends[0]?.();
		await until(() => run.items.length === 2000);
		expect(run.messages.map((message) => (message as { n: number }).n)).toEqual(
			Array.from({ length: 2000 }, (_, index) => index + 1),
		);
	});
});
