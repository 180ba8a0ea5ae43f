// What a channel may do around a call: greet, repeat, close early, close after the answer, or outlive the call itself.
import type { IDataObject } from 'n8n-workflow';

import type {
	AgentService,
	AgentServiceOptions,
	UpgradeStep,
} from '../../../dev/agent-service/server';
import { failureOf } from '../../createExecuteContext';
import { useSteadyClock } from '../../steadyClock';
import { turns } from '../../turns';
import { until } from '../session/tap';
import { expectFailure, runExecute, type RunOptions, serveEach } from './executeRun';

let service: AgentService;
const serve = serveEach((started) => (service = started), { messages: () => [answer] });
const clock = useSteadyClock();

const answer = { type: 'answer', text: '42' };
const match = { waitUntil: 'match', matchField: 'type', matchValue: 'answer' };
const silence = { waitUntil: 'silence', silenceSeconds: 0.2 };

type Waiting = Omit<RunOptions, 'parameters'> & {
	readonly wait?: IDataObject;
	readonly options?: IDataObject;
};

const run = ({ wait = match, options = {}, ...rest }: Waiting = {}) =>
	runExecute(service, {
		parameters: { sessionId: 's1', waitForMessages: true, ...wait, options },
		...rest,
	});

/** The call was answered, and its message is on its way. */
const untilSent = () => until(() => service.sessions.get('s1')?.sent === 1);

const jsonOf = async (waiting?: Waiting) => (await run(waiting))[0]?.json;

/** What happens to the channel, or comes on it, some time after the call was read. */
const afterCall = (milliseconds: number, happen: () => void): AgentServiceOptions => ({
	execute: () => {
		setTimeout(happen, milliseconds);
		return undefined;
	},
});

describe('before the call', () => {
	test.each([2, 10, 30, 150])(
		'a greeting %d ms after the opening is not the answer',
		async (delay) => {
			await serve({ messages: () => [answer] });
			service.scriptUpgrades({ noPong: false });
			const running = run({ wait: { waitUntil: 'count' } });
			await until(() => service.countOpenChannels('s1') === 1);
			setTimeout(() => service.send('s1', { type: 'answer', text: 'greeting' }), delay);
			expect((await running)[0]?.json).toMatchObject({
				output: '42',
				messages: [{ message: answer }],
			});
		},
	);

	const soon = { closeAfterMilliseconds: 50 };

	test.each<[string, UpgradeStep]>([
		...[1000, 1008, 4401].map((closeCode): [string, UpgradeStep] => [
			`closes with ${closeCode}`,
			{ ...soon, closeCode },
		]),
		[
			'has its close frame, although its connection does not end',
			{ ...soon, closeCode: 1000, endAfterMilliseconds: 1500 },
		],
	])(
		'a channel that %s before it is quiet is not open: no call without a listener',
		async (_, step) => {
			await serve();
			service.scriptUpgrades(step, { status: 401 }, { status: 401 });
			const error = await failureOf(run());
			expect(error.description).toMatch(/^The agent was not started\./);
			expect(service.requests).toHaveLength(0);
		},
	);

	test.each([1000, 1001, 1011, 4000])(
		'one that closes with %d and opens again gets the call then',
		async (closeCode) => {
			await serve();
			service.scriptUpgrades({ ...soon, closeCode });
			const json = await jsonOf();
			expect(json).toMatchObject({ output: '42' });
			expect([json?.gap, json?.closeCode]).toEqual([undefined, undefined]);
			expect(service.upgrades).toHaveLength(2);
			expect(service.requests).toHaveLength(1);
		},
	);

	/** Expects that the second channel was open before the second call. */
	async function expectOpenedAgain(running: ReturnType<typeof run>) {
		expect((await running)[0]?.json).toMatchObject({ output: '42', endedBy: 'match' });
		const [, second] = service.upgrades;
		expect(second?.receivedAt).toBeLessThanOrEqual(service.requests[1]?.receivedAt ?? 0);
	}

	test('between two tries the channel must be open again', async () => {
		await serve();
		service.script({ status: 429 });
		const running = run();
		await until(() => service.requests.length === 1);
		service.closeChannels(1001);
		await expectOpenedAgain(running);
	});

	test('also if n8n was busy when it closed, until the next try was due', async () => {
		await serve();
		service.script({ status: 429, retryAfter: 1 });
		const running = run();
		await until(() => service.requests.length === 1);
		// The answer has come, and the wait for the next try has begun.
		await turns(100);
		setImmediate(() => {
			service.closeChannels(1001);
			clock.jump(3000);
			// Long enough that the clock is looked at before the close frame is read.
			const end = performance.now() + 20;
			while (performance.now() < end);
		});
		await expectOpenedAgain(running);
	});

	test.each([404, 403])(
		'a channel that is refused with %d may need the call first',
		async (status) => {
			await serve();
			service.scriptUpgrades({ status }, { status });
			await expectFailure(run(), status, `status ${status}`, 'After the Call');
			expect(service.requests).toHaveLength(0);
		},
	);

	test('a certificate that n8n does not trust is told at the second attempt, not after 20 s', async () => {
		await serve({ tls: true });
		await expectFailure(run(), 503, '', 'The agent was not started. If it comes from your own');
	});
});

