import { inspect } from 'node:util';
import { ExpressionError, type IDataObject, type IRun } from 'n8n-workflow';

import { freePort } from '../../../dev/n8n/startN8n';
import { createEventArrival } from '../../../nodes/Agent/AgentSessionTrigger/arrival';
import { getNodeMemory, NodeMemory } from '../../../nodes/Agent/AgentSessionTrigger/triggerState';
import { loadBinaryData } from '../../createExecuteContext';
import { FakeClock } from '../session/fakeClock';
import { apiKey, Published } from './published';
import { canaries, until, type TriggerOptions, TriggerRun } from './triggerRun';
import { countListeningNodes } from '../../sharedState';
import { turns } from '../../turns';

const published = new Published();
const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
describe('a published trigger', () => {
	test('opens one channel with the five parameters and emits each message as an item', async () => {
		const run = await published.listening({ sessionIds: 'my session+1' });
		const [upgrade] = published.service.upgrades;
		expect(upgrade?.path).toBe('/ws');
		expect(upgrade?.query).toEqual({
			sessionId: 'my session+1',
			...canaries,
			apiKey,
			timestamp: expect.stringMatching(/^\d{10}$/) as string,
		});
		published.service.send('my session+1', { a: 1 }, 'text', Buffer.from([0xff, 0]));
		await until(() => run.items.length === 3);
		const common = { sessionId: 'my session+1', receivedAt: iso };
		expect(run.items.map(({ json }) => json)).toEqual([
			{ ...common, output: null, sequence: 1, format: 'json', message: { a: 1 } },
			{ ...common, output: 'text', sequence: 2, format: 'text', message: 'text' },
			{ ...common, output: null, sequence: 3, format: 'binary', message: null },
		]);
		await loadBinaryData(run.items);
		expect(run.items[2]?.binary?.data).toMatchObject({
			data: Buffer.from([0xff, 0]).toString('base64'),
		});
		expect(run.emitted.map(({ items, key }) => [items.length, key])).toEqual(
			Array(3).fill([1, undefined]),
		);
	});

	test.each([
		[{ text: 'an answer' }, 'an answer'],
		[{ text: 7 }, '7'],
		[{ text: '', data: { text: 'a' } }, null],
		[12, '12'],
	])(
		"the text of a message becomes 'output', as in Agent Execute: %j",
		async (message, output) => {
			const run = await published.listening();
			published.service.send('s1', message);
			await until(() => run.items.length === 1);
			expect(run.items[0]?.json).toMatchObject({ output, message });
		},
	);

	test('listens to several sessions, each with a sequence of its own', async () => {
		const run = await published.publish({ sessionIds: ' s1, s2\ns1,,s3 ' });
		await until(() => published.service.countOpenChannels() === 3);
		for (const id of ['s1', 's2', 's3', 's1']) published.service.send(id, id);
		await until(() => run.items.length === 4);
		const seen = run.items.map(
			({ json }) => `${json.sessionId as string} ${json.sequence as number}`,
		);
		expect(seen.sort()).toEqual(['s1 1', 's1 2', 's2 1', 's3 1']);
	});

	test('takes the sessions as an array from an expression', async () => {
		await published.publish({ sessionIds: ['a', 7] as never });
		await until(() => published.service.countOpenChannels('a') === 1);
		await until(() => published.service.countOpenChannels('7') === 1);
	});

	test('takes the sessions and options of expressions', async () => {
		const run = await published.listening({
			sessionIds: '={{ ["a", 3 + 4].join() }}',
			options: { batchSize: '={{ 1 + 1 }}', batchWaitMilliseconds: '={{ 60 * 1000 }}' },
		});
		await until(() => published.service.countOpenChannels('7') === 1);
		published.service.send('7', 'first');
		published.service.send('7', 'second');
		await until(() => run.items.length === 2);
		expect(run.emitted).toHaveLength(1);
	});

	test('survives a server that is down, and marks no gap before the first channel (#36388, #3607)', async () => {
		const port = await freePort();
		await published.service.close();
		await published.serve({ port });
		await published.service.close();
		const run = await published.publish();
		await until(() => run.logged.some((text) => text.includes('refused')));
		await published.serve({ port });
		await until(() => published.service.countOpenChannels() === 1);
		published.service.send('s1', 'hello');
		await until(() => run.items.length === 1);
		expect(run.items[0]?.json).not.toHaveProperty('gapMs');
	});

	test('opens no channel to a host that the signature credential does not allow', async () => {
		const signer = { allowedHosts: 'agent.example.com' };
		await expect(published.publish({}, { signer })).rejects.toThrow(
			'is not allowed for 127.0.0.1',
		);
		expect(published.service.connections).toBe(0);
	});

	test('opens none either when the host is no longer allowed after a drop', async () => {
		let allowedHosts = '127.0.0.1';
		const onRead = (type: string) =>
			type === 'agentSignatureApi' ? { allowedHosts } : undefined;
		const run = await published.listening({}, { onRead });
		allowedHosts = 'agent.example.com';
		await until(() => {
			published.service.dropChannels();
			return run.logged.some((text) => text.includes('is not allowed for'));
		});
		expect(published.service.countOpenChannels()).toBe(0);
	});

	test('a close reason forges no line of the log, and repeats no secret', async () => {
		const parameters = { options: { connectionEvents: true } };
		const run = await published.listening(parameters);
		const reason = `bye\r\nerror | forged ${Buffer.from(`:${apiKey}`).toString('base64')} ${apiKey}`;
		published.service.closeChannels(4000, reason);
		await until(() => run.items.some(({ json }) => json.event === 'disconnected'));
		const told = `${run.logged.join('')} ${inspect(run.items, { depth: null })}`;
		expect(run.logged.some((text) => text.includes('bye error | forged Om••• •••'))).toBe(true);
		expect(told).not.toMatch(/[\r\n]error|canary|OmNhbmFyeS|Y2FuYXJ5/);
	});

	test('an error of n8n forges no line of the log, and repeats no secret', async () => {
		const error = new Error(
			'no database\r\nerror | forged Authorization: Bearer abcdefghijklmnop',
		);
		const run = await published.listening({}, { run: ({ done }) => done?.reject(error) });
		published.service.send('s1', 1);
		await until(() => run.logged.some((text) => text.includes('not accepted by n8n')));
		const told = run.logged.join('');
		expect(told).toContain('no database error | forged');
		expect(told).not.toMatch(/[\r\n]error|abcdefgh/);
	});

	test('comes back after a drop, after a refusal with credentials read anew, and marks the gap', async () => {
		let signature = 'old';
		const run = await published.listening(
			{ options: { connectionEvents: true } },
			{ onRead: (type) => (type === 'agentSignatureApi' ? { signature } : undefined) },
		);
		published.service.send('s1', 1);
		await until(() => run.messages.includes(1));
		signature = 'new';
		published.service.scriptUpgrades({ status: 401 });
		published.service.dropChannels();
		await until(
			() =>
				published.service.upgrades.length === 3 &&
				published.service.countOpenChannels() === 1,
		);
		expect(published.service.upgrades[2]?.query.signature).toBe('new');
		published.service.send('s1', 2, 3);
		await until(() => run.messages.includes(3));
		const jsons = run.items.map(({ json }) => json);
		expect(jsons.filter(({ event }) => event)).toEqual([
			{ sessionId: 's1', event: 'connected', at: iso, gapMs: null, reason: null },
			{
				sessionId: 's1',
				event: 'disconnected',
				at: iso,
				gapMs: null,
				reason: 'the connection was lost',
			},
			{
				sessionId: 's1',
				event: 'reconnected',
				at: iso,
				gapMs: expect.any(Number) as number,
				reason: 'the connection was lost',
			},
		]);
		const gaps = jsons
			.filter(({ message }) => message)
			.map(({ sequence, gapMs }) => [sequence, typeof gapMs]);
		expect(gaps).toEqual([
			[1, 'undefined'],
			[2, 'number'],
			[3, 'undefined'],
		]);
	});

	test('a refused key is one failed execution, and never fails the activation (#9499)', async () => {
		const refused = { status: 401, body: `no such key ${apiKey}` };
		published.service.scriptUpgrades(refused, refused, refused);
		const run = await published.publish();
		await until(() => run.failedExecutions.length === 1);
		// Once more at once, and again after the first wait of the long backoff: a deployment of seconds is no alert.
		expect(published.service.upgrades).toHaveLength(3);
		expect(run.errors).toEqual([]);
		expect(run.failedExecutions[0]).toMatchObject({
			httpCode: '401',
			message: expect.stringMatching(/session s1 .*401/) as string,
		});
		const shown = inspect([run.failedExecutions, run.logged], { depth: 9 });
		for (const secret of [apiKey, ...Object.values(canaries)])
			expect(shown).not.toContain(secret);
	});

	test('an n8n without failed executions gets a line in its log', async () => {
		const onRead = () => {
			throw new ExpressionError('access to env vars denied');
		};
		const run = await published.publish({}, { withoutFailedExecutions: true, onRead });
		await until(() =>
			run.logged.some((text) => text.includes('The channel of session s1 is not open')),
		);
	});

	test('credentials that cannot be read for a moment are an outage', async () => {
		let failures = 3;
		const run = await published.publish(
			{},
			{
				onRead: () => {
					if (failures-- > 0) throw new Error('the database is locked');
					return undefined;
				},
			},
		);
		await until(() => published.service.countOpenChannels() === 1);
		expect(run.logged.join('\n')).toContain('the database is locked');
	});
});

