import { inspect } from 'node:util';

import { apiKey, Published } from './published';
import { canaries, until } from './triggerRun';

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const published = new Published();

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
			{ ...common, sequence: 1, format: 'json', message: { a: 1 } },
			{ ...common, sequence: 2, format: 'text', message: 'text' },
			{ ...common, sequence: 3, format: 'binary', message: null },
		]);
		expect(run.items[2]?.binary?.data).toMatchObject({
			mimeType: 'application/octet-stream',
			data: Buffer.from([0xff, 0]).toString('base64'),
		});
		expect(run.emitted.map(({ items, key }) => [items.length, key])).toEqual(Array(3).fill([1, undefined]));
	});

	test('listens to several sessions, each with a sequence of its own', async () => {
		const run = await published.publish({ sessionIds: ' s1, s2\ns1,,s3 ' });
		await until(() => published.service.openSockets() === 3);
		for (const id of ['s1', 's2', 's3', 's1']) published.service.send(id, id);
		await until(() => run.items.length === 4);
		const seen = run.items.map(({ json }) => `${json.sessionId as string} ${json.sequence as number}`);
		expect(seen.sort()).toEqual(['s1 1', 's1 2', 's2 1', 's3 1']);
	});

	test('takes the sessions as an array from an expression', async () => {
		await published.publish({ sessionIds: ['a', 7] as never });
		await until(() => published.service.openSockets('a') === 1 && published.service.openSockets('7') === 1);
	});

	test('survives a server that is down, and marks no gap before the first channel (#36388, #3607)', async () => {
		const { port } = published.service;
		await published.service.close();
		const run = await published.publish({ options: { reconnectMaxDelaySeconds: 1 } });
		await until(() => run.logged.some((text) => text.includes('refused')));
		await published.serve({ port });
		await until(() => published.service.openSockets() === 1);
		published.service.send('s1', 'hello');
		await until(() => run.items.length === 1);
		expect(run.items[0]?.json).not.toHaveProperty('gapMs');
	});

	test('opens no channel to a host that the signature credential does not allow', async () => {
		const signer = { allowedHosts: 'agent.example.com' };
		await expect(published.publish({}, { signer })).rejects.toThrow('is not allowed for 127.0.0.1');
		expect(published.service.connections).toBe(0);
	});

	test('opens none either when the host is no longer allowed after a drop', async () => {
		let allowedHosts = '127.0.0.1';
		const parameters = { options: { reconnectMaxDelaySeconds: 1 } };
		const onRead = (type: string) => (type === 'agentSignatureApi' ? { allowedHosts } : undefined);
		const run = await published.listening(parameters, { onRead });
		allowedHosts = 'agent.example.com';
		await until(() => {
			published.service.dropChannels();
			return run.logged.some((text) => text.includes('is not allowed for'));
		});
		expect(published.service.openSockets()).toBe(0);
	});

	test('a close reason forges no line of the log, and repeats no secret', async () => {
		const parameters = { options: { connectionEvents: true, reconnectMaxDelaySeconds: 1 } };
		const run = await published.listening(parameters);
		const reason = `bye\r\nerror | forged ${Buffer.from(`:${apiKey}`).toString('base64')} ${apiKey}`;
		published.service.closeChannels(4000, reason);
		await until(() => run.items.some(({ json }) => json.event === 'disconnected'));
		const told = `${run.logged.join('')} ${inspect(run.items, { depth: null })}`;
		expect(run.logged.some((text) => text.includes('bye error | forged ••• •••'))).toBe(true);
		expect(told).not.toMatch(/[\r\n]error|canary|OmNhbmFyeS|Y2FuYXJ5/);
	});

	test('comes back after a drop, after a refusal with credentials read anew, and marks the gap', async () => {
		let signature = 'old';
		const run = await published.listening(
			{ options: { connectionEvents: true, reconnectMaxDelaySeconds: 1 } },
			{
				onRead: (type) => (type === 'agentSignatureApi' ? { signature } : undefined),
			},
		);
		published.service.send('s1', 1);
		await until(() => run.messages.includes(1));
		signature = 'new';
		published.service.scriptUpgrades({ status: 401 });
		published.service.dropChannels();
		await until(() => published.service.upgrades.length === 3 && published.service.openSockets() === 1);
		expect(published.service.upgrades[2]?.query.signature).toBe('new');
		published.service.send('s1', 2, 3);
		await until(() => run.messages.includes(3));
		const jsons = run.items.map(({ json }) => json);
		expect(jsons.filter(({ event }) => event)).toEqual([
			{ sessionId: 's1', event: 'connected', at: iso, gapMs: null, reason: null },
			{ sessionId: 's1', event: 'disconnected', at: iso, gapMs: null, reason: 'the connection was lost' },
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
		// Once more at once, and again after the first wait of the slow lane: a deployment of seconds is no alert.
		expect(published.service.upgrades).toHaveLength(3);
		expect(run.errors).toEqual([]);
		expect(run.failedExecutions[0]).toMatchObject({
			httpCode: '401',
			message: expect.stringMatching(/session s1 .*401/) as string,
		});
		const shown = inspect([run.failedExecutions, run.logged], { depth: 9 });
		for (const secret of [apiKey, ...Object.values(canaries)]) expect(shown).not.toContain(secret);
	});

	test('an n8n without failed executions gets a line in its log', async () => {
		const onRead = () => {
			throw new Error('access to env vars denied');
		};
		const run = await published.publish({}, { withoutFailedExecutions: true, onRead });
		await until(() => run.logged.some((text) => text.startsWith('The channel of session s1 is not open')));
	});

	test('credentials that cannot be read for a moment are an outage', async () => {
		let failures = 3;
		const run = await published.publish(
			{ options: { reconnectMaxDelaySeconds: 1 } },
			{
				onRead: () => {
					if (failures-- > 0) throw new Error('the database is locked');
					return undefined;
				},
			},
		);
		await until(() => published.service.openSockets() === 1);
		expect(run.logged.join('\n')).toContain('the database is locked');
	});
});