describe('a channel that is closed after the answer', () => {
	test.each<[string, number, number]>([
		['refused with 404', 1000, 404],
		['refused with 410', 1000, 410],
		['refused with 403', 1001, 403],
		['unavailable', 1000, 503],
	])('silence ends with what came, though it is %s', async (_name, code, status) => {
		await serve({ upgrade: () => (service.requests.length > 0 ? { status } : undefined) });
		const running = run({ wait: { ...silence, silenceSeconds: 1 } });
		await untilSent();
		service.closeChannels(code, 'over');
		expect((await running)[0]?.json).toMatchObject({
			...{ output: '42', endedBy: 'silence', gap: true },
			...{ closeCode: code, closeReason: 'over' },
		});
	});

	test('nor does a service that is gone keep it waiting', async () => {
		await serve();
		const running = run({ wait: silence });
		await untilSent();
		service.dropChannels();
		const json = (await running)[0]?.json;
		expect(json).toMatchObject({ output: '42', endedBy: 'silence', gap: true });
		expect(json).not.toHaveProperty('closeCode');
	});

	test.each([1000, 1001, 1008, 1011, 1012, 4000])(
		'the code %d of a close that ends the wait is told',
		async (code) => {
			await serve();
			const running = run({ wait: { waitUntil: 'close' } });
			await untilSent();
			service.closeChannels(code);
			const json = (await running)[0]?.json;
			const messages = [{ message: answer }];
			expect(json).toMatchObject({ endedBy: 'close', closeCode: code, messages });
			expect(json).not.toHaveProperty('gap');
			expect(service.upgrades).toHaveLength(1);
		},
	);
});

describe('a call that fails after the answer came', () => {
	test.each<[string, IDataObject]>([
		['504', { status: 504 }],
		['a reset', { fault: 'resetAfterRead' }],
		['a cut answer', { fault: 'cutBody', body: 'x'.repeat(100) }],
	])('(%s) is a success for the message that was waited for', async (_name, step) => {
		await serve({
			execute: () => {
				service.send('s1', answer);
				return { delayMilliseconds: 50, messages: [], ...step };
			},
		});
		const hints: string[] = [];
		const [item] = await run({ onHint: (hint) => hints.push(hint) });
		const missing = { statusCode: null, response: null };
		expect(item?.json).toMatchObject({ output: '42', ...missing, endedBy: 'match' });
		expect(hints.join()).toMatch(/the call itself failed: [^]*[^.]\.$/);
		expect(service.requests).toHaveLength(1);
	});
});

test('a wait that is not over in time names a drop', async () => {
	const drop = () => {
		service.dropChannels();
	};
	await serve({ messages: () => [], ...afterCall(20, drop) });
	const error = await failureOf(run({ options: { waitTimeoutSeconds: 1.5 } }));
	expect(error.message).toMatch(/Messages received: 0$/);
	expect(error.description).toMatch(/the connection was lost.*Messages may be missing\./);
	expect(error.context.data).toMatchObject({ gap: true });
});

describe('a message that is too large', () => {
	const tooLarge = () => {
		service.send('s1', { text: 'first' }, 'x'.repeat(16 * 1024 * 1024 + 1));
	};

	test('fails the item at once', async () => {
		await serve({ messages: () => [], ...afterCall(20, tooLarge) });
		const message = 'The agent sent a message that is larger than 16 MiB, or too many messages';
		const told = 'A wait collects 10,000 messages of 64 MiB together';
		const error = await expectFailure(
			run({ wait: { waitUntil: 'close' } }),
			502,
			message,
			told,
		);
		expect(error.context.data).toMatchObject({ messages: [{ message: { text: 'first' } }] });
	});

	test('ends the wait with what came before, if On Wait Timeout says so', async () => {
		await serve({ messages: () => [], ...afterCall(20, tooLarge) });
		const options = { onWaitTimeout: 'output' };
		const json = await jsonOf({ wait: { waitUntil: 'close' }, options });
		expect(json).toMatchObject({ endedBy: 'limit', output: 'first', gap: true });
	});
});
