import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { IDataObject } from 'n8n-workflow';

import { type AgentService, startAgentService } from '../../../dev/agent-service/server';
import { createTestListener } from '../../../nodes/Agent/AgentSessionTrigger/testListener';
import { readTriggerSettings } from '../../../nodes/Agent/AgentSessionTrigger/fields';
import {
	closeListener,
	replaceListener,
} from '../../../nodes/Agent/AgentSessionTrigger/triggerState';
import { NodeError } from '../../../nodes/core/errors';
import { loadBinaryData, withBinaryData } from '../../createExecuteContext';
import { FakeClock } from '../session/fakeClock';
import { FakeChannels } from './fakeChannels';
import { TriggerRun, until } from './triggerRun';

describe('against a service, through the code with which n8n tests a trigger', () => {
	let service: AgentService;
	let run: TriggerRun;
	beforeAll(withBinaryData);
	beforeEach(async () => {
		service = await startAgentService();
	});
	afterEach(async () => {
		await run.close();
		await service.close();
	});

	const begin = async (parameters: IDataObject = {}) => {
		run = await new TriggerRun({ service, parameters }, 'manual').start();
	};

	test('nothing is opened before n8n can take an item (#8871)', async () => {
		await begin();
		await new Promise((resolve) => setTimeout(resolve, 30));
		expect(service.connections).toBe(0);
	});

	test('one channel; the first message ends the test and the channel (#6810)', async () => {
		await begin({ options: { connectionEvents: true } });
		const ended = run.test();
		await until(() => service.countOpenChannels() === 1);
		service.send('s1', { a: 1 }, { a: 2 });
		expect((await ended).map(({ json }) => json.message)).toEqual([{ a: 1 }]);
		await until(() => service.countOpenChannels() === 0);
		expect(service.connections).toBe(1);
	});

	test('bytes come as a file', async () => {
		await begin();
		const ended = run.test();
		await until(() => service.countOpenChannels() === 1);
		service.send('s1', Buffer.from([0xff]));
		const items = await loadBinaryData(await ended);
		expect(items.map(({ json, binary }) => [json.format, binary?.data?.data])).toEqual([
			['binary', '/w=='],
		]);
	});

	test('a refusal ends it with a sentence', async () => {
		service.scriptUpgrades({ closeCode: 1008, closeReason: 'go away' });
		await begin();
		await expect(run.test()).rejects.toThrow('closed by the server with code 1008 (go away)');
	});

	test('"Stop listening" leaves no channel', async () => {
		await begin();
		void run.test();
		await until(() => service.countOpenChannels() === 1);
		await run.close();
		await until(() => service.countOpenChannels() === 0);
	});

	test('a test does not take the place of the published trigger (#15791)', async () => {
		const published = await new TriggerRun({ service }).start();
		await until(() => service.countOpenChannels() === 1);
		await begin();
		void run.test();
		await until(() => service.countOpenChannels() === 2);
		await run.close();
		await until(() => service.countOpenChannels() === 1);
		await published.close();
	});
});

