import { inspect } from 'node:util';
import { ExpressionError, type IDataObject } from 'n8n-workflow';

import { getNodeMemory, NodeMemory } from '../../../nodes/Agent/AgentSessionTrigger/triggerState';
import { loadBinaryData } from '../../createExecuteContext';
import { apiKey, Published } from './published';
import { canaries, end, refuse, until, type TriggerOptions } from './triggerRun';
import { turns } from '../../turns';

const published = new Published();
const oneAtATime = { options: { maxConcurrentExecutions: 1 } };
/** An n8n whose executions do not end. */
const endless = { run: () => undefined };
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
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

	test.each(['={{ ["a", 3 + 4] }}', '={{ ["a", 3 + 4].join() }}'])(
		'takes the sessions and options of expressions: %s',
		async (sessionIds) => {
			const run = await published.listening({
				sessionIds,
				options: { batchSize: '={{ 1 + 1 }}', batchWaitMilliseconds: '={{ 60 * 1000 }}' },
			});
			await until(() => published.service.countOpenChannels() === 2);
			published.service.send('7', 'first', 'second');
			await until(() => run.items.length === 2);
			expect(run.emitted).toHaveLength(1);
		},
	);

	test('opens no channel any more when its host is no longer allowed after a drop', async () => {
		let allowedHosts = '127.0.0.1';
		const onRead = (type: string) =>
			type === 'agentSignatureApi' ? { allowedHosts } : undefined;
		const run = await published.listening({}, { onRead });
		allowedHosts = 'agent.example.com';
		await until(() => {
			published.service.dropChannels();
			return run.hasLogged('is not allowed for');
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
		expect(run.hasLogged('bye error | forged Om••• •••')).toBe(true);
		expect(told).not.toMatch(/[\r\n]error|canary|OmNhbmFyeS|Y2FuYXJ5/);
	});

	test('an error of n8n forges no line of the log, and repeats no secret', async () => {
		const text = 'no database\r\nerror | forged Authorization: Bearer abcdefghijklmnop';
		const error = new Error(text);
		const run = await published.listening({}, { run: ({ done }) => done?.reject(error) });
		published.service.send('s1', 1);
		await until(() => run.hasLogged('not accepted by n8n'));
		const told = run.logged.join('');
		expect(told).toContain('no database error | forged');
		expect(told).not.toMatch(/[\r\n]error|abcdefgh/);
	});

	test('comes back after a drop, after a refusal with credentials read anew, and marks the gap', async () => {
		let signature = 'old';
		const onRead = (type: string) => (type === 'agentSignatureApi' ? { signature } : undefined);
		const run = await published.listening({ options: { connectionEvents: true } }, { onRead });
		published.service.send('s1', 1);
		await until(() => run.messages.includes(1));
		signature = 'new';
		published.service.scriptUpgrades({ status: 401 });
		published.service.dropChannels();
		await until(() => published.service.upgrades.length === 3);
		await until(() => published.service.countOpenChannels() === 1);
		expect(published.service.upgrades[2]?.query.signature).toBe('new');
		published.service.send('s1', 2, 3);
		await until(() => run.messages.includes(3));
		const jsons = run.items.map(({ json }) => json);
		const event = { sessionId: 's1', at: iso, gapMs: null, reason: 'the connection was lost' };
		const gapMs = expect.any(Number) as number;
		expect(jsons.filter(({ event }) => event)).toEqual([
			{ ...event, event: 'connected', reason: null },
			{ ...event, event: 'disconnected' },
			{ ...event, event: 'reconnected', gapMs },
		]);
		const messages = jsons.filter(({ message }) => message);
		expect(messages.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
		const gaps = messages.map(({ gapMs }) => typeof gapMs);
		expect(gaps).toEqual(['undefined', 'number', 'undefined']);
	});

	test('a refused key is one failed execution, and never fails the activation (#9499)', async () => {
		const refused = { status: 401, body: `no such key ${apiKey}` };
		published.service.scriptUpgrades(refused, refused, refused);
		const run = await published.publish();
		await until(() => run.failedExecutions.length === 1);
		// Once more at once, and again after the first wait of the long backoff: a deployment of
		// seconds is no alert.
		expect(published.service.upgrades).toHaveLength(3);
		expect(run.errors).toEqual([]);
		const message = expect.stringMatching(/session s1 .*401/) as string;
		expect(run.failedExecutions[0]).toMatchObject({ httpCode: '401', message });
		const shown = inspect([run.failedExecutions, run.logged], { depth: 9 });
		expect(shown).not.toContain('canary');
	});

	test('an n8n without failed executions gets a line in its log', async () => {
		const onRead = () => {
			throw new ExpressionError('access to env vars denied');
		};
		const run = await published.publish({}, { withoutFailedExecutions: true, onRead });
		await until(() => run.hasLogged('The channel of session s1 is not open'));
	});

	test('credentials that cannot be read for a moment are an outage', async () => {
		let failures = 3;
		const onRead = () => {
			if (failures-- > 0) throw new Error('the database is locked');
			return undefined;
		};
		const run = await published.publish({}, { onRead });
		await until(() => published.service.countOpenChannels() === 1);
		expect(run.logged.join('\n')).toContain('the database is locked');
		expect(run.failedExecutions).toEqual([]);
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

	test('while the stop still works, goes on with what it leaves, also when others were started in between', async () => {
		const first = await published.listening(oneAtATime, {
			...endless,
			workflowId: 'meanwhile',
		});
		const numbers = upTo(200);
		published.service.send('s1', ...numbers);
		await until(() => first.items.length === 1);
		await turns(100);
		const closing = first.close();
		const later = [{}, {}, {}].map(() =>
			published.publish(oneAtATime, { workflowId: 'meanwhile' }),
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
	test('stores the bytes of the last messages', async () => {
		const run = await published.listening();
		published.service.send('s1', Buffer.from('a'), Buffer.from('b'), Buffer.from('c'));
		await until(() => run.items.length > 0);
		await run.close();
		// On a busy machine, the time for handing over may end before all files are stored.
		await until(() => run.items.length === 3);
		await loadBinaryData(run.items);
		// Several executions may be started at once, and files are stored in their own time.
		const stored = run.items.map(({ binary }) => binary?.data?.data).sort();
		expect(stored).toEqual(['YQ==', 'Yg==', 'Yw==']);
	});

	test('of a trigger whose reading is paused takes what the socket holds, and the next start goes on with it', async () => {
		const run = await published.listening(oneAtATime, endless);
		const texts = Array.from({ length: 13_000 }, (_, n) => `${n}`.padStart(200, '.'));
		published.service.send('s1', ...texts);
		await until(() => run.hasLogged('reading is paused'));
		await run.close();
		expect(run.failedExecutions).toMatchObject([
			{ message: 'The trigger was stopped while 12999 messages were waiting' },
		]);
		const next = await published.publish({ options: { batchSize: 5000 } });
		await until(() => next.items.length === 12_999);
		expect([...run.messages, ...next.messages]).toEqual(texts);
	});

	test('a node that listens is remembered beside many others: the next start goes on', async () => {
		const run = await published.listening(oneAtATime, endless);
		published.service.send('s1', 1, 2, 3);
		await until(() => run.items.length === 1);
		for (let n = 0; n <= 200; n++) getNodeMemory(`other ${n}`);
		await run.close();
		const next = await published.listening();
		await until(() => next.items.length === 2);
		expect([...run.messages, ...next.messages]).toEqual([1, 2, 3]);
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
		const jsons = next.items.map(({ json }) => json);
		expect(next.messages).toEqual([3, 4]);
		expect(jsons.map(({ sequence }) => sequence)).toEqual([1, 2]);
		expect(jsons.map(({ gapMs }) => typeof gapMs)).toEqual(['number', 'undefined']);
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
});

describe('what the user gave wrong is refused at once', () => {
	test.each<[string, IDataObject, Partial<TriggerOptions>, string]>([
		['no session', { sessionIds: ' , ' }, {}, "'Session IDs' is required"],
		['a batch of nothing', { options: { batchSize: 0 } }, {}, "'Batch Size'"],
		['an address of another kind', {}, { api: { webSocketUrl: 'ftp://x' } }, 'WebSocket URL'],
		['no API key', {}, { api: { apiKey: '' } }, 'API key'],
		['no signature', {}, { signer: { signature: '' } }, 'signature'],
		[
			'another host',
			{},
			{ signer: { allowedHosts: 'a.example' } },
			'not allowed for 127.0.0.1',
		],
	])('%s', async (_, parameters, options, message) => {
		await expect(published.publish(parameters, options)).rejects.toThrow(message);
		expect(published.service.connections).toBe(0);
	});
});

describe('executions', () => {
	test('one at a time keeps the order, and the next waits for the end', async () => {
		const run = await published.listening(oneAtATime, endless);
		published.service.send('s1', 1, 2);
		await until(() => run.emitted.length === 1);
		run.emitted.forEach(end);
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
		const metas = [{ id: 'a' }, { id: 'a' }, { id: 7 }, {}].map((meta) => ({ meta }));
		published.service.send('s1', ...metas, 'text');
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
		const run = await published.listening({}, { run: refuse });
		published.service.send('s1', 'x');
		await until(() => run.failedExecutions.length === 1);
		expect(run.failedExecutions[0]?.description).toContain('no database');
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
		let isEnding = false;
		const run = await published.listening(oneAtATime, {
			run: (emitted) => {
				if (isEnding) end(emitted);
			},
		});
		for (let n = 1; n <= 20_000; n++)
			published.service.send('s1', { n, filler: 'x'.repeat(1000) });
		await until(() => run.hasLogged('reading is paused'));
		expect(run.items).toHaveLength(1);
		isEnding = true;
		run.emitted.forEach(end);
		await until(() => run.items.length === 20_000);
		const numbers = run.messages.map((message) => (message as { n: number }).n);
		expect(numbers).toEqual(upTo(20_000));
	});
});

describe('trigger state', () => {
	const count = (most: number) => Array.from({ length: most + 1 }, (_, n) => `${most} ${n}`);

	test('a node remembers its last 10,000 messages and sessions', () => {
		const memory = new NodeMemory();
		const [oldest = '', next = '', ...others] = count(10_000);
		const frames = [oldest, next].map((id) => memory.getSession(id));
		for (const id of others) memory.getSession(id);
		expect(memory.getSession(next)).toBe(frames[1]);
		expect(memory.getSession(oldest)).not.toBe(frames[0]);
		for (const id of [oldest, next, ...others]) memory.recentKeys.set(id, true);
		expect([memory.recentKeys.has(oldest), memory.recentKeys.has(next)]).toEqual([false, true]);
	});

	test('10,000 nodes are remembered', () => {
		const [oldest = '', next = '', ...others] = count(10_000);
		const memories = [oldest, next].map(getNodeMemory);
		for (const key of others) getNodeMemory(key);
		expect(getNodeMemory(next)).toBe(memories[1]);
		expect(getNodeMemory(oldest)).not.toBe(memories[0]);
	});
});