describe('a second start of the same node', () => {
	test('takes the place of the first, which n8n has not ended (#10836, #3824)', async () => {
		const first = await published.listening();
		const second = await published.publish();
		await until(() => published.service.upgrades.length === 2);
		await until(() => published.service.countOpenChannels() === 1);
		published.service.send('s1', 'x');
		await until(() => second.items.length === 1);
		await first.close();
		expect(published.service.countOpenChannels()).toBe(1);
		expect(first.items).toEqual([]);
	});

	test('of two at once one is left', async () => {
		await Promise.all([published.publish(), published.publish(), published.publish()]);
		await until(() => published.service.countOpenChannels() === 1);
		expect(published.service.upgrades.length).toBeLessThanOrEqual(2);
	});

	test('while the stop still works, goes on with what it leaves, also when others were started in between', async () => {
		const options = { maxConcurrentExecutions: 1 };
		const first = await published.listening(
			{ options },
			{ run: () => undefined, workflowId: 'meanwhile' },
		);
		const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
		published.service.send('s1', ...numbers);
		await until(() => first.items.length === 1);
		await turns(100);
		const closing = first.close();
		const later = [{}, {}, {}].map(() =>
			published.publish({ options }, { workflowId: 'meanwhile' }),
		);
		const [second, third, last] = await Promise.all(later);
		await until(() => first.items.length + (last?.items.length ?? 0) === 200);
		await closing;
		expect([...first.messages, ...(last?.messages ?? [])]).toEqual(numbers);
		expect([second?.items, third?.items]).toEqual([[], []]);
	});

	test('a copied workflow with the same node id has a channel of its own (#20228)', async () => {
		await published.listening();
		await published.publish({}, { workflowId: 'w2' });
		await until(() => published.service.countOpenChannels() === 2);
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
		await until(() => published.service.countOpenChannels() === 0);
		const next = await published.publish();
		await until(() => next.items.length === 2);
		expect([...run.messages, ...next.messages]).toEqual([1, 2, 3]);
	});

	test('stores the bytes of the last messages', async () => {
		const run = await published.listening();
		published.service.send('s1', Buffer.from('a'), Buffer.from('b'), Buffer.from('c'));
		await until(() => run.items.length > 0);
		await run.close();
		await loadBinaryData(run.items);
		// Several executions may be started at once, and files are stored in their own time.
		const stored = run.items.map(({ binary }) => binary?.data?.data).sort();
		expect(stored).toEqual(['YQ==', 'Yg==', 'Yw==']);
	});

	test('of a trigger whose reading is paused takes what the socket holds, and the next start goes on with it', async () => {
		const options = { maxConcurrentExecutions: 1 };
		const run = await published.listening({ options }, { run: () => undefined });
		const texts = Array.from({ length: 13_000 }, (_, n) => `${n}`.padStart(200, '.'));
		published.service.send('s1', ...texts);
		await until(() => run.logged.some((text) => text.includes('reading is paused')));
		await run.close();
		expect(run.failedExecutions).toMatchObject([
			{ message: 'The trigger was stopped while 12999 messages were waiting' },
		]);
		const next = await published.publish({ options: { batchSize: 5000 } });
		await until(() => next.items.length === 12_999);
		expect([...run.messages, ...next.messages]).toEqual(texts);
	});

	test('published again, the first message says how long no channel was open', async () => {
		const first = await published.listening();
		published.service.send('s1', 1);
		await until(() => first.items.length === 1);
		await first.close();
		await until(() => published.service.countOpenChannels() === 0);
		published.service.send('s1', 2);
		const next = await published.listening();
		published.service.send('s1', 3, 4);
		await until(() => next.items.length === 2);
		expect(
			next.items.map(({ json }) => [json.message, json.sequence, typeof json.gapMs]),
		).toEqual([
			[3, 1, 'number'],
			[4, 2, 'undefined'],
		]);
	});

	test('a session to which another published trigger listens is told, in its test, too', async () => {
		await published.listening({ sessionIds: 's1' }, { workflowId: 'other workflow' });
		const second = await published.listening({ sessionIds: 's1,s2' });
		const others = second.logged.filter((text) => text.includes('also listens'));
		expect(others).toEqual([
			expect.stringMatching(/^Session channel s1: 'Trigger' in the workflow .* also listens/),
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
			if (n % 2 === 0) await until(() => published.service.countOpenChannels() === 1);
			await run.close();
			await until(() => published.service.countOpenChannels() === 0);
		}
		expect(countListeningNodes()).toBe(0);
	});
});

describe('what the user gave wrong is refused at once', () => {
	test.each<[string, IDataObject, Partial<TriggerOptions>, string]>([
		['no session', { sessionIds: ' , ' }, {}, "'Session IDs' is required"],
		['a batch of nothing', { options: { batchSize: 0 } }, {}, "'Batch Size'"],
		['an address of another kind', {}, { api: { webSocketUrl: 'ftp://x' } }, 'WebSocket URL'],
		['no API key', {}, { api: { apiKey: '' } }, 'API key'],
		['no signature', {}, { signer: { signature: '' } }, 'signature'],
	])('%s', async (_, parameters, options, message) => {
		await expect(published.publish(parameters, options)).rejects.toThrow(message);
		expect(published.service.upgrades).toEqual([]);
	});
});

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
		const run = await published.listening({
			options: { batchSize: 3, batchWaitMilliseconds: 60 },
		});
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
			await until(() => published.service.countOpenChannels() === 0);
			const second = await published.listening(parameters, { workflowId });
			published.service.send('s1', { id: 2 }, { id: 3 });
			await until(() => second.items.length === 1);
			expect(second.messages).toEqual([{ id: 3 }]);
		},
	);

	test('what n8n does not take is a failed execution; with an id it is tried again', async () => {
		const run = await published.listening(
			{},
			{ run: ({ done }) => done?.reject(new Error('no database')) },
		);
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

	test('a full queue pauses the channel until half of it is worked off, and nothing is lost', async () => {
		const ends: Array<() => void> = [];
		let ending = false;
		const options = { maxConcurrentExecutions: 1 };
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
		for (let n = 1; n <= 20_000; n++)
			published.service.send('s1', { n, filler: 'x'.repeat(1000) });
		await until(() => run.logged.some((text) => text.includes('reading is paused')));
		expect(run.items).toHaveLength(1);
		ending = true;
		ends[0]?.();
		await until(() => run.items.length === 20_000);
		expect(run.messages.map((message) => (message as { n: number }).n)).toEqual(
			Array.from({ length: 20_000 }, (_, index) => index + 1),
		);
	});
});

