import { standardOptions } from '../session/fakeSession';
import { NodeError } from '../../../nodes/core/errors';
import { callAndWait } from '../../../nodes/Agent/AgentExecute/wait';
import type { WaitSettings } from '../../../nodes/Agent/AgentExecute/parameters';
import { FakeChannels } from '../AgentSessionTrigger/fakeChannels';
import { FakeClock } from '../session/fakeClock';

function begin(more: Partial<WaitSettings> = {}) {
	const clock = new FakeClock();
	const stop = new AbortController();
	const channels = new FakeChannels();
	const call = jest.fn(() => Promise.resolve('answer'));
	const nothing = () => {};
	const parts = {
		sessionId: 's1',
		settings: {
			end: { by: 'count', count: 1 },
			openChannel: 'before',
			waitTimeoutSeconds: 300,
			onWaitTimeout: 'error',
			maxMessages: 1000,
			failure: undefined,
			textField: 'text',
			filter: undefined,
			settleMilliseconds: 250,
			deduplicationField: '',
			...standardOptions,
			...more,
		},
		readIdentity: () => Promise.reject(new Error('not read')),
		signal: stop.signal,
		log: { debug: nothing, info: nothing, warn: nothing },
		clock,
		connect: channels.connect,
		redact: (text: string) => text,
		conversation: 's1',
		onMessage: nothing,
	} as const;
	const outcome = callAndWait(parts, async (hooks) => {
		await hooks.ready();
		hooks.sending();
		return await call();
	}).then(
		({ waited }) => waited,
		(error: unknown) => error as NodeError,
	);
	return { clock, channels, call, outcome, stop };
}

const connected = { sessionId: 's1', event: 'connected', at: '', gapMs: null, reason: null } as const;

test('a channel that is not open within 20 s fails the item, and nothing is sent', async () => {
	const { clock, channels, call, outcome } = begin();
	channels.status = { state: 'connecting', lastFailure: undefined };
	await clock.advance(20_000);
	expect(await outcome).toMatchObject({ code: 504, message: 'The session channel did not open within 20 s' });
	expect(call).not.toHaveBeenCalled();
	expect([channels.log, clock.pending]).toEqual([['close s1'], 0]);
});

test('and tells why the last attempt failed', async () => {
	const { clock, channels, outcome } = begin();
	const lastFailure = new NodeError({ code: 503, message: 'Nobody is there', description: 'Look.' });
	channels.status = { state: 'backoff', lastFailure };
	await clock.advance(20_000);
	expect(await outcome).toMatchObject({
		code: 503,
		message: 'Nobody is there',
		description: 'The agent was not started. Look.',
	});
});

test('the limit of the opening is lifted when the channel is open', async () => {
	const { clock, channels, call, outcome } = begin();
	await clock.advance(19_999);
	channels.listeners[0]?.event?.(connected);
	await clock.advance(60_000);
	expect(call).toHaveBeenCalledTimes(1);
	channels.send('1');
	expect(await outcome).toMatchObject({ endedBy: 'count', gap: false });
	expect(clock.pending).toBe(0);
});

test('a timeout without any channel tells why', async () => {
	const { clock, channels, outcome } = begin({ openChannel: 'after' });
	const lastFailure = new NodeError({ code: 503, message: 'Nobody is there' });
	channels.status = { state: 'backoff', lastFailure };
	await clock.advance(300_000);
	expect(await outcome).toMatchObject({
		code: 504,
		message: 'The wait for messages did not end within 300 s. 0 messages received',
		description: expect.stringContaining('Nobody is there.') as string,
	});
});

test('a name that is not found now and then does not end a long wait, but one that stays away does', async () => {
	const { clock, channels, outcome } = begin({ waitTimeoutSeconds: 3600 });
	const listener = channels.listeners[0];
	const notFound = () => {
		listener?.ended?.({
			closeReason: { kind: 'network', code: 'ENOTFOUND', message: 'not found' },
			opened: false,
			decision: 'retry',
			failure: new NodeError({ code: 503, message: 'Not found' }),
			retryInMilliseconds: 1000,
			slowLane: false,
		});
	};
	listener?.event?.(connected);
	await clock.advance(2000);
	for (let hour = 0; hour < 3; hour++) {
		notFound();
		listener?.event?.({ ...connected, event: 'reconnected' });
		await clock.advance(1000);
	}
	notFound();
	let isOver = false;
	void outcome.then(() => (isOver = true));
	await clock.advance(1000);
	expect(isOver).toBe(false);
	notFound();
	expect(await outcome).toMatchObject({ message: 'Not found' });
});

describe('a stop of the execution', () => {
	test('while the channel is opening: nothing was sent', async () => {
		const { clock, channels, call, outcome, stop } = begin();
		await clock.advance(1000);
		stop.abort();
		expect(await outcome).toMatchObject({
			description: 'Nothing was sent: the agent was not started.',
			ambiguous: false,
		});
		expect(call).not.toHaveBeenCalled();
		expect([channels.log, clock.pending]).toEqual([['close s1'], 0]);
	});

	test.each(['before', 'after'] as const)(
		'while the messages are awaited (channel %s the call): the agent was started',
		async (openChannel) => {
			const { clock, channels, outcome, stop } = begin({ openChannel });
			await clock.advance(1000);
			channels.listeners[0]?.event?.(connected);
			channels.listeners[0]?.answered?.();
			await clock.advance(250);
			stop.abort();
			expect(await outcome).toMatchObject({
				description: 'The agent was started, but the node no longer waits for its messages.',
				carriedOut: true,
			});
			expect([channels.log, clock.pending]).toEqual([['close s1'], 0]);
		},
	);
});
