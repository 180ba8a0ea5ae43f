import type { IDataObject } from 'n8n-workflow';

import { listeningNodes } from '../../../nodes/Agent/AgentSessionTrigger/triggerState';
import { Published } from './published';
import { type TriggerOptions, TriggerRun, until } from './triggerRun';

const published = new Published();

describe('a second start of the same node', () => {
	test('takes the place of the first, which n8n has not ended (#10836, #3824)', async () => {
		const first = await published.listening();
		const second = await published.publish();
		await until(() => published.service.upgrades.length === 2);
		await until(() => published.service.openSockets() === 1);
		published.service.send('s1', 'x');
		await until(() => second.items.length === 1);
		await first.close();
		expect(published.service.openSockets()).toBe(1);
		expect(first.items).toEqual([]);
	});

	test('of two at once one is left', async () => {
		await Promise.all([published.publish(), published.publish(), published.publish()]);
		await until(() => published.service.openSockets() === 1);
		expect(published.service.upgrades.length).toBeLessThanOrEqual(2);
	});

	test('while the stop still works, goes on with what it leaves, also when others were started in between', async () => {
		const options = { maxConcurrentExecutions: 1 };
		const first = await published.listening({ options }, { run: () => undefined, workflowId: 'meanwhile' });
		const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
		published.service.send('s1', ...numbers);
		await until(() => first.items.length === 1);
		await new Promise((resolve) => setTimeout(resolve, 100));
		const closing = first.close();
		const later = [{}, {}, {}].map(() => published.publish({ options }, { workflowId: 'meanwhile' }));
		const [second, third, last] = await Promise.all(later);
		await until(() => first.items.length + (last?.items.length ?? 0) === 200);
		await closing;
		expect([...first.messages, ...(last?.messages ?? [])]).toEqual(numbers);
		expect([second?.items, third?.items]).toEqual([[], []]);
	});

	test('a copied workflow with the same node id has a channel of its own (#20228)', async () => {
		await published.listening();
		await published.publish({}, { workflowId: 'w2' });
		await until(() => published.service.openSockets() === 2);
	});
});

describe('closing', () => {
	test('leaves no channel, is harmless twice, and the next start goes on with what has arrived', async () => {
		const run = await published.listening(
			{ options: { maxConcurrentExecutions: 1 } },
			{ run: () => undefined },
		);
		published.service.send('s1', 1, 2, 3);
		await until(() => run.items.length === 1);
		await Promise.all([run.close(), run.close()]);
		await run.close();
		await until(() => published.service.openSockets() === 0);
		const next = await published.publish();
		await until(() => next.items.length === 2);
		expect([...run.messages, ...next.messages]).toEqual([1, 2, 3]);
	});

	test('stores the bytes of the last messages', async () => {
		const run = await published.listening();
		published.service.send('s1', Buffer.from('a'), Buffer.from('b'), Buffer.from('c'));
		await until(() => run.items.length > 0);
		await run.close();
		expect(run.items.map(({ binary }) => binary?.data?.data)).toEqual(['YQ==', 'Yg==', 'Yw==']);
	});

	test('of a trigger whose reading is paused takes what the socket holds, and the next start goes on with it', async () => {
		const options = { maxConcurrentExecutions: 1, maxQueuedMessages: 10 };
		const run = await published.listening({ options }, { run: () => undefined });
		const texts = Array.from({ length: 3000 }, (_, n) => `${n}`.padStart(200, '.'));
		published.service.send('s1', ...texts);
		await until(() => run.logged.some((text) => text.includes('reading is paused')));
		await run.close();
		expect(run.failedExecutions).toMatchObject([
			{ message: 'The trigger was stopped while 2999 messages waited for their executions' },
		]);
		const next = await published.publish({ options: { batchSize: 5000 } });
		await until(() => next.items.length === 2999);
		expect([...run.messages, ...next.messages]).toEqual(texts);
	});

	test('published again, the first message says how long no channel was open', async () => {
		const first = await published.listening();
		published.service.send('s1', 1);
		await until(() => first.items.length === 1);
		await first.close();
		published.service.send('s1', 2);
		const next = await published.listening();
		published.service.send('s1', 3, 4);
		await until(() => next.items.length === 2);
		expect(next.items.map(({ json }) => [json.message, json.sequence, typeof json.gapMs])).toEqual([
			[3, 1, 'number'],
			[4, 2, 'undefined'],
		]);
	});

	test('ends a channel that is still connecting (#29575)', async () => {
		published.service.scriptUpgrades({ fault: 'silence' });
		const run = await published.publish();
		await until(() => published.service.upgrades.length === 1);
		await run.close();
	});

	test('100 times on and off leave no socket', async () => {
		for (let n = 0; n < 100; n++) {
			const run = await new TriggerRun({ service: published.service }).start();
			if (n % 2 === 0) await until(() => published.service.openSockets() === 1);
			await run.close();
			await until(() => published.service.openSockets() === 0);
		}
		expect(listeningNodes()).toBe(0);
	});
});

describe('what the user gave wrong is refused at once', () => {
	test.each<[string, IDataObject, Partial<TriggerOptions>, string]>([
		['no session', { sessionIds: ' , ' }, {}, "'Session IDs' is required"],
		['a batch of nothing', { options: { batchSize: 0 } }, {}, "'Batch Size'"],
		['a close code that is none', { options: { finalCloseCodes: '4001, x' } }, {}, "'Final Close Codes'"],
		['one below all codes', { options: { finalCloseCodes: '0999' } }, {}, "contains '0999'"],
		['one above all codes', { options: { finalCloseCodes: '5000' } }, {}, "contains '5000'"],
		['one that is too long', { options: { finalCloseCodes: '40010' } }, {}, "contains '40010'"],
		['a format that is none', { messageFormat: 'xml' }, {}, "'Message Format'"],
		['a policy that is none', { options: { onQueueFull: 'explode' } }, {}, "'On Queue Full'"],
		['an address of another kind', {}, { api: { webSocketUrl: 'ftp://x' } }, 'WebSocket URL'],
		['no API key', {}, { api: { apiKey: '' } }, 'API key'],
		['no signature', {}, { signer: { signature: '' } }, 'signature'],
	])('%s', async (_, parameters, options, message) => {
		await expect(published.publish(parameters, options)).rejects.toThrow(message);
		expect(published.service.upgrades).toEqual([]);
	});
});