describe('trigger state', () => {
	const count = (most: number) => Array.from({ length: most + 1 }, (_, n) => `${most} ${n}`);

	test('a node remembers its last 10,000 messages and sessions', () => {
		const memory = new NodeMemory();
		const [oldest = '', next = '', ...others] = count(10_000);
		const frames = [oldest, next].map((id) => memory.getFrameSequence(id));
		for (const id of others) memory.getFrameSequence(id);
		expect(memory.getFrameSequence(next)).toBe(frames[1]);
		expect(memory.getFrameSequence(oldest)).not.toBe(frames[0]);
		for (const id of [oldest, next, ...others]) memory.recentKeys.set(id, true);
		expect([memory.recentKeys.has(oldest), memory.recentKeys.has(next)]).toEqual([false, true]);
	});

	test('200 nodes are remembered', () => {
		const [oldest = '', next = '', ...others] = count(200);
		const memories = [oldest, next].map(getNodeMemory);
		for (const key of others) getNodeMemory(key);
		expect(getNodeMemory(next)).toBe(memories[1]);
		expect(getNodeMemory(oldest)).not.toBe(memories[0]);
	});

	test('what is left waits a minute for the next start', async () => {
		const [memory, clock] = [new NodeMemory(), new FakeClock()];
		const event = {
			sessionId: 's',
			event: 'connected',
			at: '',
			gapMs: null,
			reason: null,
		} as const;
		const leftover = [createEventArrival(event)];
		memory.keepLeftover(leftover, clock);
		await clock.advance(59_999);
		expect([memory.takeLeftover(), memory.takeLeftover(), clock.pending]).toEqual([
			leftover,
			[],
			0,
		]);
		memory.keepLeftover(leftover, clock);
		await clock.advance(60_000);
		expect(memory.takeLeftover()).toEqual([]);
	});
});