describe('the time limit', () => {
	const service = {
		url: 'http://agent.example',
		webSocketUrl: 'ws://agent.example',
		apiKey: 'key',
	};

	function begin(
		channels: FakeChannels,
		sessionIds = 's1',
		options: IDataObject = {},
		more: IDataObject = {},
	) {
		const parameters = { sessionIds, options, ...more };
		const run = new TriggerRun({ service, parameters }, 'manual');
		const told: Array<Error & { description?: string | null }> = [];
		Object.defineProperty(run.context, 'emitError', {
			value: (error: Error) => void told.push(error),
		});
		const clock = new FakeClock();
		const parts = {
			context: run.context,
			settings: readTriggerSettings(run.context),
			clock,
			connect: channels.connect,
		};
		const test = createTestListener({
			...parts,
			readConnectRequest: () => Promise.reject(new Error('not read')),
		});
		return { test, told, clock };
	}

	test.each([
		[
			{ isOpen: true, lastFailure: undefined },
			'No message arrived within 60 s. Channels open: 1 of 1',
		],
		[
			{ isOpen: false, lastFailure: undefined },
			'No message arrived within 60 s. Channels open: 0 of 1',
		],
		[
			{ isOpen: false, lastFailure: new NodeError({ code: 503, message: 'Nobody answers' }) },
			'No message arrived within 60 s. Channels open: 0 of 1',
		],
	] as const)('says what was tried: %j', async (status, message) => {
		const channels = new FakeChannels();
		channels.status = status;
		const { test, told, clock } = begin(channels);
		await test.manualTriggerFunction?.();
		await clock.advance(59_999);
		expect(told).toEqual([]);
		await clock.advance(1);
		expect(told.map((error) => error.message)).toEqual([message]);
		expect(channels.log).toEqual(['close s1']);
		expect(clock.pending).toBe(0);
	});

	test('sessions that are refused together end the test with one error', async () => {
		const channels = new FakeChannels();
		const { test, told, clock } = begin(channels, 'a,b');
		await test.manualTriggerFunction?.();
		const failure = new NodeError({ code: 401, message: 'refused' });
		for (const listener of channels.listeners) {
			listener.onChannelEnd?.({
				...{
					decision: 'longBackoff',
					delayMilliseconds: 1000,
					isFirstOfOutage: true,
					alert: undefined,
				},
				...{ closeReason: { kind: 'dropped' }, wasOpen: false, failure },
			});
		}
		await clock.advance(60_000);
		expect(told.map(({ message }) => message)).toEqual(['refused']);
	});

	test('counts the open channels of several sessions', async () => {
		const { test, told, clock } = begin(new FakeChannels(), 'a,b');
		await test.manualTriggerFunction?.();
		await clock.advance(60_000);
		expect(told[0]?.message).toContain('Channels open: 2 of 2');
	});

	test('is told with the number of the channels that were open', async () => {
		const lastFailure = new NodeError({ code: 503, message: 'Nobody answers' });
		const states = [
			{ isOpen: false, lastFailure } as const,
			{ isOpen: true, lastFailure: undefined } as const,
		];
		const channels = Object.defineProperty(new FakeChannels(), 'status', {
			get: () => states.pop(),
		});
		const { test, told, clock } = begin(channels, 'a,b');
		await test.manualTriggerFunction?.();
		await clock.advance(60_000);
		expect(told).toMatchObject([
			{ httpCode: '504', message: expect.stringMatching(/Channels open: 1 of 2$/) as string },
		]);
	});

	test('names what was filtered out, so that a mistyped value is seen', async () => {
		const channels = new FakeChannels();
		const filter = { filterField: 'type', filterValue: 'done' };
		const { test, told, clock } = begin(channels, 's1', {}, filter);
		await test.manualTriggerFunction?.();
		for (const type of ['step', 'step', 'Done']) channels.send(JSON.stringify({ type }));
		channels.send('hello');
		await clock.advance(60_000);
		expect(told[0]?.description).toMatch(
			/^Messages that 'Accepted Message Values' left out: 4\. Their values of 'type': step, Done\./,
		);
	});

	test('keeps little of what was filtered out, however long it is', async () => {
		setFlagsFromString('--expose-gc');
		const collectGarbage = runInNewContext('gc') as () => void;
		const channels = new FakeChannels();
		const { test, told, clock } = begin(channels, 's1', {}, { filterValue: 'done' });
		await test.manualTriggerFunction?.();
		const measure = () => {
			collectGarbage();
			const { heapUsed, external } = process.memoryUsage();
			return heapUsed + external;
		};
		const before = measure();
		const mebibyte = 1024 * 1024;
		for (let n = 0; n < 30; n++) channels.send(`${n}: ${'x'.repeat(2 * mebibyte)}`);
		expect(measure() - before).toBeLessThan(30 * mebibyte);
		await clock.advance(60_000);
		const shown = Array.from({ length: 10 }, (_, n) => `${n}: ${'x'.repeat(37)}…`).join(', ');
		expect(told[0]?.description).toContain(`left out: 30. Their texts: ${shown}, ….`);
	});

	test('names the published triggers that listen to the same session, and no other', async () => {
		const listeners = ['s1', 's2'].map((sessionId) => ({
			nodeKey: sessionId,
			label: `'Trigger' in the workflow 'Orders of ${sessionId}'`,
			sessionIds: [sessionId],
			close: () => Promise.resolve(),
		}));
		for (const listener of listeners) await replaceListener(listener);
		const { test, told, clock } = begin(new FakeChannels());
		await test.manualTriggerFunction?.();
		await clock.advance(60_000);
		for (const listener of listeners) await closeListener(listener);
		expect(told[0]?.description).toMatch(
			/^The published trigger 'Trigger' in the workflow 'Orders of s1' also listens,/,
		);
	});

	test('nothing is opened after the end', async () => {
		const channels = new FakeChannels();
		const { test, clock } = begin(channels);
		const starting = test.manualTriggerFunction?.();
		await test.closeFunction?.();
		await starting;
		expect([channels.options, clock.pending]).toEqual([[], 0]);
	});

	test('is lifted by the end of the test', async () => {
		const { test, clock } = begin(new FakeChannels());
		await test.manualTriggerFunction?.();
		expect(clock.pending).toBe(1);
		await test.closeFunction?.();
		expect(clock.pending).toBe(0);
	});
});
