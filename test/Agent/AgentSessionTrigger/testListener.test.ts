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
	/** @returns what ends with the test, once a channel is open */
	const listen = async (parameters: IDataObject = {}) => {
		await begin(parameters);
		const ended = run.test();
		await until(() => service.countOpenChannels() === 1);
		return { ended };
	};

	test('nothing is opened before n8n can take an item (#8871)', async () => {
		await begin();
		await new Promise((resolve) => setTimeout(resolve, 30));
		expect(service.connections).toBe(0);
	});

	test('one channel; the first message ends the test and the channel (#6810)', async () => {
		const { ended } = await listen({ options: { connectionEvents: true } });
		service.send('s1', { a: 1 }, { a: 2 });
		expect((await ended).map(({ json }) => json.message)).toEqual([{ a: 1 }]);
		await until(() => service.countOpenChannels() === 0);
		expect(service.connections).toBe(1);
	});

	test('bytes come as a file', async () => {
		const { ended } = await listen();
		service.send('s1', Buffer.from([0xff]));
		const items = await loadBinaryData(await ended);
		expect(items).toMatchObject([
			{ json: { format: 'binary' }, binary: { data: { data: '/w==' } } },
		]);
	});

	test('a refusal ends it with a sentence', async () => {
		service.scriptUpgrades({ closeCode: 1008, closeReason: 'go away' });
		await begin();
		await expect(run.test()).rejects.toThrow('closed by the server with code 1008 (go away)');
	});

	test('"Stop listening" leaves no channel', async () => {
		await listen();
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
	const url = 'http://agent.example';
	const service = { url, webSocketUrl: 'ws://agent.example', apiKey: 'key' };

	function begin(parameters: IDataObject = {}, channels = new FakeChannels()) {
		const run = new TriggerRun({ service, parameters }, 'manual');
		const told: Array<Error & { description?: string | null }> = [];
		const emitError = (error: Error) => void told.push(error);
		Object.defineProperty(run.context, 'emitError', { value: emitError });
		const clock = new FakeClock();
		const test = createTestListener({
			context: run.context,
			settings: readTriggerSettings(run.context),
			readConnectRequest: () => Promise.reject(new Error('not read')),
			clock,
			connect: channels.connect,
		});
		const starting = test.manualTriggerFunction?.();
		return { test, told, clock, channels, starting };
	}

	test('tells how many channels were open, and why one was not', async () => {
		const description = 'Look.';
		const lastFailure = new NodeError({ code: 503, message: 'Nobody answers', description });
		const states = [
			{ isOpen: false, lastFailure } as const,
			{ isOpen: true, lastFailure: undefined } as const,
		];
		const channels = Object.defineProperty(new FakeChannels(), 'status', {
			get: () => states.pop(),
		});
		const { told, clock } = begin({ sessionIds: 'a,b' }, channels);
		await clock.advance(59_999);
		expect(told).toEqual([]);
		await clock.advance(1);
		const message = 'No message arrived within 60 s. Channels open: 1 of 2';
		expect(told).toMatchObject([{ httpCode: '504', message }]);
		expect(told[0]?.description).toMatch(/^Nobody answers\. Look\. Start an agent/);
		expect(channels.log).toEqual(['close a', 'close b']);
		expect(clock.pending).toBe(0);
	});

	test('sessions that are refused together end the test with one error', async () => {
		const { channels, told, clock } = begin({ sessionIds: 'a,b' });
		await clock.advance(0);
		const failure = new NodeError({ code: 401, message: 'refused' });
		for (const index of [0, 1])
			channels.end({ decision: 'longBackoff', wasOpen: false, failure }, index);
		await clock.advance(60_000);
		expect(told.map(({ message }) => message)).toEqual(['refused']);
	});

	test('counts what was filtered out, so that a mistyped value is noticed', async () => {
		const filter = { filterField: 'type', filterValue: 'done' };
		const { channels, told, clock } = begin(filter);
		await clock.advance(0);
		for (const type of ['step', 'step', 'Done']) channels.send(JSON.stringify({ type }));
		channels.send('hello');
		await clock.advance(60_000);
		expect(told[0]?.description).toMatch(
			/^Messages that 'Accepted Message Values' left out: 4\. Start an agent/,
		);
	});

	test('names the published triggers that listen to the same session, and no other', async () => {
		const listeners = ['s1', 's2'].map((sessionId) => ({
			nodeKey: sessionId,
			label: `'Trigger' in the workflow 'Orders of ${sessionId}'`,
			sessionIds: [sessionId],
			close: () => Promise.resolve(),
		}));
		for (const listener of listeners) await replaceListener(listener);
		const { told, clock } = begin();
		await clock.advance(60_000);
		for (const listener of listeners) await closeListener(listener);
		expect(told[0]?.description).toMatch(
			/^The published trigger 'Trigger' in the workflow 'Orders of s1' also listens,/,
		);
	});

	test('nothing is opened after the end', async () => {
		const { test, channels, clock, starting } = begin();
		await test.closeFunction?.();
		await starting;
		expect([channels.options, clock.pending]).toEqual([[], 0]);
	});

	test('is lifted by the end of the test', async () => {
		const { test, clock, starting } = begin();
		await starting;
		expect(clock.pending).toBe(1);
		await test.closeFunction?.();
		expect(clock.pending).toBe(0);
	});
});
